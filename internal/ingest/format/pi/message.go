package pi

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// uncountedKinds are the known types of entries that do not count.
var uncountedKinds = map[string]transcript.Kind{
	"model_change": transcript.KindLifecycle, "thinking_level_change": transcript.KindLifecycle, "custom": transcript.KindLifecycle,
	"label": transcript.KindLifecycle, "session_info": transcript.KindNotice, "title_change": transcript.KindNotice,
	"preview_change": transcript.KindNotice, "leaf": transcript.KindLifecycle, "checkpoint": transcript.KindLifecycle,
	"usage": transcript.KindNotice, "context_edit": transcript.KindCompaction, "active_tools_change": transcript.KindLifecycle,
	"lane": transcript.KindLifecycle, "fact": transcript.KindNotice,

	// of Oh My Pi alone
	"session_init": transcript.KindNotice, "model_usage": transcript.KindNotice, "mode_change": transcript.KindLifecycle,
	"service_tier_change": transcript.KindLifecycle, "ttsr_injection": transcript.KindLifecycle, "credential_pin": transcript.KindLifecycle,
	"reset_boundary": transcript.KindLifecycle, "archive": transcript.KindLifecycle,

	// of Gajae Code, which has those of Oh My Pi, too
	"configured_model_chain": transcript.KindLifecycle, "mcp_tool_selection": transcript.KindLifecycle,
	"discovered_builtin_tool_selection": transcript.KindLifecycle, "header_patch": transcript.KindNotice, "entry_patch": transcript.KindLifecycle,

	// of Prime Agent
	"session_state": transcript.KindLifecycle, "git_state": transcript.KindLifecycle, "agent_status": transcript.KindNotice,
	"child_usage_attributed": transcript.KindNotice,
}

// entry yields the records of a line that is not a header.
func (r *reader) entry(e *entry, m *message) {
	switch e.typ {
	case "message", "message_end":
		r.message(e, m)
		return
	case "compaction", "compact":
		r.system(e, transcript.KindCompaction, "")
		r.entryUsage(e, e.usage, "", "", e.typ)
		return
	case "branch_summary":
		r.system(e, transcript.KindSystem, "")
		r.entryUsage(e, e.usage, "", "", e.typ)
		return
	case "custom_message":
		r.system(e, transcript.KindSystem, e.custom.Str())
		return
	case "model_change":
		r.changeModel(e.value)
	case "fact":
		if e.value.Get("fact").Is("name") {
			r.name = format.Title(e.value.Get("name").Str())
		}
	case "session_info":
		r.name = format.Title(e.value.Get("name").Str())
	case "title_change":
		r.name = format.Title(e.value.Get("title").Str())
	case "header_patch":
		patch := e.value.Get("patch")
		r.name = cmp.Or(format.Title(patch.Get("title").Str()), r.name)
		r.project = cmp.Or(patch.Get("cwd").Str(), r.project)
	case "configured_model_chain":
		if e.value.Get("origin").Is("subagent") {
			r.s.Agent = cmp.Or(e.value.Get("identity").Str(), r.s.Agent)
		}
	case "session_init": // of a subagent
		r.s.Agent = cmp.Or(e.value.Get("agent").Str(), r.s.Agent)
	case "usage":
		r.recordUsage(e)
	case "model_usage":
		r.entryUsage(e, e.usage, e.value.Get("provider").Str(), e.value.Get("model").Str(), e.value.Get("purpose").Str())
	}
	kind, ok := uncountedKinds[e.typ]
	if !ok && r.s.printed {
		kind, ok = printedKinds[e.typ]
	}
	switch {
	case e.kind == "record" && !ok:
		kind = transcript.KindLifecycle
	case !ok:
		kind = transcript.KindUnknown
	}
	r.uncountedRow(e, kind)
}

// system yields text of the program or one of its extensions.
func (r *reader) system(e *entry, kind transcript.Kind, custom string) {
	ev := r.event(e, kind, "system", e.typ)
	ev.Attributes.Set("custom_type", custom)
	ev.Parts[0] = r.part(e, jsontext.Value{})
	r.Emit(ev)
}

