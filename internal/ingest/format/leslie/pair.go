package leslie

import (
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// pairs converts entries to events and joins results to calls: a result answers the oldest unanswered call of its name. A
// call may have no result (it failed, or was cut away), a result no call.
type pairs struct {
	calls int
	tools map[string]*tool
	lend  format.Lender
}

// tool is a tool of the transcript, with the ids of its unanswered calls.
type tool struct {
	name string
	open []string
}

// tool returns the state of a tool. The name is cloned, since a substring would keep the whole text of the file in memory.
func (p *pairs) tool(name string) *tool {
	t := p.tools[name]
	if t == nil {
		t = &tool{name: strings.Clone(name)}
		p.tools[t.name] = t
	}
	return t
}

// event returns the event of an entry. last means that the file was cut inside this entry.
func (p *pairs) event(run string, e entry, last bool) *transcript.Event {
	p.lend.Reset()
	event := p.lend.Event(transcript.Event{Run: run, Type: string(e.marker), Origin: e.origin})
	part := &event.Parts[0]
	content := e.content()
	cut := last || e.isCut(content)
	if cut {
		event.Attributes = transcript.Attributes{"cut": true}
	}
	part.Text = e.text(content)
	switch e.marker {
	case markUser, markAssistant:
		event.Kind, event.Role = transcript.KindMessage, string(e.marker)
	case markError:
		event.Kind = transcript.KindError
	case markCall:
		event.Kind, event.Role = transcript.KindToolCall, "assistant"
		part.Call = p.call(p.tool(e.name), content)
	case markResult:
		event.Kind, event.Role = transcript.KindToolResult, "tool"
		t := p.tool(e.name)
		part.Result = &transcript.Result{Call: t.result(), Name: t.name, Output: int64(len(content)), Cut: cut}
	default:
		event.Kind, event.Type, event.Verdict = transcript.KindUnknown, "preamble", transcript.Uncounted
	}
	return event
}

func (p *pairs) call(t *tool, input string) *transcript.Call {
	p.calls++
	id := "#" + strconv.Itoa(p.calls)
	t.open = append(t.open, id)
	return &transcript.Call{ID: id, Name: t.name, Input: int64(len(input)), Paths: paths(input)}
}

func (t *tool) result() string {
	if len(t.open) == 0 {
		return ""
	}
	id := t.open[0]
	t.open = t.open[1:]
	return id
}

// paths returns the files that a call's input names. The input is JSON, but usually cut at 200 units, so paths matches a
// pattern instead of parsing:
//
//	"(?:path|file_path|filePath|filename|file|old_path|new_path)"\s*:\s*("(?:[^"\\]|\\.)*")
//
// A key inside a string has a backslash before its closing quote and does not match.
func paths(input string) []string {
	var found []string
	for at := 0; ; {
		quote := strings.IndexByte(input[at:], '"')
		if quote < 0 {
			return found
		}
		at += quote
		value, end := pathAt(input, at)
		if end < 0 {
			at++
			continue
		}
		if p := jsontext.Unquote(value); p != "" && !slices.Contains(found, p) {
			found = append(found, p)
		}
		at = end
	}
}

// pathAt matches the pattern at a quote and returns the value, quotes included. end is negative if there is no match.
func pathAt(input string, at int) (value string, end int) {
	length := strings.IndexByte(input[at+1:], '"')
	if length < 0 {
		return "", -1
	}
	switch input[at+1 : at+1+length] {
	case "path", "file_path", "filePath", "filename", "file", "old_path", "new_path":
	default:
		return "", -1
	}
	rest := strings.TrimLeft(input[at+1+length+1:], blanks)
	if rest == "" || rest[0] != ':' {
		return "", -1
	}
	if rest = strings.TrimLeft(rest[1:], blanks); rest == "" || rest[0] != '"' {
		return "", -1
	}
	start := len(input) - len(rest)
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			return rest[:i+1], start + i + 1
		case '\\':
			if i++; i < len(rest) && rest[i] == '\n' {
				return "", -1
			}
		}
	}
	return "", -1
}

const blanks = "\t\n\f\r "
