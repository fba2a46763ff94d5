package llmlogs

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// response yields the prompt and the answer of one call of a model.
func (p *parser) response(v jsontext.Value) {
	id, at := v.Get("id").Text(), v.Get("datetime_utc").Time()
	model := modelOf(v)
	p.emitRun(p.idOf(v, "conversation_id", "id"), orderResponses, transcript.Conversation{Title: v.Get("conversation_name").Str(), Model: model, Started: at})
	s := messageEvents{parser: p, id: id, at: at, model: model}
	s.text(transcript.KindSystem, "system", v.Get("system"))
	for item := range v.Get("results").Items() {
		s.result(id+"/result/"+item.Get("id").Text(), item, item)
	}
	s.text(transcript.KindMessage, "user", v.Get("prompt"))
	s.text(transcript.KindReasoning, "assistant", v.Get("reasoning"))
	s.text(transcript.KindMessage, "assistant", v.Get("response"))
	for item := range v.Get("calls").Items() {
		s.call(id+"/call/"+item.Get("id").Text(), item, item)
	}
	if !s.emitted {
		s.emit(s.event(transcript.KindLifecycle, "", id, v), transcript.Uncounted)
	}
	s.usage(v)
}

// modelOf returns the model that answered, by the provider's name for it if known.
func modelOf(v jsontext.Value) string {
	if s := v.Get("resolved_model").Str(); s != "" {
		return s
	}
	return v.Get("model").Str()
}

// messageEvents makes the events of a response or message.
type messageEvents struct {
	*parser
	id        string
	at        transcript.Time
	model     string
	facts     transcript.Attributes
	home      bool // first written in this thread; only for messages
	global    bool // ids are unique across threads; only for messages
	copied    bool // a response has the message, too
	abandoned bool // the thread's current chain does not have the message
	emitted   bool
}

func (s *messageEvents) emit(e *transcript.Event, verdict transcript.Verdict) {
	s.emitted = true
	e.Verdict, e.Time, e.Global, e.Home, e.Attributes = verdict, s.at, s.global, s.home, s.facts
	if e.Role == "assistant" {
		e.Model = s.model
	}
	switch {
	case s.abandoned:
		e.Verdict = transcript.Uncounted
	case s.copied && verdict == transcript.Counted:
		e.Verdict = transcript.CopiedHistory
	}
	s.Emit(e)
}

// text yields a text that is not blank.
func (s *messageEvents) text(kind transcript.Kind, role string, v jsontext.Value) {
	if !v.IsBlank() {
		e := s.event(kind, role, s.id+"/"+string(kind)+"/"+role, v)
		s.emit(e, transcript.Counted)
	}
}

// call yields a tool call: v is the call, piece the value with its bytes.
func (s *messageEvents) call(id string, piece, v jsontext.Value) {
	e := s.event(transcript.KindToolCall, "assistant", id, piece)
	input, call, name := v.Get("arguments"), v.Get("tool_call_id").Text(), toolName(piece, v)
	if call == "" {
		s.calls++
		call = "#" + strconv.Itoa(s.calls)
		if s.openCalls == nil {
			s.openCalls = map[string][]string{}
		}
		s.openCalls[name] = append(s.openCalls[name], call)
	}
	e.Parts[0].Call = &transcript.Call{ID: call, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	s.emit(e, transcript.Counted)
}

func (s *messageEvents) result(id string, piece, v jsontext.Value) {
	e := s.event(transcript.KindToolResult, "tool", id, piece)
	call, name := v.Get("tool_call_id").Text(), toolName(piece, v)
	if first := s.openCalls[name]; call == "" && len(first) > 0 {
		call, s.openCalls[name] = first[0], first[1:]
	}
	output := v.Get("output")
	if text := piece.Get("text"); output.IsNull() && !text.IsNull() {
		output = text
	}
	e.Parts[0].Result = &transcript.Result{Call: call, Name: name, Failed: transcript.True(!v.Get("exception").IsNull()), Output: int64(output.Len())}
	s.emit(e, transcript.Counted)
}

// toolName returns the name of the tool of a call or result v. That of a part is in a column, too.
func toolName(piece, v jsontext.Value) string {
	return cmp.Or(v.Get("name").Str(), piece.Get("tool_name").Str())
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filename", "file"}

// thread yields the metadata of a thread, and the link to the one it was forked from.
func (p *parser) thread(v jsontext.Value) {
	id := p.idOf(v, "id")
	p.emitRun(id, orderThread, transcript.Conversation{Title: v.Get("name").Str(), Started: v.Get("datetime_utc").Time()})
	if origin := v.Get("forked_from").Str(); origin != "" && origin != id {
		p.Emit(&transcript.Run{ID: origin, Named: true})
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(origin), To: transcript.RunEnd(id), Origin: p.Row.Origin})
	}
	p.uncountedRow(id, transcript.KindLifecycle, v)
}

