package leslie

import (
	"bytes"
	"maps"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// header is what stands before the line "---". Its values are whatever the caller gave the writer.
type header struct {
	thread, chat, span, mode, stop string
	calls                          transcript.Count // as declared
}

// id is the run's native id.
func (h header) id() string { return h.thread + "/" + h.chat + "/" + h.span }

// readHeader reads "Key: value" lines up to "---". It gives how many bytes and lines they take, and false when
// there is no such line or no thread before it. Of a key that comes twice the first counts: the writer's own
// keys come before anything that a value could have smuggled in.
func readHeader(b []byte) (h header, size, lines int, ok bool) {
	rest := bytes.TrimPrefix(b, byteOrderMark)
	values := map[string]string{}
	for len(rest) > 0 {
		var line []byte
		line, rest = nextLine(rest)
		lines++
		if string(line) == "---" {
			_, ok = values["Thread ID"]
			break
		}
		key, value, found := strings.Cut(strings.ToValidUTF8(string(line), "\uFFFD"), ":")
		if _, twice := values[key]; found && !twice {
			values[key] = strings.TrimSpace(value)
		}
	}
	h = header{
		thread: values["Thread ID"], chat: values["Chat ID"], span: values["Time Range"],
		mode: values["Agent Mode"], stop: values["Stop Reason"],
	}
	if n, err := strconv.ParseInt(values["Tool Calls"], 10, 64); err == nil {
		h.calls = transcript.Known(n)
	}
	return h, len(b) - len(rest), lines, ok
}

func parseTranscript(in format.Input, b []byte, s *sink) {
	h, size, lines, ok := readHeader(b)
	if !ok {
		if len(bytes.TrimSpace(bytes.TrimPrefix(b, byteOrderMark))) > 0 {
			s.put(&transcript.Problem{
				Kind: "no header", Reason: `no "Thread ID" before a line "---"`,
				Origin: transcript.Origin{Length: int64(len(b))},
			})
		}
		return
	}
	entries := splitEntries(b[size:], int64(size), lines+1)
	facts := attributes(h, entries, b)
	rank := 0
	if at, found := locate(in.Path); found && at.home(h.thread) {
		rank = 1
	}
	start, end, _ := strings.Cut(h.span, " ~ ")
	run := &transcript.Run{
		ID: h.id(), Rank: rank, Group: h.thread, Title: title(entries), Status: h.stop, Outcome: outcome(h.stop),
		Started: format.Time(start), Ended: format.Time(end), Attributes: facts,
	}
	conversation := &transcript.Conversation{
		Run: h.id(), Rank: rank, Title: run.Title, Mode: h.mode, Status: h.stop,
		Started: run.Started, Ended: run.Ended, Attributes: maps.Clone(facts),
	}
	if !s.put(run) || !s.put(conversation) {
		return
	}
	cut := facts["cut_at_20k"] != nil
	p := pairs{open: map[string][]string{}}
	for i, e := range entries {
		if !s.put(p.event(h.id(), e, cut && i == len(entries)-1)) {
			return
		}
	}
}

// attributes are the facts of a header that have no column of their own, and what the file shows against it.
func attributes(h header, entries []entry, b []byte) transcript.Attributes {
	a := transcript.Attributes{}
	for key, value := range map[string]string{"chat_id": h.chat, "agent_mode": h.mode, "stop_reason": h.stop} {
		if value != "" {
			a[key] = value
		}
	}
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
	if bytes.HasSuffix(b, []byte("...")) && units(string(b)) == fileLimit {
		a["cut_at_20k"] = true
	}
	return a
}

// outcome reads a stop reason. They are free words; these are the ones that are known.
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

// title is the first line of the first user text.
func title(entries []entry) string {
	for _, e := range entries {
		if e.marker != markUser {
			continue
		}
		return format.Title(e.content())
	}
	return ""
}
