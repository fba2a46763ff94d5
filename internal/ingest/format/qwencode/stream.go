package qwencode

import (
	"bytes"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The usage of saved output has an attribute of, which tells it from that of a session.
const (
	ofOutput = "output" // of one request
	ofTotal  = "total"  // of all requests since the program was started
)

// outputRole returns the role of saved output, "" if no line is one that only Qwen Code prints. Claude Code prints lines of the same types,
// but a start and an answer have ids of their own there. CodeBuddy has the same ids, with members that Qwen Code does not write or in another
// order.
func outputRole(head []byte) string {
	if !isCandidate(head) {
		return ""
	}
	if array := bytes.TrimLeft(jsontext.TrimBOM(head), " \t\r\n"); bytes.HasPrefix(array, []byte("[")) {
		for v := range jsontext.ParseStart(array).Items() {
			if isOutputLine(v) {
				return roleArray
			}
			break
		}
	}
	for line, whole := range format.ObjectLines(head) {
		if !isCandidate(line) {
			continue
		}
		v := format.LineStart(line, whole) // the list of tools may be long
		if isOutputLine(v) {
			return roleStream
		}
	}
	return ""
}

// isCandidate reports, without parsing, whether isOutputLine may be true.
func isCandidate(line []byte) bool {
	return format.HasKeys(line, "session_id") && format.MayHave(line, `"uuid"`, "qwen_code_version")
}

func isOutputLine(v jsontext.Value) bool {
	id := v.Get("uuid")
	switch typ := v.Get("type"); {
	case !v.Get("session_id").IsString():
		return false
	case typ.Is("system") && v.Get("subtype").Is("init"):
		return v.Get("qwen_code_version").Exists() || same(id, v.Get("session_id")) && !v.Get("apiKeySource").Exists()
	case typ.Is("assistant"):
		m := v.Get("message")
		return same(id, m.Get("id")) && m.Get("type").Is("message") && !m.Get("stop_sequence").Exists()
	}
	return false
}

func same(a, b jsontext.Value) bool {
	return a.IsString() && b.IsString() && a.Len() > len(`""`) && bytes.Equal(a.Raw(), b.Raw())
}

// output yields the records of saved output. It has neither prompts nor times. Programs that run Qwen Code may append the output of many
// sessions to one file.
func (p *parser) output() {
	objects := jsontext.Objects(p.in.Reader, "", p.problem)
	if p.in.Role == roleArray {
		objects = jsontext.Elements(p.in.Reader, p.problem)
	}
	for o := range p.Each(objects) {
		p.lend.Reset()
		p.outputLine(o)
	}
	p.Settle(p.run)
}

func (p *parser) outputLine(o jsontext.Object) {
	v := o.Value
	if id := v.Get("session_id").Str(); id != "" && id != p.run {
		p.session, p.run = id, id
		p.Settle(id)
		p.emitOutput(transcript.Conversation{})
	}
	if p.run == "" {
		p.problem(&transcript.Problem{Kind: "no session", Reason: "a line before the first that names a session", Origin: o.Origin})
		return
	}
	w := &printed{parser: p, value: v, origin: o.Origin, typ: v.Get("type").Word(), id: v.Get("uuid").Str()}
	switch w.typ {
	case "user", "assistant":
		w.message(v.Get("message"))
	case "result":
		w.result()
	case "system":
		if v.Get("subtype").Is("init") {
			p.emitOutput(transcript.Conversation{Project: v.Get("cwd").Str(), Model: v.Get("model").Str(), Version: v.Get("qwen_code_version").Str()})
		}
		w.uncounted(transcript.KindLifecycle, v)
	case "stream_event": // the message follows as a whole
		w.uncounted(transcript.KindLifecycle, v)
	default:
		w.uncounted(transcript.KindUnknown, v)
	}
}

// emitOutput yields fields of the run and its conversation alike. All outputs of a session are one conversation.
func (p *parser) emitOutput(c transcript.Conversation) {
	c.ID, c.Run, c.Shared = p.session, p.run, true
	p.Emit(&transcript.Run{ID: p.run, Model: c.Model, Version: c.Version, Project: c.Project})
	p.Emit(&c)
}

// printed is one line of saved output while its events are made.
type printed struct {
	*parser
	value   jsontext.Value
	origin  transcript.Origin
	typ, id string
	blocks  int
	emitted bool
}

// event returns an event for one value of the line. A line of a subagent names the call that started it; its own session has no name here.
func (w *printed) event(kind transcript.Kind, role string, v jsontext.Value) *transcript.Event {
	e := w.lend.Event(transcript.Event{Conversation: w.session, Kind: kind, Role: role, Type: w.typ, Origin: w.origin, Verdict: transcript.Counted})
	if w.id != "" {
		e.ID = fmt.Sprintf("%s/%d", w.id, w.blocks)
	}
	e.Attributes.Set("call", w.value.Get("parent_tool_use_id").Str())
	e.Parts[0] = w.lend.Part(w.value, v, appendPrinted)
	w.blocks++
	w.emitted = true
	return e
}

func (w *printed) uncounted(kind transcript.Kind, v jsontext.Value) {
	e := w.event(kind, "", v)
	e.Verdict, e.ID = transcript.Uncounted, ""
	e.Attributes.Set("subtype", w.value.Get("subtype").Str())
	w.Emit(e)
}

// message yields the events of a message, which are Anthropic's blocks, and its usage.
func (w *printed) message(m jsontext.Value) {
	content := m.Get("content")
	if !content.IsBlank() {
		w.Emit(w.event(transcript.KindMessage, w.typ, content))
	}
	for b := range content.Items() {
		w.block(b, m.Get("model"))
	}
	if !w.emitted {
		w.uncounted(transcript.KindNotice, w.value)
	}
	if u := m.Get("usage"); w.typ == "assistant" {
		w.usage(u, ofOutput, m.Get("model").Str())
	}
}

func (w *printed) block(b, model jsontext.Value) {
	kind, role := transcript.KindMessage, w.typ
	var call *transcript.Call
	var result *transcript.Result
	switch typ := b.Get("type"); {
	case typ.Is("text") && b.Get("text").IsBlank():
		return
	case typ.Is("text"):
	case typ.Is("thinking"):
		kind = transcript.KindReasoning
	case typ.Is("tool_use"):
		kind = transcript.KindToolCall
		input := b.Get("input")
		call = &transcript.Call{ID: b.Get("id").Text(), Name: b.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, pathLists)}
	case typ.Is("tool_result"):
		kind, role = transcript.KindToolResult, "tool"
		result = &transcript.Result{Call: b.Get("tool_use_id").Text(), Output: int64(b.Get("content").Len()), Failed: b.Get("is_error").Bool()}
	default:
		w.uncounted(transcript.KindUnknown, b)
		return
	}
	e := w.event(kind, role, b)
	if w.typ == "assistant" {
		e.Model = model.Word()
	}
	e.Parts[0].Call, e.Parts[0].Result = call, result
	w.Emit(e)
}