// message yields the parts of a message, and the usage of the turns that ended in it.
func (p *parser) message(v jsontext.Value) {
	p.emitRun(p.idOf(v, "thread"), orderThread, transcript.Conversation{})
	own, _ := v.Get("own").Int()
	copied, _ := v.Get("copied").Int()
	s := messageEvents{
		parser: p, id: v.Get("hash").Text(), at: v.Get("at").Time(), abandoned: v.Get("table").Is(tableLost),
		global: copied == 0, home: own != 0 && copied == 0, copied: copied != 0,
	}
	if s.abandoned {
		s.facts = transcript.Attributes{"abandoned": true}
	}
	for turn := range v.Get("turns").Items() {
		s.model = modelOf(turn)
	}
	if s.model != "" && s.model != p.model {
		p.model = s.model
		p.Emit(&transcript.Run{ID: p.Session, Model: s.model})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session, Shared: true, Order: orderThread, Model: s.model})
	}
	role := v.Get("role").Word()
	for n, item := range v.Get("parts").Numbered() {
		s.messagePart(role, s.id+"/"+strconv.Itoa(n), item)
	}
	if !s.emitted {
		s.emit(s.event(transcript.KindLifecycle, role, s.id, v), transcript.Uncounted)
	}
	for turn := range v.Get("turns").Items() {
		t := messageEvents{parser: p, id: turn.Get("id").Text(), at: turn.Get("datetime_utc").Time(), model: modelOf(turn)}
		t.usage(turn)
	}
}

// messagePart yields one part of a message.
func (s *messageEvents) messagePart(role, id string, v jsontext.Value) {
	payload, typ := v.Get("payload"), v.Get("type").Word()
	switch typ {
	case "tool_call":
		s.call(id, v, payload)
		return
	case "tool_result":
		s.result(id, v, payload)
		return
	}
	e := s.event(transcript.KindUnknown, role, id, v)
	e.Type = typ
	verdict := transcript.Counted
	switch {
	case typ == "reasoning":
		e.Kind = transcript.KindReasoning
	case typ != "text":
		if verdict = transcript.Uncounted; typ == "attachment" {
			e.Kind = transcript.KindNotice
		}
	case v.Get("text").IsBlank() && !payload.Get("text_ref").Exists():
		e.Kind, verdict = transcript.KindNotice, transcript.Uncounted
	case role == "user", role == "assistant":
		e.Kind = transcript.KindMessage
	default:
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	s.emit(e, verdict)
}

// turn yields a turn that ended in no message, and its usage.
func (p *parser) turn(v jsontext.Value) {
	p.emitRun(p.idOf(v, "thread"), orderThread, transcript.Conversation{Model: modelOf(v)})
	e := p.uncountedRow(p.Session, transcript.KindLifecycle, v)
	s := messageEvents{parser: p, id: v.Get("id").Text(), at: v.Get("datetime_utc").Time(), model: modelOf(v)}
	e.Time = s.at
	s.usage(v)
}

// log yields a row of the table logs, from before there were conversations. Its ids start again in each database, so the run includes a time.
func (p *parser) log(v jsontext.Value) {
	id, at := v.Get("id").Text(), v.Get("datetime_utc").Time()
	if p.logsRun == "" {
		p.logsRun = "logs " + v.Get("datetime_utc").Str() + " " + id
	}
	s := messageEvents{parser: p, id: id, at: at, model: v.Get("model").Str()}
	p.emitRun(p.logsRun, orderResponses, transcript.Conversation{Title: format.Title(v.Get("prompt").Str()), Model: s.model, Started: at})
	s.text(transcript.KindSystem, "system", v.Get("system"))
	s.text(transcript.KindMessage, "user", v.Get("prompt"))
	s.text(transcript.KindMessage, "assistant", v.Get("response"))
	if !s.emitted {
		s.emit(s.event(transcript.KindLifecycle, "", id, v), transcript.Uncounted)
	}
}
