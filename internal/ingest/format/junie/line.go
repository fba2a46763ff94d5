package junie

import (
	"cmp"
	"hash/fnv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// conversation is the id of the only conversation in a session.
const conversation = "main"

// emitHead yields what is known of the session.
func (p *parser) emitHead() {
	c := p.head
	c.ID, c.Run, c.Rank = conversation, p.Session, rankEvents
	p.Emit(&transcript.Run{ID: c.Run, Rank: c.Rank, Title: c.Title, Model: c.Model, Project: c.Project, Started: c.Started, Ended: c.Ended})
	p.Emit(&c)
}

// end yields the end of the session, which each line may move.
func (p *parser) end() {
	if p.Begun && p.head.Ended.Valid && !p.Done() {
		p.emitHead()
	}
}

// line yields the records of a line.
func (p *parser) line(v jsontext.Value) {
	p.at, p.agent = v.Get("timestampMs").MilliTime(), ""
	format.Extend(&p.head.Started, &p.head.Ended, p.at)
	if !p.Begun {
		p.Begun = true
		p.emitHead()
	}
	switch kind := v.Get("kind").Word(); kind {
	case "SessionA2uxEvent":
		p.agentEvent(v.Get("event", "agentEvent"))
	case "UserPromptEvent":
		p.prompt(v)
	case "UserResponseEvent":
		p.speech(v, transcript.KindMessage, "user", "", v.Get("prompt"))
	case "UserAsyncResponseEvent":
		p.speech(v, transcript.KindMessage, "user", "", v.First("entries", "response"))
	case "SystemMessageEvent":
		p.row(transcript.KindNotice)
	case "AgentTaskFailedEvent":
		p.row(transcript.KindError)
	case "SessionTitleSetEvent":
		p.setTitle(v.Get("name"))
		p.row(transcript.KindLifecycle)
	default:
		p.other(kind)
	}
}

// other yields a row for a line that only states how the program is, or whose kind is unknown.
func (p *parser) other(kind string) {
	if silent[kind] {
		p.row(transcript.KindLifecycle)
	} else {
		p.row(transcript.KindUnknown)
	}
}

// row yields the whole line as a row that does not count.
func (p *parser) row(kind transcript.Kind) { p.Uncounted(kind, kindOf(p.Row.Value), p.at) }

// repeated yields a row for a line that states nothing new.
func (p *parser) repeated(v jsontext.Value) { p.uncounted(v, v.Get("kind")) }

// uncounted yields a row that does not count, with a piece of the line as its text.
func (p *parser) uncounted(v, piece jsontext.Value) {
	e := p.Event(transcript.KindLifecycle, "", kindOf(v), piece)
	e.Run, e.Verdict, e.Time = p.Session, transcript.Uncounted, p.at
	p.Emit(e)
}

// emit yields an event of the conversation. of is what it belongs to, "" if only its place identifies it: of several with the same id, the last counts.
func (p *parser) emit(e *transcript.Event, of string) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Agent, e.ID = conversation, p.Session, transcript.Counted, p.at, p.agent, of
	p.Emit(e)
}

// isNew reports whether pieces are not what was last stated of something, and remembers them.
func (p *parser) isNew(of string, pieces ...jsontext.Value) bool {
	h := fnv.New64a()
	for _, v := range pieces {
		h.Write(v.Raw())
		h.Write([]byte{0})
	}
	sum := h.Sum64()
	if last, ok := p.said[of]; ok && last == sum {
		return false
	}
	p.said[of] = sum
	return true
}

// setTitle sets the title that the program or the user has given the session.
func (p *parser) setTitle(name jsontext.Value) {
	if title := format.Title(name.Str()); title != "" {
		p.head.Title, p.isNamed = title, true
		p.emitHead()
	}
}

// prompt yields what the user wrote: what the model is told, what the screen shows if that is another text, and the files that go with it.
func (p *parser) prompt(v jsontext.Value) {
	said, shown := v.Get("prompt"), v.Get("presentablePrompt")
	title := format.Title(cmp.Or(shown.Str(), said.Str()))
	if !p.isNamed && p.head.Title == "" && title != "" {
		p.head.Title = title
		p.emitHead()
	}
	var parts []transcript.Part
	if !said.IsBlank() {
		parts = append(parts, p.Part(said))
	}
	if !shown.IsBlank() && shown.Str() != said.Str() {
		parts = append(parts, p.Part(shown))
	}
	if attached := v.Get("attachments"); attached.HasItems() {
		parts = append(parts, p.Part(attached))
	}
	id := v.Get("requestId").Str()
	switch {
	case len(parts) == 0:
		p.repeated(v)
	case id != "" && !p.isNew(id, said, shown, v.Get("attachments")):
		p.repeated(v)
	default:
		e := p.Lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: "user", Type: v.Get("kind").Word(), Origin: p.Row.Origin})
		e.Parts = parts
		p.emit(e, id)
	}
}

// speech yields what the user or the agent said. of is its step, "" if it has none.
func (p *parser) speech(v jsontext.Value, kind transcript.Kind, role, of string, said jsontext.Value) {
	isSaid := said.HasItems() || said.IsObject() || !said.IsBlank()
	if id := of + "/" + v.Get("kind").Word(); isSaid && (of == "" || p.isNew(id, said)) {
		if of != "" {
			of = id
		}
		p.emit(p.Event(kind, role, v.Get("kind").Word(), said), of)
		return
	}
	p.repeated(v)
}

// agentEvent yields the records of what the agent tells its interface.
func (p *parser) agentEvent(v jsontext.Value) {
	if agent := v.Get("agent"); !agent.Get("id").Is("main") {
		p.agent = agent.Get("name").Str()
	}
	id := v.Get("stepId").Str()
	switch kind := v.Get("kind").Word(); kind {
	case "AgentThoughtBlockUpdatedEvent":
		p.speech(v, transcript.KindReasoning, "assistant", id, v.Get("text"))
	case "MarkdownBlockUpdatedEvent":
		p.speech(v, transcript.KindMessage, "assistant", id, v.Get("text"))
	case "ResultBlockUpdatedEvent":
		p.speech(v, transcript.KindMessage, "assistant", id, v.Get("result"))
	case "AskRequestUpdatedEvent", "AskAsyncRequestUpdatedEvent", "ChoiceRequestUpdatedEvent":
		p.speech(v, transcript.KindMessage, "assistant", id, v.First("askRequest", "choiceRequest", "request", "question", "title"))
	case "LlmResponseMetadataEvent":
		p.usage(v)
		p.row(transcript.KindLifecycle)
	case "CurrentDirectoryUpdatedEvent":
		if dir := v.Get("currentDirectory").Str(); dir != "" && p.head.Project == "" {
			p.head.Project = dir
			p.emitHead()
		}
		p.row(transcript.KindLifecycle)
	case "AgentTaskNameUpdatedEvent":
		if !p.isNamed {
			p.setTitle(v.First("name", "taskName"))
		}
		p.row(transcript.KindLifecycle)
	case "AgentFailureEvent":
		p.row(transcript.KindError)
	case "AgentPatchCreatedEvent", "AgentPlanUpdatedEvent", "ShowPlanProgressEvent", "SuggestPlanEvent", "SubagentSpawnedEvent":
		if !p.isNew(id+"/"+kind, v) {
			p.repeated(v)
			return
		}
		p.row(transcript.KindNotice)
	default:
		if name, isBlock := strings.CutSuffix(kind, "BlockUpdatedEvent"); isBlock {
			p.block(v, id, name)
		} else {
			p.other(kind)
		}
	}
}
