package leslie

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// pairs makes events of entries, and ties results to calls: a result belongs to the oldest call of its name that
// has none yet. A call may stay without result (it failed, or was cut away), a result without call.
type pairs struct {
	calls int
	open  map[string][]string // ids of calls without result, by tool
}

// event makes the event of an entry. last says that the file was cut inside of it.
func (p *pairs) event(run string, e entry, last bool) *transcript.Event {
	event := &transcript.Event{Run: run, Type: string(e.marker), Origin: e.origin}
	cut := last || e.cut()
	if cut {
		event.Attributes = transcript.Attributes{"cut": true}
	}
	part := transcript.Part{Text: e.text()}
	switch e.marker {
	case markUser, markAssistant:
		event.Kind, event.Role = transcript.KindMessage, string(e.marker)
	case markError:
		event.Kind = transcript.KindError
	case markCall:
		event.Kind, event.Role = transcript.KindToolCall, "assistant"
		part.Call = p.call(e)
	case markResult:
		event.Kind, event.Role = transcript.KindToolResult, "tool"
		part.Result = &transcript.Result{Call: p.result(e.name), Name: e.name, Output: int64(len(e.content())), Cut: cut}
	default:
		event.Kind, event.Type, event.Verdict = transcript.KindUnknown, "preamble", transcript.Uncounted
	}
	event.Parts = []transcript.Part{part}
	return event
}

func (p *pairs) call(e entry) *transcript.Call {
	p.calls++
	id := fmt.Sprintf("#%d", p.calls)
	p.open[e.name] = append(p.open[e.name], id)
	input := e.content()
	return &transcript.Call{ID: id, Name: e.name, Input: int64(len(input)), Paths: paths(input)}
}

func (p *pairs) result(name string) string {
	waiting := p.open[name]
	if len(waiting) == 0 {
		return ""
	}
	p.open[name] = waiting[1:]
	return waiting[0]
}

// A call's input is JSON, cut at 200 units more often than not; so paths are read by pattern, not by parser. A
// key inside of a string has a backslash before its closing quote and does not match.
var pathKey = regexp.MustCompile(`"(?:path|file_path|filePath|filename|file|old_path|new_path)"\s*:\s*("(?:[^"\\]|\\.)*")`)

// paths lists the files that an input names, each once.
func paths(input string) []string {
	var found []string
	for _, m := range pathKey.FindAllStringSubmatch(input, -1) {
		if p := format.Unquote(m[1]); p != "" && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}
