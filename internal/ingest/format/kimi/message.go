package kimi

import (
	"cmp"
	"hash/fnv"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// countedMessages are the message types of Kimi CLI that are counted events.
var countedMessages = map[string]bool{"TurnBegin": true, "SteerInput": true, "ContentPart": true, "ToolCall": true, "ToolResult": true}

// uncountedMessage returns the kind of its other known message types, "" of others.
func uncountedMessage(typ string) transcript.Kind {
	switch typ {
	case "TurnEnd", "StepBegin", "StepInterrupted", "StatusUpdate", "HookTriggered", "HookResolved", "HookRequest", "MCPLoadingBegin",
		"MCPLoadingEnd", "ApprovalRequest", "ApprovalResponse", "ApprovalRequestResolved", "ToolCallRequest":
		return transcript.KindLifecycle
	case "CompactionBegin", "CompactionEnd":
		return transcript.KindCompaction
	case "Notification", "PlanDisplay", "ToolCallPart", "QuestionRequest", "SubagentEvent":
		return transcript.KindNotice
	}
	return ""
}

// message is a wire message of Kimi CLI: a type and a payload. A subagent's may be inside its parent's.
type message struct {
	typ     string
	payload jsontext.Value
	raw     jsontext.Value // the whole message, whose bytes identify it
	task    string         // the parent's call that started the subagent, "" for the session itself
	agent   string         // id of a subagent that has its own file
}

func wireMessage(v jsontext.Value) message {
	return message{typ: v.Get("type").Word(), payload: v.Get("payload"), raw: v}
}

// task is what a call states about the subagent that it starts.
type task struct{ agent, title string }

// message yields the records of a line of Kimi CLI.
func (p *parser) message(l line, m message) {
	l.typ = m.typ
	body := m.payload
	if !body.Exists() {
		body = l.value
	}
	var e *transcript.Event
	switch m.typ {
	case "TurnBegin", "SteerInput":
		text := body.Get("user_input")
		if !text.Exists() {
			text = body
		}
		e = p.event(l, text, transcript.KindMessage, "user")
		if m.task == "" {
			p.setTitleFrom(firstText(text))
		}
	case "ContentPart":
		e = p.event(l, body, partKind(body), "assistant")
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
		if u := p.statusUsage(l, m); u != nil {
			p.Emit(u)
			return
		}
	}
	if e == nil {
		e = p.uncountedRow(l, cmp.Or(uncountedMessage(m.typ), transcript.KindUnknown))
	}
	if m.agent != "" { // its own file has it, too
		e.Verdict = transcript.Uncounted
		e.Attributes.Set("subagent", m.agent)
	} else {
		e.Conversation = cmp.Or(m.task, e.Conversation)
		p.setGlobalID(l, e, m)
	}
	p.Emit(e)
}

// setGlobalID gives an event an id that copies of its line share, if its time is precise enough.
func (p *parser) setGlobalID(l line, e *transcript.Event, m message) {
	if e.Verdict != transcript.Counted || !isPrecise(l.clock) {
		return
	}
	h := fnv.New64a()
	h.Write(m.raw.Raw())
	e.ID, e.Global = string(l.clock.Raw())+" "+strconv.FormatUint(h.Sum64(), 16), true
}

func (p *parser) call(l line, body jsontext.Value) *transcript.Event {
	function := body.Get("function")
	args := function.Get("arguments")
	c := &transcript.Call{ID: body.Get("id").Text(), Name: function.Get("name").Str(), Input: int64(args.Len())}
	inside := args.Inside()
	c.Paths = format.Paths(inside, pathNames, nil)
	p.toolNames[c.ID] = c.Name
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

// subagent yields a message of a subagent in its parent's file. Newer versions also give the subagent a file of its own: then only its tokens
// are taken from here, in case that file is missing.
func (p *parser) subagent(l line, body jsontext.Value) bool {
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
		if !p.emitted[id] {
			p.emitted[id] = true
			p.Emit(&transcript.Run{ID: id, Named: true, Child: true, Agent: body.Get("subagent_type").Str(), Group: p.loc.bucket})
			edge := &transcript.Link{Kind: "parent", From: transcript.RunEnd(p.session), To: transcript.RunEnd(id), Time: l.at, Origin: l.origin}
			edge.Attributes.Set("call", inner.task)
			p.Emit(edge)
		}
	case inner.task == "" || inner.task == p.conversation:
		return false
	case !p.emitted[inner.task]:
		p.emitted[inner.task] = true
		t := p.tasks[inner.task]
		p.Emit(&transcript.Conversation{ID: inner.task, Run: p.run, Child: true, Title: t.title, Agent: t.agent, Started: l.at})
	}
	p.message(l, inner)
	return true
}

// statusUsage yields the tokens of a step, if a StatusUpdate states any.
func (p *parser) statusUsage(l line, m message) *transcript.Usage {
	u := p.readUsage(l, m.payload.Get("token_usage"), wireTokens, "")
	if u == nil {
		return nil
	}
	id := m.payload.Get("message_id").Text()
	u.RequestID = id
	agent := cmp.Or(m.agent, p.loc.agent)
	switch counts := countsText(u); {
	case agent != "": // two files state it, with two times
		u.Run = agentRun(p.session, agent)
		u.Conversation, u.Key = agent, u.Run+" "+id+" "+counts
		if m.agent == "" {
			u.Rank = 1
		}
	case isPrecise(l.clock):
		u.Key = string(l.clock.Raw()) + " " + id + " " + counts
	default:
		u.Key = p.run + " " + string(l.clock.Raw()) + " " + id + " " + counts
	}
	if m.agent == "" && m.task != "" {
		u.Conversation = m.task
	}
	if id == "" {
		u.Key = p.uniqueKey(u.Key)
	}
	return u
}
