package pi

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isOutput reports whether a file has what "pi --mode json" printed: the header of a session, and then events and no entries.
func isOutput(head []byte) bool {
	header := false
	for line := range format.ObjectLines(head) {
		if !format.MayHave(line, `"session"`, `"agent_start"`, `"turn_start"`, `"message_start"`, `"message_end"`) {
			continue
		}
		v := jsontext.ParseStart(line)
		switch v.Get("type").Str() {
		case "session":
			header = header || isEntry(v)
		case "agent_start", "turn_start", "message_start", "message_end":
			return header
		}
	}
	return false
}

// printedKinds are the events of an output besides message_end, which alone has a message as it was stored.
var printedKinds = map[string]transcript.Kind{
	"agent_start": transcript.KindLifecycle, "agent_end": transcript.KindLifecycle, "agent_settled": transcript.KindLifecycle,
	"turn_start": transcript.KindLifecycle, "turn_end": transcript.KindLifecycle,
	"message_start": transcript.KindLifecycle, "message_update": transcript.KindLifecycle,
	"tool_execution_start": transcript.KindLifecycle, "tool_execution_update": transcript.KindLifecycle, "tool_execution_end": transcript.KindLifecycle,
	"queue_update": transcript.KindLifecycle, "entry_appended": transcript.KindLifecycle, "session_info_changed": transcript.KindNotice,
	"thinking_level_changed": transcript.KindLifecycle, "compaction_start": transcript.KindLifecycle, "compaction_end": transcript.KindCompaction,
	"auto_retry_start": transcript.KindError, "auto_retry_end": transcript.KindLifecycle, "extension_error": transcript.KindError,
}

// repeats reports whether a line repeats messages that other lines have, or pieces of them.
func repeats(line jsontext.Value) bool {
	switch typ := line.Get("type"); {
	case typ.Is("message_start"), typ.Is("message_update"):
		return line.Get("message").Exists() || line.Get("assistantMessageEvent").Exists()
	case typ.Is("turn_end"):
		return line.Get("message").Exists()
	case typ.Is("agent_end"):
		return line.Get("messages").Exists()
	case typ.Is("tool_execution_start"), typ.Is("tool_execution_update"), typ.Is("tool_execution_end"):
		return line.Get("toolCallId").Exists()
	}
	return false
}

// begun is what the first of a session's outputs in a file decides.
type begun struct{ order, prompt string }

// enter prepares for a line of saved output, which may belong to the next session in the file. It returns false if no line has named a
// session so far.
func (r *reader) enter(e *entry) bool {
	header := e.isHeader() && e.id != ""
	if header && r.run != "" && r.run != e.id {
		r.emitSession()
		r.left[r.run] = begun{r.s.Order, r.prompt}
		next := &reader{
			Sink: r.Sink, s: r.s, left: r.left, prompt: r.left[e.id].prompt, current: r.current, lend: r.lend,
			seen: r.seen, lines: r.lines, toolNames: map[string]string{}, stated: r.stated, recorded: r.recorded,
		}
		next.s.Order = r.left[e.id].order
		*r = *next
	}
	if !header && r.run == "" {
		r.problem(&transcript.Problem{Kind: "no session", Reason: "an object before the first that names a session", Origin: e.origin})
		return false
	}
	if r.s.Order == "" && !header && e.at.Valid {
		r.s.Order = fmt.Sprintf("%016d", e.at.UnixMicro)
	}
	return true
}

// Resolve makes saved output of a session a copy if there is the session itself.
func (pi) Resolve(f *transcript.Family) { format.CopyOutput(f) }
