package kiro

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Early versions of the editor keep the prompts of a session in one file, with a placeholder for each answer, and what was done for a
// prompt in a file of its own: an execution.

// placeholder is what a session has for an answer.
const placeholder = "On it."

// editorDoc reads a document of the editor.
func (p *parser) editorDoc() (doc jsontext.Value) {
	p.run = format.Stem(p.in.Path)
	doc, at := p.Document(p.in.Reader, p.problem)
	if doc.Exists() {
		p.file = at.Offset - doc.Offset()
		p.at(doc)
	}
	return doc
}

// workspace yields the records of a session.
func (p *parser) workspace() {
	doc := p.editorDoc()
	if !doc.Exists() {
		return
	}
	p.begin(cmp.Or(doc.Get("sessionId").Str(), p.run), orderWorkspace)
	c := &p.conv
	c.Title, c.Project = format.Title(doc.Get("title").Str()), cmp.Or(doc.Get("workspaceDirectory").Str(), doc.Get("workspacePath").Str())
	c.Model = doc.Get("selectedModel").Str()
	history := doc.Get("history")
	if !history.HasItems() {
		p.Emit(&transcript.Run{ID: p.run, Named: true, Title: c.Title, Project: c.Project})
		p.named = true
		p.aside(transcript.KindLifecycle, roleSession, transcript.Time{}, doc.Get("title"), nil)
		return
	}
	var items []jsontext.Value
	for item := range history.Items() {
		items = append(items, item)
	}
	for i, item := range items {
		if p.Done() {
			return
		}
		execution := item.Get("executionId").Str()
		if i+1 < len(items) && execution == "" { // a prompt: the answer names it
			execution = items[i+1].Get("executionId").Str()
		}
		p.at(item)
		p.told(item, execution)
	}
	p.end()
}

// told yields the event of one message of a session.
func (p *parser) told(item jsontext.Value, execution string) {
	message := item.Get("message")
	role, content := message.Get("role").Word(), message.Get("content")
	id := cmp.Or(message.Get("id").Str(), execution)
	switch {
	case role == "user" && hasWords(content):
		if execution != "" {
			id = execution + promptSuffix
		}
		p.titled(firstText(content))
		p.say(p.event(transcript.KindMessage, role, role, id, message))
	case role == "assistant" && hasWords(content) && !firstText(content).Is(placeholder):
		if execution != "" {
			id = execution + answerSuffix
		}
		p.say(p.event(transcript.KindMessage, role, role, id, message))
	case role == "tool" && hasWords(content):
		e := p.event(transcript.KindToolResult, role, role, id, message)
		e.Parts[0].Result = &transcript.Result{Output: int64(content.Len())}
		p.say(e)
	case role == "user", role == "assistant", role == "tool", role == "system":
		p.aside(transcript.KindNotice, role, transcript.Time{}, message, nil)
	default:
		p.aside(transcript.KindUnknown, role, transcript.Time{}, item, nil)
	}
	if logs := item.Get("promptLogs"); logs.HasItems() {
		p.aside(transcript.KindNotice, "promptLogs", transcript.Time{}, logs, nil)
	}
}

// A prompt, and an answer, as a session and an execution identify them.
const (
	promptSuffix = "/prompt"
	answerSuffix = "/answer"
)

// list yields the records of the list of sessions in a directory.
func (p *parser) list() {
	p.run = "kiro"
	for o := range p.Each(jsontext.Elements(p.in.Reader, p.problem)) {
		v := o.Value
		p.lend.Reset()
		p.base, p.origin = v, o.Origin
		id := v.Get("sessionId").Text()
		if id == "" {
			p.Emit(&transcript.Problem{Run: "kiro", Kind: "no session", Reason: "the element names no session", Origin: p.origin})
			continue
		}
		p.begin(id, "")
		at := v.Get("dateCreated").Unwrap().MilliTime()
		p.Emit(&transcript.Run{ID: id, Named: true, Rank: rankSession, Title: format.Title(v.Get("title").Str()), Project: v.Get("workspaceDirectory").Str(), Started: at})
		p.named = true
		p.aside(transcript.KindLifecycle, roleSession, at, v.Get("title"), nil)
	}
}

// execution yields the records of an execution: the prompt, what the model said, and what it did.
func (p *parser) execution() {
	doc := p.editorDoc()
	if !doc.Exists() {
		return
	}
	id, start := cmp.Or(doc.Get("executionId").Str(), p.run), doc.Get("startTime").MilliTime()
	p.begin(cmp.Or(doc.Get("chatSessionId").Str(), id), fmt.Sprintf("%s %016d %s", orderExecution, max(start.UnixMicro, 0), id))
	p.conv.Rank = rankExecution
	// The row of the execution itself: it takes back the answer that a session may have.
	e := p.event(transcript.KindLifecycle, "", roleExecution, id+answerSuffix, doc.Get("executionId"))
	e.Run, e.Time, e.Verdict = "", start, transcript.Uncounted
	e.Attributes.Set("workflow", doc.Get("workflowType").Str())
	e.Attributes.Set("status", doc.Get("status").Str())
	setCredits(&e.Attributes, credits(doc.Get("usageSummary"), "usage"))
	p.say(e)
	if prompt := promptOf(doc.Get("input", "data")); hasWords(prompt) {
		p.at(prompt)
		p.titled(firstText(prompt))
		e := p.event(transcript.KindMessage, "user", "prompt", id+promptSuffix, prompt)
		e.Time = start
		p.say(e)
	}
	for action := range doc.Get("actions").Items() {
		if p.Done() {
			return
		}
		p.at(action)
		p.action(action, id)
	}
	p.end()
}

