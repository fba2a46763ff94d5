package kimi

import (
	"cmp"
	"hash/fnv"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// countedKinds are the types of messages of Kimi CLI that are events.
var countedKinds = map[string]bool{"TurnBegin": true, "SteerInput": true, "ContentPart": true, "ToolCall": true, "ToolResult": true}

// wireKinds are those that are none.
var wireKinds = map[string]transcript.Kind{
	"TurnEnd": transcript.KindLifecycle, "StepBegin": transcript.KindLifecycle, "StepInterrupted": transcript.KindLifecycle, "StatusUpdate": transcript.KindLifecycle,
	"CompactionBegin": transcript.KindCompaction, "CompactionEnd": transcript.KindCompaction, "HookTriggered": transcript.KindLifecycle,
	"HookResolved": transcript.KindLifecycle, "HookRequest": transcript.KindLifecycle, "MCPLoadingBegin": transcript.KindLifecycle,
	"MCPLoadingEnd": transcript.KindLifecycle, "Notification": transcript.KindNotice, "PlanDisplay": transcript.KindNotice,
	"ToolCallPart": transcript.KindNotice, "ApprovalRequest": transcript.KindLifecycle, "ApprovalResponse": transcript.KindLifecycle,
	"ApprovalRequestResolved": transcript.KindLifecycle, "ToolCallRequest": transcript.KindLifecycle, "QuestionRequest": transcript.KindNotice,
	"SubagentEvent": transcript.KindNotice,
}

// message is one of the wire of Kimi CLI: a type and what goes with it. That of a subagent may be inside of its parent's.
type message struct {
	typ     string
	payload format.Value
	whole   format.Value // what it is known by
	task    string       // call of the parent that the subagent works on, "" of the session's own
	agent   string       // of a subagent with a file of its own
}

func wireMessage(v format.Value) message {
	return message{typ: v.Get("type").Word(), payload: v.Get("payload"), whole: v}
}

// task is what a call says of the subagent that it starts.
type task struct{ agent, title string }

// message yields what a line of Kimi CLI says.
func (p *parser) message(l line, m message) {
	l.typ = m.typ
	body := m.payload
	if !body.Exists() {
		body = l.value
	}
	var e *transcript.Event
	switch m.typ {
	case "TurnBegin", "SteerInput":
		said := body.Get("user_input")
		if !said.Exists() {
			said = body
		}
		e = p.event(l, said, transcript.KindMessage, "user")
		if m.task == "" {
			p.prompted(firstText(said))
		}
	case "ContentPart":
		kind := transcript.KindMessage
		if body.Get("type").Is("think") {
			kind = transcript.KindReasoning
		}
		e = p.event(l, body, kind, "assistant")
	case "ToolCall":
		e = p.call(l, body)
	case "ToolResult":
		value := body.Get("return_value")
		if !value.Exists() {
			value = body.Get("result")
		}
		e = p.event(l, body, transcript.KindToolResult, "tool")
		e.Parts[0].Result = p.result(body.Get("tool_call_id"), value.Get("is_error"), value)
	case "SubagentEvent":
		if m.task == "" && m.agent == "" && p.subagent(l, body) {
			return
		}
	case "StatusUpdate":
		if u := p.status(l, m); u != nil {
			p.Emit(u)
			return
		}
	}
	if e == nil {
		kind, known := wireKinds[m.typ]
		if !known {
			kind = transcript.KindUnknown
		}
		e = p.aside(l, kind)
	}
	if m.agent != "" { // its own file tells it, too
		e.Verdict = transcript.Uncounted
		e.Attributes.Set("subagent", m.agent)
	} else {
		e.Conversation = cmp.Or(m.task, e.Conversation)
		p.known(l, e, m)
	}
	p.Emit(e)
}

// known gives an event the identity that it has in copies of its line, where its time is a clock's own.
func (p *parser) known(l line, e *transcript.Event, m message) {
	if e.Verdict != transcript.Counted || !fine(l.clock) {
		return
	}
	h := fnv.New64a()
	h.Write(m.whole.Raw())
	e.ID, e.Global = string(l.clock.Raw())+" "+strconv.FormatUint(h.Sum64(), 16), true
}

func (p *parser) call(l line, body format.Value) *transcript.Event {
	function := body.Get("function")
	args := function.Get("arguments")
	c := &transcript.Call{ID: body.Get("id").Text(), Name: function.Get("name").Str(), Input: int64(args.Len())}
	inside := args.Inside()
	c.Paths = format.Paths(inside, pathNames, nil)
	p.names[c.ID] = c.Name
	if c.Name == "Task" || c.Name == "Agent" {
		t := task{agent: inside.Get("subagent_name").Str(), title: format.Title(inside.Get("description").Str())}
		if t.agent == "" {
			t.agent = inside.Get("subagent_type").Str()
		}
		p.tasks[c.ID] = t
	}
	e := p.event(l, body, transcript.KindToolCall, "assistant")
	e.Parts[0].Call = c
	return e
}

// subagent yields what a subagent says through its parent. Newer versions give it a file of its own, too: then only its tokens are
// told from here, should that file be missing.
func (p *parser) subagent(l line, body format.Value) bool {
	inner := wireMessage(body.Get("event"))
	if inner.typ == "" {
		return false
	}
	inner.agent, inner.task = body.Get("agent_id").Str(), body.Get("parent_tool_call_id").Text()
	if inner.task == "" {
		inner.task = body.Get("task_tool_call_id").Text()
	}
	switch {
	case inner.agent != "":
		id := agentRun(p.session, inner.agent)
		if !p.told[id] {
			p.told[id] = true
			p.Emit(&transcript.Run{ID: id, Named: true, Child: true, Agent: body.Get("subagent_type").Str(), Group: p.place.bucket})
			edge := &transcript.Link{Kind: "parent", From: transcript.RunEnd(p.session), To: transcript.RunEnd(id), Time: l.at, Origin: l.origin}
			edge.Attributes.Set("call", inner.task)
			p.Emit(edge)
		}
	case inner.task == "" || inner.task == p.conversation:
		return false
	case !p.told[inner.task]:
		p.told[inner.task] = true
		t := p.tasks[inner.task]
		p.Emit(&transcript.Conversation{ID: inner.task, Run: p.run, Child: true, Title: t.title, Agent: t.agent, Started: l.at})
	}
	p.message(l, inner)
	return true
}

// status yields the tokens of a step, where a status has any.
func (p *parser) status(l line, m message) *transcript.Usage {
	u := p.spent(l, m.payload.Get("token_usage"), wireTokens, "")
	if u == nil {
		return nil
	}
	id := m.payload.Get("message_id").Text()
	u.RequestID = id
	agent := cmp.Or(m.agent, p.place.agent)
	switch said := sum(u); {
	case agent != "": // two files tell it, at two times
		u.Run = agentRun(p.session, agent)
		u.Conversation, u.Key = agent, u.Run+" "+id+" "+said
		if m.agent == "" {
			u.Rank = 1
		}
	case fine(l.clock):
		u.Key = string(l.clock.Raw()) + " " + id + " " + said
	default:
		u.Key = p.run + " " + string(l.clock.Raw()) + " " + id + " " + said
	}
	if m.agent == "" && m.task != "" {
		u.Conversation = m.task
	}
	u.Key = p.nth(u.Key)
	return u
}
