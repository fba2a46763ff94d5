package pi

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// known are the types of entries that are the program's own books.
var known = map[string]transcript.Kind{
	"model_change": transcript.KindLifecycle, "thinking_level_change": transcript.KindLifecycle, "custom": transcript.KindLifecycle,
	"label": transcript.KindLifecycle, "session_info": transcript.KindNotice, "title_change": transcript.KindNotice,
	"preview_change": transcript.KindNotice, "leaf": transcript.KindLifecycle, "checkpoint": transcript.KindLifecycle,
	"usage": transcript.KindNotice, "context_edit": transcript.KindCompaction, "active_tools_change": transcript.KindLifecycle,
	"lane": transcript.KindLifecycle, "fact": transcript.KindNotice,
}

// entry yields the rows of a line that is no header.
func (r *reader) entry(e *entry, m *message) {
	switch e.typ {
	case "message":
		r.message(e, m)
		return
	case "compaction", "compact":
		r.system(e, transcript.KindCompaction, "")
		r.spent(e, e.usage, "", "", e.typ)
		return
	case "branch_summary":
		r.system(e, transcript.KindSystem, "")
		r.spent(e, e.usage, "", "", e.typ)
		return
	case "custom_message":
		r.system(e, transcript.KindSystem, e.custom.Str())
		return
	case "model_change":
		r.switched(e.value.Get("modelId").Str())
	case "fact":
		if e.value.Get("fact").Is("name") {
			r.name = format.Title(e.value.Get("name").Str())
		}
	case "session_info":
		r.name = format.Title(e.value.Get("name").Str())
	case "title_change":
		r.name = format.Title(e.value.Get("title").Str())
	case "usage":
		r.warmed(e)
	}
	kind, ok := known[e.typ]
	switch {
	case e.kind == "record" && !ok:
		kind = transcript.KindLifecycle
	case !ok:
		kind = transcript.KindUnknown
	}
	r.aside(e, kind)
}

// system gives what the program or one of its extensions said.
func (r *reader) system(e *entry, kind transcript.Kind, custom string) {
	ev := r.event(e, kind, "system", e.typ)
	ev.Attributes.Set("custom_type", custom)
	ev.Parts[0] = r.part(e, format.Value{})
	r.Emit(ev)
}

func (r *reader) message(e *entry, m *message) {
	switch m.role {
	case "user":
		ev := r.event(e, transcript.KindMessage, "user", m.role)
		ev.Parts[0] = r.part(e, m.content)
		if !e.again {
			r.prompted(m.content)
		}
		r.Emit(ev)
	case "assistant":
		r.answer(e, m)
	case "toolResult":
		r.result(e, m)
	case "bashExecution":
		r.shell(e, m)
	default:
		ev := r.event(e, transcript.KindSystem, "system", m.role)
		ev.Attributes.Set("custom_type", e.message.Get("customType").Str())
		ev.Parts[0] = r.part(e, format.Value{})
		r.Emit(ev)
	}
}

// prompted takes the words of the first prompt for a title.
func (r *reader) prompted(content format.Value) {
	if r.prompt != "" {
		return
	}
	words := content.Str()
	for item := range content.Items() {
		if words = item.Get("text").Str(); !isSpace(words) {
			break
		}
	}
	// What a skill says stands before the words of the user.
	if _, after, ok := strings.Cut(words, "</skill>"); ok && strings.HasPrefix(words, "<skill") && !isSpace(after) {
		words = after
	}
	if r.s.Prompt != nil {
		words = r.s.Prompt(words)
	}
	r.prompt = strings.Clone(format.Title(words))
}

// switched notes the model that answers from here on.
func (r *reader) switched(model string) {
	if model != "" {
		r.model = model
	}
}

// standsIn are names of no model: what OpenClaw itself put into the model's place.
var standsIn = map[string]bool{"delivery-mirror": true, "gateway-injected": true}

