package opencode

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// From version 2 on OpenCode writes sessions to the tables session_v2 and session_message: a message is one row
// with all of its content, and an answer is one request. The earlier tables stay, and are imported once.

// The tables of version 2, which are also the names of their rows.
const (
	tableSession = "session_v2"
	tableMessage = "session_message"
)

// messageV2 yields the events of a message of version 2, and its request.
func (p *parser) messageV2(v jsontext.Value) {
	data := v.Get("data")
	m := message{
		value: data, id: v.Get("id").Text(), session: v.Get("session_id").Text(), origin: p.baseOrigin,
		agent: data.Get("agent").Str(), model: data.Get("model", "id").Str(), provider: data.Get("model", "providerID").Str(),
		created: cmp.Or(data.Get("time", "created").MilliTime(), v.Get("time_created").MilliTime()), completed: data.Get("time", "completed").MilliTime(),
	}
	typ := v.Get("type").Str()
	p.emitTimeHint(hintV2, m)
	e := p.event(transcript.KindUnknown, typ, m.session, m.id)
	e.ID, e.Time = m.id, m.created
	e.Parts = []transcript.Part{{Text: pieceText(v)}}
	switch typ {
	case "assistant":
		p.answerV2(m, e)
		return
	case "user":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindMessage, "user"
		p.titleFrom(m.session, m.id, data.Get("text").Str(), m.created)
	case "synthetic", "system", "skill":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindSystem, "system"
	case "compaction":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindCompaction, "system"
		p.usageV2(m)
	case "shell":
		p.shellV2(m, e)
		return
	case "agent-switched", "model-switched", "location-switched", "idle":
		e.Kind = transcript.KindLifecycle
	}
	p.Emit(e)
}

// emitTimeHint yields a hint with the creation time of a message, by which copies are recognised.
func (p *parser) emitTimeHint(key string, m message) {
	if m.created.Valid {
		p.Hint(runID(m.session, m.id), key, m.id+"\t"+strconv.FormatInt(m.created.UnixMicro, 10), p.baseOrigin)
	}
}

// textPart returns the part for a member of an item, or for the whole item without that member.
func (p *parser) textPart(item jsontext.Value, name string) transcript.Part {
	if text := item.Get(name); text.Exists() {
		return p.valuePart(text)
	}
	return p.valuePart(item)
}

// valuePart returns the part for a value that has its own bytes in the row.
func (p *parser) valuePart(v jsontext.Value) transcript.Part {
	return jsontext.PartIn(p.base, v, pieceText(v))
}

// answerV2 yields the texts, reasoning and calls of an answer. e is the row of the message itself.
func (p *parser) answerV2(m message, e *transcript.Event) {
	p.Emit(&transcript.Run{ID: runID(m.session, m.id), Local: true, Anchor: m.session, Anchored: m.session != "", Named: true, Rank: p.rank, Model: m.model})
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: runID(m.session, m.id), Shared: true, Rank: p.rank, Order: p.order(m.id), Model: m.model, Agent: m.agent,
	})
	e.Kind, e.Role, e.Agent, e.Model = transcript.KindLifecycle, "assistant", m.agent, m.model
	if !m.value.Get("error").IsNull() {
		e.Kind = transcript.KindError
	}
	p.Emit(e)
	for n, item := range m.value.Get("content").Numbered() {
		block := p.event(transcript.KindUnknown, item.Get("type").Str(), m.session, m.id)
		block.ID, block.Time, block.Role, block.Agent, block.Model = m.id+"/"+strconv.Itoa(n), m.created, "assistant", m.agent, m.model
		switch block.Type {
		case "text":
			block.Verdict, block.Kind, block.Parts = transcript.Counted, transcript.KindMessage, []transcript.Part{p.textPart(item, "text")}
		case "reasoning":
			block.Verdict, block.Kind, block.Parts = transcript.Counted, transcript.KindReasoning, []transcript.Part{p.textPart(item, "text")}
		case "tool":
			p.toolV2(m, block, item)
			continue
		default:
			block.Parts = []transcript.Part{p.valuePart(item)}
		}
		p.Emit(block)
	}
	p.usageV2(m)
}

// toolV2 yields a call and, once it has ended, its result.
func (p *parser) toolV2(m message, e *transcript.Event, item jsontext.Value) {
	state, name, id := item.Get("state"), item.Get("name").Str(), item.Get("id").Text()
	if id == "" {
		id = e.ID
	}
	start, end := cmp.Or(item.Get("time", "ran").MilliTime(), item.Get("time", "created").MilliTime()), item.Get("time", "completed").MilliTime()
	if start.Valid {
		e.Time = start
	}
	input := state.Get("input")
	call := p.valuePart(item)
	call.Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	e.Verdict, e.Kind, e.Parts = transcript.Counted, transcript.KindToolCall, []transcript.Part{call}
	p.Emit(e)
	status := state.Get("status").Str()
	if status != "completed" && status != "error" {
		return
	}
	parts := p.outputV2(state) // never empty: the state has a status
	p.resultV2(m, e, parts, &transcript.Result{Call: id, Name: name, Status: status, Failed: transcript.True(status == "error"),
		Cut: state.Get("metadata", "truncated").Bool() == transcript.Yes, Output: parts[0].Length}, start, end)
}

// outputV2 returns the output of a tool: its texts, or its error.
func (p *parser) outputV2(state jsontext.Value) (parts []transcript.Part) {
	for item := range state.Get("content").Items() {
		if text := item.Get("text"); text.Exists() {
			parts = append(parts, p.valuePart(text))
		}
	}
	for _, other := range []jsontext.Value{state.Get("error", "message"), state.Get("error"), state.Get("content"), state.Get("status")} {
		if len(parts) == 0 && !other.IsNull() {
			parts = append(parts, p.valuePart(other))
		}
	}
	return parts
}

func (p *parser) resultV2(m message, call *transcript.Event, parts []transcript.Part, result *transcript.Result, start, end transcript.Time) {
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

// shellV2 yields a command that the user ran, as version 1 has it: a call and its result.
func (p *parser) shellV2(m message, e *transcript.Event) {
	command, output, exit := m.value.Get("command"), m.value.Get("output"), m.value.Get("exit")
	call := p.textPart(m.value, "command")
	call.Call = &transcript.Call{ID: m.id, Name: "shell", Input: int64(command.Len())}
	e.Verdict, e.Kind, e.Role, e.Parts = transcript.Counted, transcript.KindToolCall, "user", []transcript.Part{call}
	p.Emit(e)
	if output.IsNull() {
		return
	}
	part := p.valuePart(output)
	result := &transcript.Result{Call: m.id, Name: "shell", Status: m.value.Get("status").Str(), Output: part.Length}
	if code, ok := exit.Int(); ok {
		result.Failed = transcript.True(code != 0)
	}
	p.resultV2(m, e, []transcript.Part{part}, result, m.created, m.completed)
}

// usageV2 yields the usage of an answer or a compaction. Its key is that of a message of version 1 with the same id.
func (p *parser) usageV2(m message) {
	u := p.readUsage(m.value.Get("tokens"), m.value.Get("cost"), m.session, m.id)
	if u == nil || u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && u.Cost.N == 0 {
		return
	}
	u.Key, u.Attributes, u.Time = "message "+m.id, nil, m.at()
	u.Model, u.Provider, u.Agent = m.model, m.provider, m.agent
	p.Emit(u)
}
