package opencode

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// From version 2 on the program writes its sessions to tables of their own, session_v2 and session_message: a message is one row,
// with all that it holds, and an answer is one request. Those of the tables before stay, and are taken over once.

// The tables of version 2, and the roles of their rows.
const (
	tableSession = "session_v2"
	tableMessage = "session_message"
)

// second yields the events of a message of version 2, and its request.
func (p *parser) second(v format.Value) {
	data := v.Get("data")
	m := message{
		value: data, id: v.Get("id").Text(), session: v.Get("session_id").Text(), origin: p.at,
		agent: data.Get("agent").Str(), model: data.Get("model", "id").Str(), provider: data.Get("model", "providerID").Str(),
		created: orMilli(stamp(data.Get("time", "created")), v.Get("time_created")), completed: stamp(data.Get("time", "completed")),
	}
	typ := v.Get("type").Str()
	p.dated(hintSecond, m)
	e := p.event(transcript.KindUnknown, typ, m.session, m.id)
	e.ID, e.Time = m.id, m.created
	e.Parts = []transcript.Part{{Text: pieceText(v)}}
	switch typ {
	case "assistant":
		p.answer(m, e)
		return
	case "user":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindMessage, "user"
	case "synthetic", "system", "skill":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindSystem, "system"
	case "compaction":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindCompaction, "system"
		p.request(m)
	case "shell":
		p.shell(m, e)
		return
	case "agent-switched", "model-switched", "location-switched", "idle":
		e.Kind = transcript.KindLifecycle
	}
	p.Emit(e)
}

// dated hints at when a message was made, by which copies are told.
func (p *parser) dated(key string, m message) {
	if m.created.Valid {
		p.Emit(&transcript.Hint{
			Run: run(m.session, m.id), Key: key, Value: m.id + "\t" + strconv.FormatInt(m.created.UnixMicro, 10), Origin: p.at,
		})
	}
}

// text is the part of what an item says, of the item where it says nothing.
func (p *parser) text(item format.Value, name string) transcript.Part {
	if said := item.Get(name); said.Exists() {
		return p.piece(said)
	}
	return p.piece(item)
}

// piece is a part of a row that has its own bytes.
func (p *parser) piece(v format.Value) transcript.Part {
	return transcript.Part{Text: pieceText(v), Offset: format.OffsetIn(p.whole, v), Length: int64(v.Len())}
}

// answer yields what the model said, thought and called. e is the row of the message itself.
func (p *parser) answer(m message, e *transcript.Event) {
	p.Emit(&transcript.Run{ID: run(m.session, m.id), Local: true, Anchor: m.session, Anchored: m.session != "", Named: true, Rank: p.rank, Model: m.model})
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: run(m.session, m.id), Shared: true, Rank: p.rank, Order: p.order(m.id), Model: m.model, Agent: m.agent,
	})
	e.Kind, e.Role, e.Agent, e.Model = transcript.KindLifecycle, "assistant", m.agent, m.model
	if !m.value.Get("error").IsNull() {
		e.Kind = transcript.KindError
	}
	p.Emit(e)
	n := 0
	for item := range m.value.Get("content").Items() {
		said := p.event(transcript.KindUnknown, item.Get("type").Str(), m.session, m.id)
		said.ID, said.Time, said.Role, said.Agent, said.Model = m.id+"/"+strconv.Itoa(n), m.created, "assistant", m.agent, m.model
		n++
		switch said.Type {
		case "text":
			said.Verdict, said.Kind, said.Parts = transcript.Counted, transcript.KindMessage, []transcript.Part{p.text(item, "text")}
		case "reasoning":
			said.Verdict, said.Kind, said.Parts = transcript.Counted, transcript.KindReasoning, []transcript.Part{p.text(item, "text")}
		case "tool":
			p.called(m, said, item)
			continue
		default:
			said.Parts = []transcript.Part{p.piece(item)}
		}
		p.Emit(said)
	}
	p.request(m)
}

// called yields a call and, once it has ended, its result.
func (p *parser) called(m message, e *transcript.Event, item format.Value) {
	state, name, id := item.Get("state"), item.Get("name").Str(), item.Get("id").Text()
	if id == "" {
		id = e.ID
	}
	start, end := stamp(item.Get("time", "ran"), item.Get("time", "created")), stamp(item.Get("time", "completed"))
	if start.Valid {
		e.Time = start
	}
	input := state.Get("input")
	call := p.piece(item)
	call.Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	e.Verdict, e.Kind, e.Parts = transcript.Counted, transcript.KindToolCall, []transcript.Part{call}
	p.Emit(e)
	status := state.Get("status").Str()
	if status != "completed" && status != "error" {
		return
	}
	parts := p.given(state) // at least its status
	p.ended(m, e, parts, &transcript.Result{Call: id, Name: name, Status: status, Failed: transcript.True(status == "error"),
		Cut: state.Get("metadata", "truncated").Bool() == transcript.Yes, Output: parts[0].Length}, start, end)
}

// given is what a tool gave: texts, or why it failed.
func (p *parser) given(state format.Value) (parts []transcript.Part) {
	for item := range state.Get("content").Items() {
		if text := item.Get("text"); text.Exists() {
			parts = append(parts, p.piece(text))
		}
	}
	for _, other := range []format.Value{state.Get("error", "message"), state.Get("error"), state.Get("content"), state.Get("status")} {
		if len(parts) == 0 && !other.IsNull() {
			parts = append(parts, p.piece(other))
		}
	}
	return parts
}

func (p *parser) ended(m message, call *transcript.Event, parts []transcript.Part, result *transcript.Result, start, end transcript.Time) {
	r := p.event(transcript.KindToolResult, call.Type, m.session, m.id)
	r.ID, r.Verdict, r.Role, r.Time, r.Agent, r.Model = call.ID+"/result", transcript.Counted, "tool", call.Time, call.Agent, call.Model
	if end.Valid {
		r.Time = end
		if start.Valid {
			result.Duration = transcript.Known(end.UnixMicro - start.UnixMicro)
		}
	}
	r.Parts = parts
	r.Parts[0].Result = result
	p.Emit(r)
}

// shell yields a command that the person ran, as version 1 has it: a call and what it gave.
func (p *parser) shell(m message, e *transcript.Event) {
	command, output, exit := m.value.Get("command"), m.value.Get("output"), m.value.Get("exit")
	call := p.text(m.value, "command")
	call.Call = &transcript.Call{ID: m.id, Name: "shell", Input: int64(command.Len())}
	e.Verdict, e.Kind, e.Role, e.Parts = transcript.Counted, transcript.KindToolCall, "user", []transcript.Part{call}
	p.Emit(e)
	if output.IsNull() {
		return
	}
	part := p.piece(output)
	result := &transcript.Result{Call: m.id, Name: "shell", Status: m.value.Get("status").Str(), Output: part.Length}
	if code, ok := exit.Int(); ok {
		result.Failed = transcript.True(code != 0)
	}
	p.ended(m, e, []transcript.Part{part}, result, m.created, m.completed)
}

// request yields what an answer, or a compaction, took. Its key is that of a message of version 1 of the same id.
func (p *parser) request(m message) {
	u := p.usage(m.value.Get("tokens"), m.value.Get("cost"), m.session, m.id)
	if u == nil || u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && !u.Cost.Known {
		return
	}
	u.Key, u.Attributes, u.Time = "message "+m.id, nil, m.at()
	u.Model, u.Provider, u.Agent = m.model, m.provider, m.agent
	p.Emit(u)
}