// answer yields thoughts, words and calls of the model, and what it took.
func (r *reader) answer(e *entry, m *message) {
	if standsIn[m.model] {
		m.model = ""
	}
	told := false
	say := func(v format.Value, kind transcript.Kind, typ string) *transcript.Event {
		ev := r.event(e, kind, "assistant", typ)
		ev.Model, told = m.model, true
		if stop := m.stop.Word(); stop != "" {
			ev.Attributes.Set("stop_reason", stop)
		}
		ev.Parts[0] = r.part(e, v)
		return ev
	}
	if !m.content.IsBlank() {
		r.Emit(say(m.content, transcript.KindMessage, "text"))
	}
	for v := range m.content.Items() {
		switch typ := v.Get("type").Word(); typ {
		case "text":
			if !v.Get("text").IsBlank() {
				r.Emit(say(v, transcript.KindMessage, typ))
			}
		case "thinking":
			r.Emit(say(v, transcript.KindReasoning, typ))
		case "toolCall", "toolUse", "tool_use", "functionCall": // the others are in what OpenClaw took over
			ev := say(v, transcript.KindToolCall, typ)
			ev.Parts[0].Call = r.call(e, v)
			r.Emit(ev)
		default:
			ev := say(v, transcript.KindUnknown, typ)
			r.uncount(ev)
			r.Emit(ev)
		}
	}
	if m.fault.IsString() {
		ev := say(m.fault, transcript.KindError, "errorMessage")
		r.uncount(ev)
		r.Emit(ev)
	}
	if !told {
		ev := say(format.Value{}, transcript.KindNotice, m.role)
		r.uncount(ev)
		r.Emit(ev)
	}
	r.switched(m.model)
	r.answered(e, m)
}

func (r *reader) call(e *entry, v format.Value) *transcript.Call {
	args := v.Get("arguments")
	if !args.Exists() {
		args = v.Get("input")
	}
	c := &transcript.Call{ID: v.Get("id").Str(), Name: v.Get("name").Word(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, nil)}
	if c.ID == "" {
		if !e.again {
			r.calls++
		}
		c.ID = "#" + itoa(r.calls)
		return c
	}
	r.names[c.ID] = c.Name
	return c
}

// result yields what a tool gave.
func (r *reader) result(e *entry, m *message) {
	ev := r.event(e, transcript.KindToolResult, "tool", m.role)
	ev.Parts[0] = r.part(e, m.content)
	given := &transcript.Result{Call: m.call.Str(), Name: m.tool.Word(), Output: int64(m.content.Len())}
	if given.Call == "" {
		if !e.again && r.results < r.calls {
			r.results++
		}
		if r.results > 0 {
			given.Call = "#" + itoa(r.results)
		}
	}
	if given.Name == "" {
		given.Name = r.names[given.Call]
	}
	given.Failed = m.isError.Bool()
	given.Cut = m.details.Get("truncation", "truncated").Bool() == transcript.Yes || m.details.Get("fullOutputPath").IsString()
	ev.Parts[0].Result = given
	if m.details.IsObject() || m.details.IsArray() {
		more := r.part(e, m.details)
		if more.Kind = transcript.KindToolResult; !strings.Contains(ev.Parts[0].Text, more.Text) {
			ev.Parts = append(ev.Parts, more)
		}
	}
	r.Emit(ev)
	r.worked(e, m)
}

// shell yields a command that the user ran, a call and its result in one.
func (r *reader) shell(e *entry, m *message) {
	id := e.id
	if id == "" {
		r.calls++
		r.results = r.calls
		id = "#" + itoa(r.calls)
	}
	const name = "bash"
	ev := r.event(e, transcript.KindToolCall, "user", m.role)
	ev.Parts[0] = r.part(e, m.command)
	ev.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(m.command.Len())}
	r.Emit(ev)
	ev = r.event(e, transcript.KindToolResult, "tool", m.role)
	ev.Parts[0] = r.part(e, m.output)
	given := &transcript.Result{Call: id, Name: name, Output: int64(m.output.Len()), Cut: m.truncated == transcript.Yes || m.elsewhere == transcript.Yes}
	if n, ok := m.exit.Int(); ok {
		given.Failed = transcript.True(n != 0)
	}
	if m.cancelled == transcript.Yes {
		given.Failed, given.Status = transcript.Yes, "cancelled"
	}
	ev.Parts[0].Result = given
	r.Emit(ev)
}

// pathNames are the members of an input that name files.
var pathNames = []string{"path", "file_path", "filePath", "file"}