func (r *reader) message(e *entry, m *message) {
	switch m.role {
	case "user":
		ev := r.event(e, transcript.KindMessage, "user", m.role)
		ev.Parts[0] = r.part(e, m.content)
		if !e.duplicate {
			r.setPrompt(m.content)
		}
		r.Emit(ev)
	case "assistant":
		r.assistant(e, m)
	case "toolResult":
		r.result(e, m)
	case "bashExecution":
		r.shell(e, m, "bash")
	case "pythonExecution": // Oh My Pi
		r.shell(e, m, "python")
	default:
		ev := r.event(e, transcript.KindSystem, "system", m.role)
		ev.Attributes.Set("custom_type", e.message.Get("customType").Str())
		ev.Parts[0] = r.part(e, jsontext.Value{})
		r.Emit(ev)
	}
}

// setPrompt sets the title from the first prompt.
func (r *reader) setPrompt(content jsontext.Value) {
	if r.prompt != "" {
		return
	}
	text := content.Str()
	for item := range content.Items() {
		if text = item.Get("text").Str(); strings.TrimSpace(text) != "" {
			break
		}
	}
	// The text of a skill precedes the user's.
	if _, after, ok := strings.Cut(text, "</skill>"); ok && strings.HasPrefix(text, "<skill") && strings.TrimSpace(after) != "" {
		text = after
	}
	if r.s.Prompt != nil {
		text = r.s.Prompt(text)
	}
	r.prompt = strings.Clone(format.Title(text))
}

// setModel records the model that answers from here on.
func (r *reader) setModel(model string) {
	if model != "" {
		r.model = model
	}
}

// changeModel records the model that the user, or the program, chose. Oh My Pi puts the provider's name before the model's, and also
// chooses models for other purposes than the conversation.
func (r *reader) changeModel(change jsontext.Value) {
	if model := change.Get("modelId").Str(); model != "" {
		r.setModel(model)
		return
	}
	if role := change.Get("role").Str(); role != "" && role != "default" {
		return
	}
	_, model, _ := strings.Cut(change.Get("model").Str(), "/")
	r.setModel(model)
}

// placeholderModels are model names of messages that OpenClaw itself wrote in the assistant's role.
var placeholderModels = map[string]bool{"delivery-mirror": true, "gateway-injected": true}

// assistant yields the reasoning, texts and calls of an answer, and its usage.
func (r *reader) assistant(e *entry, m *message) {
	if placeholderModels[m.model] {
		m.model = ""
	}
	emitted := false
	newEvent := func(v jsontext.Value, kind transcript.Kind, typ string) *transcript.Event {
		ev := r.event(e, kind, "assistant", typ)
		ev.Model, emitted = m.model, true
		if stop := m.stop.Word(); stop != "" {
			ev.Attributes.Set("stop_reason", stop)
		}
		ev.Parts[0] = r.part(e, v)
		return ev
	}
	if !m.content.IsBlank() {
		r.Emit(newEvent(m.content, transcript.KindMessage, "text"))
	}
	for v := range m.content.Items() {
		switch typ := v.Get("type").Word(); typ {
		case "text":
			if !v.Get("text").IsBlank() {
				r.Emit(newEvent(v, transcript.KindMessage, typ))
			}
		case "thinking", "redactedThinking":
			r.Emit(newEvent(v, transcript.KindReasoning, typ))
		case "toolCall", "toolUse", "tool_use", "functionCall": // all but the first only in sessions that OpenClaw imported
			ev := newEvent(v, transcript.KindToolCall, typ)
			ev.Parts[0].Call = r.call(e, v)
			r.Emit(ev)
		case "anthropicServerTool": // Oh My Pi
			r.Emit(r.serverTool(e, v.Get("block"), newEvent))
		default:
			ev := newEvent(v, cmp.Or(blockKinds[typ], transcript.KindUnknown), typ)
			r.uncount(ev)
			r.Emit(ev)
		}
	}
	if m.errorMessage.IsString() {
		ev := newEvent(m.errorMessage, transcript.KindError, "errorMessage")
		r.uncount(ev)
		r.Emit(ev)
	}
	if !emitted {
		ev := newEvent(jsontext.Value{}, transcript.KindNotice, m.role)
		r.uncount(ev)
		r.Emit(ev)
	}
	r.setModel(m.model)
	r.answerUsage(e, m)
}

