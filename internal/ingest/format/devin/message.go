package devin

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message while its events are made.
type message struct {
	*parser
	id           string // of its events, "" if only their places identify them
	conversation *transcript.Conversation
	at           transcript.Time
	model        string
	n            int // events so far
}

// node yields the events of a node, unless it is a copy of one before.
func (p *parser) node(row jsontext.Value) {
	v := row.Get("chat_message")
	meta := v.Get("metadata")
	m := &message{
		parser: p, id: cmp.Or(v.Get("message_id").Str(), row.Get("node_id").Text()), at: cmp.Or(meta.Get("created_at").Time(), parseTime(row.Get("created_at"))),
		model: meta.Get("generation_model").Str(),
	}
	m.conversation = p.conversation(row.Get("agent").Text(), m.at)
	if !v.IsObject() {
		p.SessionProblem(&transcript.Problem{Kind: "not a message", Reason: "chat_message is no JSON object", Origin: p.Row.Origin})
		p.Uncounted(transcript.KindUnknown, "", m.at)
		return
	}
	if m.id != "" && p.seen[m.id] {
		m.emit(m.Event(transcript.KindLifecycle, "", "copy", row.Get("table")), transcript.Uncounted)
		return
	}
	p.seen[m.id] = true
	isSummary := !row.Get("metadata", "summarized_from").IsNull()
	switch role := v.Get("role").Word(); role {
	case "user":
		m.prompt(v)
	case "assistant":
		m.answer(v, isSummary)
		m.usage(v)
	case "tool":
		m.result(v)
	case "system":
		kind := transcript.KindSystem
		if isSummary {
			kind = transcript.KindCompaction
		}
		m.say(v.Get("content"), kind, role, transcript.Counted)
	default:
		m.emit(m.Event(transcript.KindUnknown, role, role, v), transcript.Uncounted)
	}
	if m.n == 0 {
		m.emit(m.Event(transcript.KindNotice, v.Get("role").Word(), "message", v), transcript.Uncounted)
	}
}

func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Agent = m.conversation.ID, m.Session, verdict, m.at, m.conversation.Agent
	if e.Role == "assistant" {
		e.Model = m.model
	}
	if m.id != "" && e.Type != "copy" {
		e.ID = m.id + "/" + strconv.Itoa(m.n)
	}
	m.n++
	m.Emit(e)
}

// say yields a text, which may be a list of blocks, if there is one.
func (m *message) say(text jsontext.Value, kind transcript.Kind, role string, verdict transcript.Verdict) {
	if !text.IsBlank() || text.HasItems() {
		m.emit(m.Event(kind, role, role, text), verdict)
	}
}

// prompt yields what the user, or the caller of a sub-agent, wrote, or what the program itself has put into the user's role, such as a conversation to
// be summarised.
func (m *message) prompt(v jsontext.Value) {
	meta := v.Get("metadata")
	isUser, source := meta.Get("is_user_input").Bool(), meta.Get("telemetry", "source").Word()
	if isUser == transcript.Yes || source == "user" || isUser == transcript.Unstated && source == "" || m.conversation.Child {
		m.say(v.Get("content"), transcript.KindMessage, "user", transcript.Counted)
		m.title(m.conversation, v.Get("content"))
	} else {
		m.say(v.Get("content"), transcript.KindSystem, "system", transcript.Counted)
	}
}

// answer yields what the agent thought, said and called. What it said as a summary is what the conversation goes on from, in a message of its own.
func (m *message) answer(v jsontext.Value, isSummary bool) {
	m.state(m.conversation, "", m.model)
	thought := v.Get("thinking")
	if thought.IsObject() {
		thought = thought.Get("thinking")
	}
	m.say(thought, transcript.KindReasoning, "assistant", transcript.Counted)
	if isSummary {
		m.say(v.Get("content"), transcript.KindCompaction, "assistant", transcript.Uncounted)
	} else {
		m.say(v.Get("content"), transcript.KindMessage, "assistant", transcript.Counted)
	}
	for call := range v.Get("tool_calls").Items() {
		m.call(call)
	}
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"file_path", "notebook_path", "path", "workdir", "cwd"}
	pathLists = []string{"file_paths", "paths"}
)

func (m *message) call(v jsontext.Value) {
	input := inputOf(v)
	e := m.Event(transcript.KindToolCall, "assistant", "tool_call", v)
	c := &transcript.Call{
		ID: v.Get("id").Str(), Name: nameOf(v), Input: int64(input.Len()), Paths: format.Paths(input.UnwrapContainer(), pathNames, pathLists),
	}
	m.tools[c.ID] = c.Name
	e.Parts[0].Call = c
	m.emit(e, transcript.Counted)
}

func nameOf(call jsontext.Value) string {
	return cmp.Or(call.Get("name").Str(), call.Get("function", "name").Str())
}

func inputOf(call jsontext.Value) jsontext.Value {
	if input := call.Get("arguments"); input.Exists() {
		return input
	}
	return call.Get("function", "arguments")
}

// result yields the result of a call. That of a sub-agent states which one it was.
func (m *message) result(v jsontext.Value) {
	more := v.Get("metadata", "extensions")
	output := v.Get("content")
	if !output.Exists() {
		output = v.Get("role")
	}
	id := v.Get("tool_call_id").Str()
	failed := more.Get("chisel/tool_result_meta", "success").Bool().Not()
	res := &transcript.Result{Call: id, Name: m.tools[id], Output: int64(output.Len()), Failed: failed}
	if ms, ok := more.Get("chisel/tool_call_timing", "duration_ms").Int(); ok && ms >= 0 && ms < 1<<40 {
		res.Duration = transcript.Known(ms * 1000)
	}
	e := m.Event(transcript.KindToolResult, "tool", "tool", output)
	e.Parts[0].Result = res
	m.emit(e, transcript.Counted)
	if agent := more.Get("subagent/agent_id").Str(); m.begun[agent] != nil {
		m.state(m.begun[agent], more.Get("subagent/profile_name").Str(), more.Get("subagent/model").Str())
	}
}

// usage yields the request of an answer, if it states one.
func (m *message) usage(v jsontext.Value) {
	meta := v.Get("metadata")
	n := meta.Get("metrics")
	u := &transcript.Usage{
		Run: m.Session, Conversation: m.conversation.ID, Time: m.at, Model: m.model, Agent: m.conversation.Agent, RequestID: meta.Get("request_id").Str(),
		Requests: transcript.Known(1), Input: n.Get("input_tokens").Tokens(), Output: n.Get("output_tokens").Tokens(),
		CacheRead: n.Get("cache_read_tokens").Tokens(), CacheWrite: n.Get("cache_creation_tokens").Tokens(),
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 {
		return
	}
	if m.id != "" {
		u.Key = m.Session + "/" + m.id
	}
	u.Origin = jsontext.OriginIn(m.Row.Origin, m.Row.Value, n)
	m.Emit(u)
}
