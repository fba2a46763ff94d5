package sweagent

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// only is the id of the only conversation of a run of mini.
const only = "main"

// mini yields the records of a trajectory of mini. The oldest are only the list of its messages.
func (p *parser) mini(doc jsontext.Value) {
	messages, info := doc.Get("messages"), doc.Get("info")
	if doc.IsArray() {
		messages = doc
	}
	if !messages.HasItems() {
		p.nothing(doc, info)
		return
	}
	run := runOf(doc, info)
	if id := doc.Get("instance_id").Str(); id != "" {
		p.run = id
	}
	run.Local, run.Anchor, run.Anchored = true, beganWith(messages), true
	run.ID = p.run + " " + run.Anchor[:8]
	p.run, p.conversation, p.model = run.ID, only, run.Model
	p.fillMini(run, messages, info)
	p.Emit(run)
	p.Emit(&transcript.Conversation{ID: only, Run: p.run, Title: run.Title, Model: run.Model, Project: run.Project, Version: run.Version,
		Status: run.Status, Started: run.Started, Ended: run.Ended})
	stated := p.messages(messages, run.Anchor)
	p.at = transcript.Time{}
	p.row(info, "info", transcript.KindLifecycle)
	p.patch(&attempt{history: messages, info: info})
	verdict := transcript.Counted
	if stated {
		verdict = transcript.DerivedTotal
	}
	p.total(info.Get("model_stats"), run.Anchor+" total", "", false, verdict)
}

// beganWith returns the anchor of a run: its prompts and the message after them, which the first content of the file has already. In version 1 nothing
// but text may tell one answer from another, so there the output of its command is included: it was written with it.
func beganWith(messages jsontext.Value) string {
	began := newAnchor()
	for n, m := range messages.Numbered() {
		began.add(m.Get("role"), m.Get("content"), m.Get("output"), m.Get("extra", "timestamp"), m.Get("extra", "response", "id"))
		if n == 3 || n == 2 && (m.Get("extra").Exists() || !m.Get("role").Is("assistant")) {
			break
		}
	}
	return began.String()
}

// messages yields the events of messages and the tokens of responses, and reports whether any are stated.
func (p *parser) messages(messages jsontext.Value, anchor string) (stated bool) {
	for n, m := range messages.Numbered() {
		if p.Done() {
			return stated
		}
		id := strconv.Itoa(n)
		if at := timeOf(m); at.Valid {
			p.at = at
		}
		p.message(m, id)
		stated = p.response(m, anchor+"/"+id) || stated
	}
	return stated
}

// timeOf returns when a message came, which version 1 states only in responses.
func timeOf(m jsontext.Value) transcript.Time {
	if at := m.Get("extra", "timestamp").UnixTime(); at.Valid {
		return at
	}
	return m.Get("extra", "response").First("created", "created_at").UnixTime()
}

// message yields the events of one message: of the completions API, of the responses API, or the program's own.
func (p *parser) message(m jsontext.Value, id string) {
	content := m.Get("content")
	switch role := m.Get("role").Word(); {
	case m.Get("object").Is("response"):
		p.outputs(m, id)
	case m.Get("type").Is("function_call_output"):
		p.result(m, m.Get("output"), id, m.Get("call_id").Str())
	case role == "system":
		p.say(m, content, id, transcript.KindSystem, role)
	case role == "assistant":
		p.said(m, id)
	case role == "tool":
		p.result(m, content, id, cmp.Or(m.Get("tool_call_id").Str(), p.open))
	case role == "user" && m.Get("extra", "interrupt_type").IsString():
		p.interrupt(m, id)
	case role == "user" && m.Get("extra", "actions").HasItems():
		p.typed(m, id)
	case role == "user" && p.open != "":
		p.result(m, content, id, p.open)
	case role == "user":
		p.say(m, content, id, transcript.KindMessage, role)
	case role == "exit":
		p.emptyRow(m, id, transcript.KindLifecycle)
	default:
		p.emptyRow(m, id, transcript.KindUnknown)
	}
}

// interrupt yields what the user said between steps, or the program's complaint about an answer. Since 2.0 that answer is no message: some versions
// keep the response beside the complaint.
func (p *parser) interrupt(m jsontext.Value, id string) {
	kind, role := transcript.KindMessage, "user"
	switch m.Get("extra", "interrupt_type").Str() {
	case "UserInterruption", "UserNewTask", "UserRejection":
	default:
		kind, role = transcript.KindSystem, "system"
	}
	response, text := m.Get("extra", "response"), m.Get("extra", "model_response")
	for choice := range response.Get("choices").Items() {
		p.said(cmp.Or(choice.Get("message"), choice), id+"/answer")
	}
	switch {
	case response.Get("output").HasItems():
		p.outputs(response, id+"/answer")
	case !response.Get("choices").HasItems():
		p.answerText(text, id+"/answer")
	}
	p.open = ""
	p.say(m, m.Get("content"), id, kind, role)
}

// said yields an answer: reasoning, what it says, and its calls, which are commands in its text if the model was not given tools.
func (p *parser) said(m jsontext.Value, id string) {
	p.answered, p.open = true, ""
	content, calls := m.Get("content"), m.Get("tool_calls")
	actions, human := m.Get("extra", "actions"), m.Get("extra", "action")
	p.reasoning(m, id)
	p.answerText(content, id)
	switch {
	case human.IsString():
		p.Emit(p.command(human, id+"/action"))
	case calls.HasItems():
		p.toolCalls(calls, id)
	case actions.HasItems():
		for n, a := range actions.Numbered() {
			p.Emit(p.command(a, id+"/action/"+strconv.Itoa(n)))
		}
	case hasWords(content):
		p.quotedCommand(content, id)
	default:
		p.emptyRow(m, id, transcript.KindNotice)
	}
}

// outputs yields the items of a response of the responses API.
func (p *parser) outputs(response jsontext.Value, id string) {
	p.answered, p.open = true, ""
	for n, item := range response.Get("output").Numbered() {
		id := id + "/" + strconv.Itoa(n)
		switch item.Get("type").Word() {
		case "reasoning":
			p.thought(item, id)
		case "message":
			p.answerText(item.Get("content"), id)
		case "function_call":
			p.call(item, id)
		default:
			p.emptyRow(item, id, transcript.KindUnknown)
		}
	}
	if !response.Get("output").HasItems() {
		p.emptyRow(response, id, transcript.KindNotice)
	}
}

// typed yields what the user has run in human mode. The message itself repeats it, in a block of code.
func (p *parser) typed(m jsontext.Value, id string) {
	p.open = ""
	for n, a := range m.Get("extra", "actions").Numbered() {
		e := p.command(a, id+"/action/"+strconv.Itoa(n))
		e.Role, e.Model = "user", ""
		p.Emit(e)
	}
}

// command returns a command that the program found in an answer: a string, or an object with it.
func (p *parser) command(v jsontext.Value, id string) *transcript.Event {
	if command := v.Get("command"); command.IsString() {
		v = command
	}
	return p.textCall(v, id, shell)
}

// quotedCommand yields the command in an answer's text that nothing else states, as in version 1. Its bytes begin with the line break before it.
func (p *parser) quotedCommand(content jsontext.Value, id string) {
	from, length := commandIn(content.Body())
	if length == 0 {
		return
	}
	e := p.textCall(content, id+"/action", shell)
	e.Origin.Offset, e.Origin.Length = e.Origin.Offset+int64(len(`"`)+from), int64(length)
	e.Parts[0].Text = commandText(content.Body()[from : from+length])
	e.Parts[0].Call.Input = int64(length)
	p.Emit(e)
}