// result yields the end of a run, whose text is that of the last message, and the total of all requests.
func (w *printed) result() {
	kind := transcript.KindLifecycle
	if w.value.Get("is_error").Bool() == transcript.Yes {
		kind = transcript.KindError
	}
	w.uncounted(kind, w.value)
	w.usage(w.value.Get("usage"), ofTotal, "")
}

// usage yields the tokens of a request, or a total. Of the messages of one answer only the last has any.
func (w *printed) usage(v jsontext.Value, of, model string) {
	prompt, cached, output := v.Get("input_tokens").Tokens(), v.Get("cache_read_input_tokens").Tokens(), v.Get("output_tokens").Tokens()
	if prompt.N+cached.N+output.N == 0 {
		return
	}
	cached.N = min(cached.N, prompt.N)
	u := &transcript.Usage{
		Run: w.run, Conversation: w.session, Key: w.id, Origin: w.origin, Model: model, Input: prompt, Output: output, CacheRead: cached,
		Requests: transcript.Known(1), Attributes: transcript.Attributes{"of": of},
	}
	u.Input.N -= cached.N
	if of == ofTotal {
		u.Verdict, u.Requests = transcript.DerivedTotal, transcript.Count{}
	}
	w.Emit(u)
}

// appendPrinted appends the text of a line of saved output or a part of one: all strings of a block except ids, and of what was said to a tool.
// Of other lines only the message of an error and data that a notice has.
func appendPrinted(dst []byte, v jsontext.Value) []byte {
	switch typ := v.Get("type"); {
	case v.IsString():
		return jsontext.AppendStrings(dst, v)
	case typ.Is("tool_use"):
		return jsontext.AppendScalars(dst, v.Get("input"))
	case typ.Is("stream_event"):
		return dst
	case typ.Is("result"), typ.Is("system"):
		return jsontext.AppendStrings(jsontext.AppendStrings(dst, v.Get("error")), v.Get("data"))
	}
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
		switch key {
		case "type", "subtype", "id", "uuid", "session_id", "parent_tool_use_id", "tool_use_id", "request_id", "signature", "role", "model", "stop_reason":
			return dst, true
		}
		return dst, v.IsDataURL()
	})
}
