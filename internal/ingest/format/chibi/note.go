package chibi

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parseNote yields summary.md or system_prompt.md as one uncounted row.
func parseNote(in format.Input, out *emitter) {
	out.emitNamedRun()
	b, ok := document(in, out)
	body := jsontext.TrimBOM(b)
	if !ok || len(bytes.TrimSpace(body)) == 0 {
		return
	}
	e := &transcript.Event{
		Run: out.run, Verdict: transcript.Uncounted, Kind: transcript.KindSystem, Role: "system", Type: "system_prompt",
		Origin: transcript.Origin{Line: 1, Offset: int64(len(b) - len(body)), Length: int64(len(body))},
		Parts:  []transcript.Part{{Text: string(validUTF8(body))}},
	}
	if in.Role == roleSummary {
		e.Kind, e.Type = transcript.KindCompaction, "summary"
	}
	out.Emit(e)
}

// parseReadable reads transcript.md, the readable copy that old versions kept. Its blocks are events that Resolve marks as
// derived if any log survives.
func parseReadable(in format.Input, out *emitter) {
	out.Emit(&transcript.Run{ID: out.run, Local: true})
	out.Emit(&transcript.Conversation{
		Run: out.run, Shared: true, Order: order(in), Attributes: transcript.Attributes{"role": in.Role},
	})
	b, ok := document(in, out)
	if !ok {
		return
	}
	start := len(b) - len(jsontext.TrimBOM(b))
	line := 1
	for start < len(b) && !out.Done() {
		end := start + blockLength(b[start:])
		if block := bytes.TrimRight(b[start:end], " \t\r\n"); len(bytes.TrimSpace(block)) > 0 {
			role, text := cutMarker(block)
			out.Emit(&transcript.Event{
				Run: out.run, Kind: transcript.KindMessage, Role: role, Type: "readable",
				Origin: transcript.Origin{Line: line, Offset: int64(start), Length: int64(len(block))},
				Parts:  []transcript.Part{{Text: string(validUTF8(text))}},
			})
		}
		line += bytes.Count(b[start:end], []byte("\n"))
		start = end
	}
}

// blockLength returns the number of bytes up to the next line that starts with a marker.
func blockLength(b []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return len(b)
		}
		at += n + 1
		if role, _ := cutMarker(b[at:]); role != "" {
			return at
		}
	}
}

// speakers are the markers at the start of a block of transcript.md.
var speakers = []struct{ mark, role string }{
	{"[USER]:", "user"}, {"[ASSISTANT]:", "assistant"}, {"[SYSTEM]:", "system"}, {"[TOOL]:", "tool"},
}

// cutMarker cuts the speaker's marker ("[USER]: ") off the start of a block.
func cutMarker(b []byte) (role string, rest []byte) {
	for _, s := range speakers {
		if bytes.HasPrefix(b, []byte(s.mark)) {
			return s.role, bytes.TrimPrefix(b[len(s.mark):], []byte(" "))
		}
	}
	return "", b
}

// validUTF8 replaces invalid UTF-8 by U+FFFD.
func validUTF8(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\uFFFD")) }