// blockKinds are the known types of blocks of an answer that do not count. Only Oh My Pi writes them.
var blockKinds = map[string]transcript.Kind{
	"image": transcript.KindNotice, "audio": transcript.KindNotice, "video": transcript.KindNotice, "fallback": transcript.KindNotice,
}

// serverTool returns a call that the provider answered itself, or its result.
func (r *reader) serverTool(e *entry, v jsontext.Value, newEvent func(jsontext.Value, transcript.Kind, string) *transcript.Event) *transcript.Event {
	typ := v.Get("type").Word()
	if call := v.Get("tool_use_id").Str(); call != "" {
		ev := newEvent(v, transcript.KindToolResult, typ)
		ev.Role = "tool"
		content := v.Get("content")
		ev.Parts[0].Result = &transcript.Result{
			Call: call, Name: r.toolNames[call], Output: int64(content.Len()), Failed: transcript.True(content.Get("error_code").Exists()),
		}
		return ev
	}
	ev := newEvent(v, transcript.KindToolCall, typ)
	ev.Parts[0].Call = r.call(e, v)
	return ev
}

func (r *reader) call(e *entry, v jsontext.Value) *transcript.Call {
	args := v.Get("arguments")
	if !args.Exists() {
		args = v.Get("input")
	}
	c := &transcript.Call{ID: v.Get("id").Str(), Name: v.Get("name").Word(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, nil)}
	if c.ID == "" {
		if !e.duplicate {
			r.calls++
		}
		c.ID = "#" + strconv.Itoa(r.calls)
		return c
	}
	r.toolNames[c.ID] = c.Name
	return c
}

// result yields a tool result, and the usage of models that the tool asked.
func (r *reader) result(e *entry, m *message) {
	ev := r.event(e, transcript.KindToolResult, "tool", m.role)
	ev.Parts[0] = r.part(e, m.content)
	res := &transcript.Result{Call: m.call.Str(), Name: m.tool.Word(), Output: int64(m.content.Len())}
	if res.Call == "" {
		if !e.duplicate && r.results < r.calls {
			r.results++
		}
		if r.results > 0 {
			res.Call = "#" + strconv.Itoa(r.results)
		}
	}
	if res.Name == "" {
		res.Name = r.toolNames[res.Call]
	}
	res.Failed = m.isError.Bool()
	res.Cut = m.details.Get("truncation", "truncated").Bool() == transcript.Yes || m.details.Get("fullOutputPath").IsString()
	ev.Parts[0].Result = res
	if m.details.IsObject() || m.details.IsArray() {
		more := r.part(e, m.details)
		if more.Kind = transcript.KindToolResult; !strings.Contains(ev.Parts[0].Text, more.Text) {
			ev.Parts = append(ev.Parts, more)
		}
	}
	r.Emit(ev)
	r.toolUsage(e, m)
}

// shell yields a command, or code, that the user ran, as a call and its result.
func (r *reader) shell(e *entry, m *message, name string) {
	id := e.id
	if id == "" {
		r.calls++
		r.results = r.calls
		id = "#" + strconv.Itoa(r.calls)
	}
	ev := r.event(e, transcript.KindToolCall, "user", m.role)
	ev.Parts[0] = r.part(e, m.command)
	ev.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(m.command.Len())}
	r.Emit(ev)
	ev = r.event(e, transcript.KindToolResult, "tool", m.role)
	ev.Parts[0] = r.part(e, m.output)
	res := &transcript.Result{Call: id, Name: name, Output: int64(m.output.Len()), Cut: m.truncated == transcript.Yes || m.outputSaved == transcript.Yes}
	if n, ok := m.exit.Int(); ok {
		res.Failed = transcript.True(n != 0)
	}
	if m.cancelled == transcript.Yes {
		res.Failed, res.Status = transcript.Yes, "cancelled"
	}
	ev.Parts[0].Result = res
	r.Emit(ev)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filePath", "file"}
