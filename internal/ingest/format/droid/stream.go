package droid

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isOutput reports whether a line is one that only droid exec prints: a message with its text beside the role, a call with its parameters,
// the end with the final text. Its start does not tell it from other programs, unless it names the effort.
func isOutput(head []byte) bool {
	if !isCandidate(head) {
		return false
	}
	for line, whole := range format.ObjectLines(head) {
		if !isCandidate(line) {
			continue
		}
		v := format.LineStart(line, whole) // a prompt may be long
		if isOutputLine(v) {
			return true
		}
	}
	return false
}

// isCandidate reports, without parsing, whether isOutputLine may be true.
func isCandidate(line []byte) bool {
	return format.HasKeys(line, "session_id") && format.MayHave(line, "finalText", "toolId", `"text"`, "reasoning_effort")
}

func isOutputLine(v jsontext.Value) bool {
	switch typ := v.Get("type"); {
	case typ.Is("completion"):
		return v.Get("session_id").IsString() && v.Get("finalText").IsString()
	case typ.Is("tool_call"):
		return v.Get("session_id").IsString() && v.Get("toolId").IsString() && v.Get("toolName").IsString() && v.Get("parameters").Exists()
	case typ.Is("tool_result"):
		return v.Get("session_id").IsString() && v.Get("toolId").IsString() && v.Get("isError").Exists()
	case typ.Is("message"):
		_, stamped := v.Get("timestamp").Int() // logs of other chats have a text for it
		role := v.Get("role")
		return stamped && v.Get("id").IsString() && (role.Is("user") || role.Is("assistant")) && v.Get("text").IsString() && v.Get("session_id").IsString()
	case typ.Is("system"):
		return v.Get("session_id").IsString() && v.Get("reasoning_effort").IsString() && v.Get("subtype").Is("init") && !v.Get("uuid").Exists()
	}
	return false
}

// orderOf sorts the outputs of a session by their first time.
func orderOf(at transcript.Time) string {
	if !at.Valid {
		return ""
	}
	return fmt.Sprintf("%016d", at.UnixMicro)
}

// printed is the state of a parse of saved output. Programs that run droid exec may append the output of many sessions to one file.
type printed struct {
	*parser
	said bool             // the assistant has said something since the last prompt
	left map[string]known // sessions that the file has left
}

// known is what the file has stated about a session so far. Processes that run at the same time may print to one file.
type known struct {
	facts transcript.Conversation
	said  bool
}

// output yields the records of saved output.
func (p *parser) output() {
	w := &printed{parser: p, left: map[string]known{}}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		l := readLine(o)
		if id := l.value.Get("session_id").Str(); id != "" && id != p.run {
			w.enter(id)
		}
		if p.run == "" {
			p.problem(&transcript.Problem{Kind: "no session", Reason: "a line before the first that names a session", Origin: o.Origin})
			continue
		}
		w.line(&l)
	}
	if p.Done() {
		return
	}
	if p.run != "" {
		p.emitSession()
	}
	p.Settle(p.run)
}

// enter begins the lines of another session.
func (w *printed) enter(id string) {
	if w.run != "" {
		w.emitSession()
		w.left[w.run] = known{w.facts, w.said}
	}
	k := w.left[id]
	w.run, w.facts, w.said = id, k.facts, k.said
	w.emitSession()
	w.Settle(id)
}

func (w *printed) line(l *line) {
	format.Extend(&w.facts.Started, &w.facts.Ended, l.at)
	text := l.value.Get("text")
	switch l.typ {
	case "message":
		role := l.value.Get("role").Word()
		if role != "user" && role != "assistant" || text.IsBlank() {
			w.uncounted(l, transcript.KindNotice, l.typ)
			return
		}
		if w.said = role == "assistant"; !w.said {
			w.setTitleFrom(text.Str())
		}
		w.Emit(w.printedEvent(l, text, transcript.KindMessage, role))
	case "reasoning":
		if text.IsBlank() {
			w.uncounted(l, transcript.KindNotice, l.typ)
			return
		}
		w.Emit(w.printedEvent(l, text, transcript.KindReasoning, "assistant"))
	case "tool_call":
		w.tool(l)
	case "tool_result":
		w.toolResult(l)
	case "completion":
		w.completion(l)
	case "system":
		if l.value.Get("subtype").Is("init") {
			w.facts.Project, w.facts.Model = cmp.Or(l.value.Get("cwd").Str(), w.facts.Project), cmp.Or(l.value.Get("model").Str(), w.facts.Model)
		}
		w.uncounted(l, transcript.KindLifecycle, l.typ)
	case "error":
		w.uncounted(l, transcript.KindError, l.typ)
	default:
		w.uncounted(l, transcript.KindUnknown, l.typ)
	}
}

// printedEvent returns an event for one value of a line. A call and its result have one id.
func (w *printed) printedEvent(l *line, v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := w.lend.Event(transcript.Event{Conversation: w.run, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin})
	if l.id != "" {
		e.ID = l.typ + " " + l.id
	}
	if role == "assistant" {
		e.Model = w.facts.Model
	}
	e.Parts[0] = w.part(l, v)
	return e
}

func (w *printed) tool(l *line) {
	input := l.value.Get("parameters")
	e := w.printedEvent(l, input, transcript.KindToolCall, "assistant")
	c := &transcript.Call{ID: l.id, Name: l.value.Get("toolName").Word(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	w.toolNames[c.ID] = c.Name
	e.Parts[0].Call = c
	w.Emit(e)
}

func (w *printed) toolResult(l *line) {
	value := l.value.Get("value")
	if !value.Exists() {
		value = l.value.Get("error")
	}
	e := w.printedEvent(l, value, transcript.KindToolResult, "tool")
	e.Parts[0].Result = &transcript.Result{
		Call: l.id, Name: cmp.Or(w.toolNames[l.id], l.value.Get("toolId").Word()), Output: int64(value.Len()), Failed: l.value.Get("isError").Bool(),
	}
	w.Emit(e)
}

// completion yields the end of a run. Its text is that of the last message, and counts only if there is none.
func (w *printed) completion(l *line) {
	text := l.value.Get("finalText")
	e := w.printedEvent(l, text, transcript.KindMessage, "assistant")
	switch {
	case text.IsBlank(), w.said && l.value.Get("isError").Bool() != transcript.Yes:
		w.uncounted(l, transcript.KindLifecycle, l.typ)
	case l.value.Get("isError").Bool() == transcript.Yes:
		e.Kind, e.Verdict = transcript.KindError, transcript.Uncounted
		w.Emit(e)
	default:
		e.ID = l.typ + " " + orderOf(l.at)
		w.Emit(e)
	}
	w.said = false
	w.sessionTotal(l.value.Get("usage"), outputKeys, l.origin, w.facts.Model, transcript.Usage{Time: l.at})
}

// appendPrinted appends the text of a line of saved output or a part of one: of a part, which is what went into a tool or came out of it, all strings and
// numbers, of a line the strings that are not ids, names of tools or the text of the last message.
func appendPrinted(dst []byte, v jsontext.Value) []byte {
	line := v.Get("session_id").IsString()
	appendText := jsontext.AppendText
	if !line {
		appendText = jsontext.AppendTextAndNumbers
	}
	return appendText(dst, v, func(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
		if line && depth == 1 {
			switch key {
			case "type", "subtype", "id", "session_id", "messageId", "toolId", "tools", "finalText", "role", "reasoning_effort":
				return dst, true
			}
		}
		return dst, v.IsDataURL()
	})
}