// promptOf returns the prompt of an execution: the last of what the user said in the session.
func promptOf(data jsontext.Value) (prompt jsontext.Value) {
	for message := range data.Get("messages").Items() {
		if role := message.Get("role"); role.Is("user") || !role.Exists() {
			prompt = message.Get("content")
		}
	}
	return cmp.Or(prompt, data.Get("userPrompt"))
}

// action yields the events of one action.
func (p *parser) action(v jsontext.Value, execution string) {
	typ, id, at := v.Get("actionType").Word(), v.Get("actionId").Str(), v.Get("emittedAt").MilliTime()
	input, output, state := v.Get("input"), v.Get("output"), v.Get("actionState").Word()
	if id != "" {
		id = execution + "/" + id
	}
	emit := func(e *transcript.Event) {
		e.Time = at
		p.say(e)
	}
	switch said := output.Get("message"); {
	case typ == "say" && said.IsString() && !said.IsBlank():
		emit(p.event(transcript.KindMessage, "assistant", typ, id, said))
	case !input.IsObject() || typ == "userInput":
		p.aside(transcript.KindLifecycle, typ, at, v, transcript.Attributes{"state": state})
	default:
		call := transcript.Call{ID: p.callID(id, typ), Name: cmp.Or(input.Get("toolName").Str(), typ), Input: int64(input.Len()), Paths: pathsOf(input)}
		e := p.event(transcript.KindToolCall, "assistant", typ, id, input)
		e.Parts[0].Call = &call
		emit(e)
		if !output.Exists() || output.IsNull() {
			return
		}
		e = p.event(transcript.KindToolResult, "tool", typ, resultID(id), output)
		res := &transcript.Result{Call: call.ID, Name: call.Name, Output: int64(output.Len()), Status: state}
		switch state {
		case "Success", "Accepted":
			res.Failed = transcript.No
		case "Error", "Failed", "Rejected", "Aborted":
			res.Failed = transcript.Yes
		}
		e.Parts[0].Result = res
		emit(e)
	}
}

// chat yields the records of an execution as the first versions wrote it: several times, each time with more messages.
func (p *parser) chat() {
	doc := p.editorDoc()
	if !doc.Exists() {
		return
	}
	p.begin(cmp.Or(doc.Get("executionId").Str(), p.run), "")
	meta := doc.Get("metadata")
	c := &p.conv
	c.Model, c.Started, c.Ended = meta.Get("modelId").Str(), meta.Get("startTime").MilliTime(), meta.Get("endTime").MilliTime()
	c.Attributes.Set("workflow", meta.Get("workflow").Str())
	p.aside(transcript.KindLifecycle, roleChat, c.Started, doc.Get("executionId"), nil)
	for message := range doc.Get("chat").Items() {
		if p.Done() {
			return
		}
		p.at(message)
		content := message.Get("content")
		kind, role, typ := transcript.KindMessage, "assistant", message.Get("role").Word()
		switch {
		case typ == "human" && isInstruction(firstText(content)):
			kind, role = transcript.KindSystem, "system"
		case typ == "human":
			role = "user"
		case typ == "tool":
			kind, role = transcript.KindToolResult, "tool"
		case typ != "bot":
			p.aside(transcript.KindUnknown, typ, transcript.Time{}, message, nil)
			continue
		}
		if !hasWords(content) {
			p.aside(transcript.KindNotice, typ, transcript.Time{}, message, nil)
			continue
		}
		e := p.event(kind, role, typ, p.textID(firstText(content)), message)
		switch kind {
		case transcript.KindToolResult:
			e.Parts[0].Result = &transcript.Result{Output: int64(content.Len())}
		default:
			if role == "user" {
				p.titled(firstText(content))
			}
		}
		if role == "assistant" {
			e.Model = c.Model
		}
		p.say(e)
	}
	p.end()
}

// requestRun is the run of requests that name no session.
const requestRun = "dev_data"

// requests yields the lines of the editor's log of requests.
func (p *parser) requests() {
	p.begin(requestRun, "")
	p.nameRun()
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		p.base, p.origin = o.Value, o.Origin
		p.aside(transcript.KindNotice, o.Value.Get("eventName").Word(), o.Value.Get("timestamp").Time(), jsontext.Value{}, nil)
	}
}
