package leslie

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// header is the part before the line "---". Its values are whatever the caller gave the writer.
type header struct {
	thread, chat, span, mode, stop string
	calls                          transcript.Count // as declared
}

// headerKeys are the known keys of a header, with the thread's first.
var headerKeys = [...]string{"Thread ID", "Chat ID", "Time Range", "Agent Mode", "Stop Reason", "Tool Calls"}

// id returns the run's native id.
func (h header) id() string { return h.thread + "/" + h.chat + "/" + h.span }

// readHeader reads "Key: value" lines up to "---". It returns their length in bytes and lines, and false if there is no
// such line or no thread before it. Of a duplicate key the first one counts: the writer's own keys come before anything
// that a value could have smuggled in.
func readHeader(text string) (h header, size, lines int, ok bool) {
	rest := jsontext.TrimBOM(text)
	var values [len(headerKeys)]string
	var found [len(headerKeys)]bool
	for len(rest) > 0 {
		var line string
		line, rest = nextLine(rest)
		lines++
		if line == "---" {
			ok = found[0]
			break
		}
		key, value, colon := strings.Cut(strings.ToValidUTF8(line, "\uFFFD"), ":")
		if i := slices.Index(headerKeys[:], key); i >= 0 && colon && !found[i] {
			// Cloned, since a substring would keep the whole text of the file in memory.
			values[i], found[i] = strings.Clone(strings.TrimSpace(value)), true
		}
	}
	h = header{thread: values[0], chat: values[1], span: values[2], mode: values[3], stop: values[4]}
	if n, err := strconv.ParseInt(values[5], 10, 64); err == nil {
		h.calls = transcript.Known(n)
	}
	return h, len(text) - len(rest), lines, ok
}

func parseTranscript(in format.Input, text string, s *format.Sink) {
	h, size, lines, ok := readHeader(text)
	if !ok {
		if strings.TrimSpace(jsontext.TrimBOM(text)) != "" {
			s.Emit(&transcript.Problem{
				Kind: "no header", Reason: `no "Thread ID" before a line "---"`,
				Origin: transcript.Origin{Length: int64(len(text))},
			})
		}
		return
	}
	entries := splitEntries(text[size:], int64(size), lines+1)
	attrs := attributes(h, entries, text)
	rank := 0
	if at, found := locate(in.Path, in.Below()); found && at.isHome(h.thread) {
		rank = 1
	}
	id := h.id()
	start, end, _ := strings.Cut(h.span, " ~ ")
	run := &transcript.Run{
		ID: id, Rank: rank, Group: h.thread, Title: title(entries), Status: h.stop, Outcome: outcome(h.stop),
		Started: timestamp.Parse(start), Ended: timestamp.Parse(end), Attributes: attrs,
	}
	conversation := &transcript.Conversation{
		Run: id, Rank: rank, Title: run.Title, Mode: h.mode, Status: h.stop,
		Started: run.Started, Ended: run.Ended, Attributes: maps.Clone(attrs),
	}
	if !s.Emit(run) || !s.Emit(conversation) {
		return
	}
	cut := attrs["cut_at_20k"] != nil
	p := pairs{tools: map[string]*tool{}}
	for i, e := range entries {
		if !s.Emit(p.event(id, e, cut && i == len(entries)-1)) {
			return
		}
	}
}

// attributes returns the members of a header that have no column of their own, and what the body shows against them.
func attributes(h header, entries []entry, text string) transcript.Attributes {
	a := transcript.Attributes{}
	a.Set("chat_id", h.chat)
	a.Set("agent_mode", h.mode)
	a.Set("stop_reason", h.stop)
	var calls int64
	for _, e := range entries {
		if e.marker == markCall {
			calls++
		}
	}
	if h.calls.Known {
		a["tool_calls_declared"] = h.calls.N
		if h.calls.N != calls {
			a["tool_calls_mismatch"] = true
		}
	}
	if strings.HasSuffix(text, "...") && units(text) == fileLimit {
		a["cut_at_20k"] = true
	}
	return a
}

// outcome maps a stop reason to an Outcome. Stop reasons are free text; these are the known ones.
func outcome(stop string) transcript.Outcome {
	switch stop {
	case "":
		return ""
	case "end_turn", "stop", "stop_sequence", "completed", "done", "success":
		return transcript.Succeeded
	case "error", "failed":
		return transcript.Failed
	case "cancelled", "canceled", "aborted", "interrupted":
		return transcript.Cancelled
	}
	return transcript.Other
}

// title returns the first line of the first user text.
func title(entries []entry) string {
	for _, e := range entries {
		if e.marker != markUser {
			continue
		}
		return strings.Clone(format.Title(e.content()))
	}
	return ""
}
