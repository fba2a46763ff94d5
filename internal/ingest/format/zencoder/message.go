package zencoder

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one session.
type parser struct {
	format.Rows

	run   transcript.Run
	names map[string]string // tools by call id

	// state of the current message
	role string
	at   transcript.Time
}

// emitRun yields the run and its conversation.
func (p *parser) emitRun() {
	p.run.ID = p.Session
	run := p.run
	p.Emit(&run)
	p.Emit(&transcript.Conversation{Run: run.ID, Title: run.Title, Project: run.Project, Model: run.Model, Started: run.Started, Ended: run.Ended})
}

// line yields the records of a line: the first may be a header.
func (p *parser) line(v jsontext.Value) {
	header := !p.Begun && isHeader(v)
	if header {
		p.Session = cmp.Or(v.Get("id").Str(), p.Session)
		p.run.Model = v.Get("modelId").Str()
		format.Extend(&p.run.Started, &p.run.Ended, v.Get("createdAt").Time())
	}
	if !p.Begun {
		p.Begun = true
		p.emitRun()
	}
	if header {
		p.continuation(v)
		p.Uncounted(transcript.KindLifecycle, "header", p.run.Started)
		return
	}
	p.message(v)
}

// continuation links a session to the one that it goes on from.
func (p *parser) continuation(v jsontext.Value) {
	parent := v.Get("parentId").Str()
	switch v.Get("creationReason").Word() {
	case "directContinuation", "summarizedContinuation", "summarizationRequest":
		if parent != "" && parent != p.Session {
			p.Emit(&transcript.Run{ID: parent, Named: true})
			p.Emit(&transcript.Link{Kind: "resume", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.Session), Origin: p.Row.Origin})
		}
	}
}

// message yields the events of a message.
func (p *parser) message(v jsontext.Value) {
	p.role, p.at = v.Get("role").Word(), v.Get("createdAt").Time()
	format.Extend(&p.run.Started, &p.run.Ended, p.at)
	content := v.Get("content")
	switch p.role {
	case "system":
		if m := directory.FindStringSubmatch(content.Str()); m != nil && p.run.Project == "" {
			p.run.Project = strings.TrimSpace(m[1])
		}
		p.emit(p.Event(transcript.KindSystem, p.role, p.role, cmp.Or(content, v)), transcript.Counted)
	case "user":
		p.prompt(content)
	case "assistant", "tool":
		for block := range content.Items() {
			p.block(block)
		}
	}
	if p.role == "system" || content.HasItems() {
		return
	}
	kind := transcript.KindUnknown
	if p.role == "finish" || p.role == "permission" {
		kind = transcript.KindLifecycle
	}
	p.emit(p.Event(kind, "", p.role, v), transcript.Uncounted)
}

// directory matches the line with the working directory in the prompt of the system.
var directory = lazyregexp.New(`Working directory:[ \t]+(.+)`)

// prompt yields what the user wrote as one event, and what the program has added to it: reminders, instructions and skills.
func (p *parser) prompt(content jsontext.Value) {
	var said *transcript.Event
	for block := range content.Items() {
		tag := block.Get("tag").Str()
		if !block.Get("type").Is("text") || tag != "" && tag != "user-input" {
			continue
		}
		if said == nil {
			said = p.Event(transcript.KindMessage, p.role, "text", block)
			if p.run.Title == "" {
				p.run.Title = format.Title(block.Get("text").Str())
			}
		} else {
			said.Parts = append(said.Parts, p.Part(block))
		}
	}
	if said != nil {
		p.emit(said, transcript.Counted)
	}
	for block := range content.Items() {
		switch tag := block.Get("tag").Str(); {
		case block.Get("type").Is("text") && (tag == "" || tag == "user-input"):
		case block.Get("type").Is("text"), block.Get("type").Is("skill"):
			p.emit(p.Event(transcript.KindSystem, "system", block.Get("type").Word(), block), transcript.Counted)
		default:
			p.emit(p.Event(transcript.KindUnknown, p.role, block.Get("type").Word(), block), transcript.Uncounted)
		}
	}
}

// block yields the event of a block of an answer, or of a tool's result.
func (p *parser) block(v jsontext.Value) {
	typ, id := v.Get("type").Word(), v.Get("toolCallId").Text()
	switch typ {
	case "text":
		p.emit(p.Event(transcript.KindMessage, p.role, typ, v), transcript.Counted)
	case "reasoning":
		p.emit(p.Event(transcript.KindReasoning, "assistant", typ, v), transcript.Counted)
	case "tool-call":
		e, input := p.Event(transcript.KindToolCall, "assistant", typ, v), v.Get("input")
		e.Parts[0].Call = &transcript.Call{ID: id, Name: v.Get("toolName").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
		p.names[id] = e.Parts[0].Call.Name
		p.emit(e, transcript.Counted)
	case "tool-result":
		e := p.Event(transcript.KindToolResult, "tool", typ, v)
		e.Parts[0].Result = &transcript.Result{Call: id, Name: p.names[id], Failed: v.Get("isError").Bool(), Output: int64(v.Get("content").Len())}
		p.emit(e, transcript.Counted)
		p.subagent(v, p.names[id])
	default:
		p.emit(p.Event(transcript.KindUnknown, p.role, typ, v), transcript.Uncounted)
	}
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file_path", "path"}

// sessionID matches the session of a sub-agent in the result of the tool that has started it.
var sessionID = lazyregexp.New(`<session-id>([\w-]{1,64})</session-id>`)

// subagent links the session of a sub-agent.
func (p *parser) subagent(result jsontext.Value, tool string) {
	if !strings.Contains(strings.ToLower(tool), "subagent") {
		return
	}
	for block := range result.Get("content").Items() {
		if m := sessionID.FindStringSubmatch(block.Get("text").Str()); m != nil && m[1] != p.Session {
			p.Emit(&transcript.Run{ID: m[1], Named: true, Child: true})
			p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.Session), To: transcript.RunEnd(m[1]), Origin: p.Row.Origin})
		}
	}
}

func (p *parser) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Run, e.Verdict, e.Time = p.Session, verdict, p.at
	if p.at.Valid {
		e.ID, e.Global = p.identity(e), true
	}
	p.Emit(e)
}

// identity returns the id of an event.
func (p *parser) identity(e *transcript.Event) string {
	texts := []string{p.Row.Value.Get("createdAt").Str(), p.role, e.Type}
	for _, part := range e.Parts {
		texts = append(texts, part.Text)
	}
	return format.HashUUID(append(texts, "")...)
}
