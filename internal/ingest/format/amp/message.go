package amp

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message yields the events of one message: a user message is one event, of all others each block is one.
func (p *parser) message(m *message) {
	role := m.v.Get("role").Word()
	content := m.v.Get("content")
	switch {
	case !m.v.IsObject():
		p.problem("not a message", "a JSON value of another type", p.origin(m.v))
		return
	case role == "user":
		p.prompt(m, content)
	case !content.IsBlank():
		kind := transcript.KindMessage
		if role != "assistant" {
			kind, role = transcript.KindSystem, "system"
		}
		p.event(m, content, "", kind, role)
	}
	for n, b := range content.Numbered() {
		if role != "user" || !isPrompt(b) {
			p.block(m, b, role, "/"+strconv.Itoa(n))
		}
	}
	if files := m.v.Get("fileMentions"); files.IsObject() {
		p.event(m, files, "/files", transcript.KindNotice, "user", uncounted("file_mentions"))
	}
	if reason := m.v.Get("state", "error"); reason.IsObject() {
		p.event(m, reason, "/error", transcript.KindError, role, uncounted("error"))
	}
}

func uncounted(typ string) func(*transcript.Event) {
	return func(e *transcript.Event) { e.Type, e.Verdict = typ, transcript.Uncounted }
}

// event yields an event with one part.
func (p *parser) event(m *message, v jsontext.Value, suffix string, kind transcript.Kind, role string, more ...func(*transcript.Event)) {
	p.lend.Reset()
	e := p.newEvent(m, v, suffix, kind, role)
	e.Parts = append(p.parts[:0], transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendText(b, v) })})
	for _, f := range more {
		f(e)
	}
	p.Emit(e)
}

func (p *parser) newEvent(m *message, v jsontext.Value, suffix string, kind transcript.Kind, role string) *transcript.Event {
	e := &transcript.Event{
		Conversation: p.id, ID: m.key + suffix, Global: true, Home: !m.copied, Kind: kind, Role: role, Type: m.v.Get("role").Word(), Time: m.at,
		Origin: p.origin(v),
	}
	if m.nestedFork {
		e.Global, e.Verdict = false, transcript.CopiedHistory
	}
	return e
}

func isPrompt(b jsontext.Value) bool {
	switch b.Get("type").Word() {
	case "text":
		return !b.Get("text").IsBlank()
	case "image":
		return true
	}
	return b.IsString()
}

// prompt yields a user message, with a part for each text and image.
func (p *parser) prompt(m *message, content jsontext.Value) {
	p.lend.Reset()
	p.parts = p.parts[:0]
	e := p.newEvent(m, m.v, "", transcript.KindMessage, "user")
	add := func(v jsontext.Value) {
		p.parts = append(p.parts, jsontext.PartIn(m.v, v, p.lend.Text(func(b []byte) []byte { return appendText(b, v) })))
	}
	if !content.IsBlank() {
		add(content)
	}
	for b := range content.Items() {
		if isPrompt(b) {
			add(b)
		}
	}
	if len(p.parts) == 0 {
		return
	}
	if source := m.v.Get("source", "type"); source.IsString() { // written by Amp, not by the user
		e.Kind, e.Role, e.Type = transcript.KindSystem, "system", source.Str()
	}
	if m.v.Get("interrupted").Bool() == transcript.Yes {
		e.Attributes = transcript.Attributes{"interrupted": true}
	}
	e.Parts = p.parts
	p.Emit(e)
}

// block yields one block that is not part of a prompt.
func (p *parser) block(m *message, b jsontext.Value, role, suffix string) {
	typ := b.Get("type").Word()
	kind := transcript.KindUnknown
	var more func(*transcript.Event)
	switch typ {
	case "text":
		if b.Get("text").IsBlank() {
			return
		}
		if kind = transcript.KindMessage; role != "assistant" {
			kind, role = transcript.KindSystem, "system"
		} else if stop := m.v.Get("state", "stopReason"); stop.IsString() {
			more = func(e *transcript.Event) { e.Attributes = transcript.Attributes{"stop_reason": stop.Str()} }
		}
	case "thinking", "redacted_thinking":
		kind = transcript.KindReasoning
	case "tool_use", "server_tool_use":
		kind, more = transcript.KindToolCall, func(e *transcript.Event) { e.Parts[0].Call = p.call(b) }
	case "tool_result":
		kind, role, more = transcript.KindToolResult, "tool", func(e *transcript.Event) { e.Parts[0].Result = p.result(b) }
	case "manual_bash_invocation":
		kind, role = transcript.KindSystem, "system"
	case "summary":
		kind, role = transcript.KindCompaction, "system"
	default:
		more = uncounted(typ)
	}
	p.event(m, b, suffix, kind, role, func(e *transcript.Event) {
		e.Type, e.Model = typ, ""
		if role == "assistant" {
			e.Model = m.v.Get("usage", "model").Str()
		}
		if more != nil {
			more(e)
		}
	})
}

// pathNames are the inputs of tools that name a file.
var pathNames = []string{"path", "file_path", "absolutePath"}

// pathsIn returns the files that the input of a tool names, or the patch in it.
func pathsIn(input jsontext.Value) []string {
	if paths, ok := format.PatchPaths(input.Get("patchText").Str()); ok {
		return paths
	}
	return format.Paths(input, pathNames, nil)
}

func (p *parser) call(b jsontext.Value) *transcript.Call {
	input := b.Get("input")
	c := &transcript.Call{ID: b.Get("id").Str(), Name: b.Get("name").Str(), Input: int64(input.Len()), Paths: pathsIn(input)}
	if p.calls == nil {
		p.calls = map[string]string{}
	}
	p.calls[c.ID] = c.Name
	return c
}

// result reads a tool result. A run that ended in an error, was cancelled or was rejected by the user has failed. So has a command that says so; its
// run has ended all the same.
func (p *parser) result(b jsontext.Value) *transcript.Result {
	run := b.Get("run")
	r := &transcript.Result{Call: callOf(b), Status: run.Get("status").Word()}
	r.Name = p.calls[r.Call]
	switch r.Status {
	case "done":
		r.Failed = transcript.True(run.Get("result", "success").Bool() == transcript.No || hasFailed(run.Get("result")))
	case "error", "cancelled", "rejected-by-user":
		r.Failed = transcript.Yes
	}
	for _, key := range []string{"result", "error", "progress"} {
		if v := run.Get(key); v.Exists() {
			r.Output = int64(v.Len())
			break
		}
	}
	return r
}

// hasFailed reports whether the output of a tool is that of a command that failed.
func hasFailed(output jsontext.Value) bool {
	code, ok := output.Get("exitCode").Int()
	return ok && code != 0
}

func callOf(b jsontext.Value) string {
	if id := b.Get("toolUseID").Str(); id != "" {
		return id
	}
	return b.Get("tool_use_id").Str()
}
