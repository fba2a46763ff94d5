package llmlogs

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// response yields what one call of a model was given, and what it gave.
func (p *parser) response(v format.Value) {
	id, at := v.Get("id").Text(), v.Get("datetime_utc").Time()
	model := modelOf(v)
	p.state(p.named(v, "conversation_id", "id"), orderResponses, transcript.Conversation{Title: v.Get("conversation_name").Str(), Model: model, Started: at})
	s := said{parser: p, id: id, at: at, model: model}
	s.words(transcript.KindSystem, "system", v.Get("system"))
	for item := range v.Get("results").Items() {
		s.result(id+"/result/"+item.Get("id").Text(), item, item)
	}
	s.words(transcript.KindMessage, "user", v.Get("prompt"))
	s.words(transcript.KindReasoning, "assistant", v.Get("reasoning"))
	s.words(transcript.KindMessage, "assistant", v.Get("response"))
	for item := range v.Get("calls").Items() {
		s.call(id+"/call/"+item.Get("id").Text(), item, item)
	}
	if !s.told {
		s.out(s.event(transcript.KindLifecycle, "", id, v), transcript.Uncounted)
	}
	s.usage(v)
}

// modelOf is the model that answered, as the provider calls it where that is known.
func modelOf(v format.Value) string {
	if s := v.Get("resolved_model").Str(); s != "" {
		return s
	}
	return v.Get("model").Str()
}

// said makes events of a response or message.
type said struct {
	*parser
	id     string
	at     transcript.Time
	model  string
	facts  transcript.Attributes
	home   bool // of a message, which several threads may have: it was written in this one
	many   bool
	copied bool // of a message: a response has told it
	left   bool // the thread is no longer at it
	told   bool
}

func (s *said) out(e *transcript.Event, verdict transcript.Verdict) {
	s.told = true
	e.Verdict, e.Time, e.Global, e.Home, e.Attributes = verdict, s.at, s.many, s.home, s.facts
	if e.Role == "assistant" {
		e.Model = s.model
	}
	switch {
	case s.left:
		e.Verdict = transcript.Uncounted
	case s.copied && verdict == transcript.Counted:
		e.Verdict = transcript.CopiedHistory
	}
	s.Emit(e)
}

// words yields a text that is not blank.
func (s *said) words(kind transcript.Kind, role string, v format.Value) {
	if !v.IsBlank() {
		e := s.event(kind, role, s.id+"/"+string(kind)+"/"+role, v)
		s.out(e, transcript.Counted)
	}
}

// call yields what a tool was asked: v of the piece.
func (s *said) call(id string, piece, v format.Value) {
	e := s.event(transcript.KindToolCall, "assistant", id, piece)
	input, call, name := v.Get("arguments"), v.Get("tool_call_id").Text(), v.Get("name").Str()
	if call == "" {
		s.calls++
		call = "#" + strconv.Itoa(s.calls)
		if s.waiting == nil {
			s.waiting = map[string][]string{}
		}
		s.waiting[name] = append(s.waiting[name], call)
	}
	e.Parts[0].Call = &transcript.Call{ID: call, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	s.out(e, transcript.Counted)
}

func (s *said) result(id string, piece, v format.Value) {
	e := s.event(transcript.KindToolResult, "tool", id, piece)
	call, name := v.Get("tool_call_id").Text(), v.Get("name").Str()
	if first := s.waiting[name]; call == "" && len(first) > 0 {
		call, s.waiting[name] = first[0], first[1:]
	}
	e.Parts[0].Result = &transcript.Result{
		Call: call, Name: name, Failed: transcript.True(!v.Get("exception").IsNull()), Output: int64(v.Get("output").Len()),
	}
	s.out(e, transcript.Counted)
}

// pathNames are the members of an input that name files.
var pathNames = []string{"path", "file_path", "filename", "file"}

// thread yields what is known of one. Where it was forked from is another.
func (p *parser) thread(v format.Value) {
	id := p.named(v, "id")
	p.state(id, orderThread, transcript.Conversation{Title: v.Get("name").Str(), Started: v.Get("datetime_utc").Time()})
	if origin := v.Get("forked_from").Str(); origin != "" && origin != id {
		p.Emit(&transcript.Run{ID: origin, Named: true})
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(origin), To: transcript.RunEnd(id), Origin: p.at})
	}
	p.aside(id, transcript.KindLifecycle, v)
}

// message yields the parts of a message, and the requests that ended in it.
func (p *parser) message(v format.Value) {
	p.state(p.named(v, "thread"), orderThread, transcript.Conversation{})
	own, _ := v.Get("own").Int()
	copied, _ := v.Get("copied").Int()
	s := said{
		parser: p, id: v.Get("hash").Text(), at: v.Get("at").Time(), left: v.Get("table").Is(tableLost),
		many: copied == 0, home: own != 0 && copied == 0, copied: copied != 0,
	}
	if s.left {
		s.facts = transcript.Attributes{"abandoned": true}
	}
	for turn := range v.Get("turns").Items() {
		s.model = modelOf(turn)
	}
	if s.model != "" && s.model != p.model {
		p.model = s.model
		p.Emit(&transcript.Run{ID: p.session, Model: s.model})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.session, Shared: true, Order: orderThread, Model: s.model})
	}
	role, n := v.Get("role").Word(), 0
	for item := range v.Get("parts").Items() {
		s.piece(role, s.id+"/"+strconv.Itoa(n), item)
		n++
	}
	if !s.told {
		s.out(s.event(transcript.KindLifecycle, role, s.id, v), transcript.Uncounted)
	}
	for turn := range v.Get("turns").Items() {
		t := said{parser: p, id: turn.Get("id").Text(), at: turn.Get("datetime_utc").Time(), model: modelOf(turn)}
		t.usage(turn)
	}
}

// piece yields one part of a message.
func (s *said) piece(role, id string, v format.Value) {
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
	s.out(e, verdict)
}

// lone yields a turn that ended in no message: what it took.
func (p *parser) lone(v format.Value) {
	p.state(p.named(v, "thread"), orderThread, transcript.Conversation{Model: modelOf(v)})
	e := p.aside(p.session, transcript.KindLifecycle, v)
	s := said{parser: p, id: v.Get("id").Text(), at: v.Get("datetime_utc").Time(), model: modelOf(v)}
	e.Time = s.at
	s.usage(v)
}

// log yields a prompt and its answer as they were kept before there were conversations. Its numbers begin anew in each database.
func (p *parser) log(v format.Value) {
	id, at := v.Get("id").Text(), v.Get("datetime_utc").Time()
	if p.first == "" {
		p.first = "logs " + v.Get("datetime_utc").Str() + " " + id
	}
	s := said{parser: p, id: id, at: at, model: v.Get("model").Str()}
	p.state(p.first, orderResponses, transcript.Conversation{Title: format.Title(v.Get("prompt").Str()), Model: s.model, Started: at})
	s.words(transcript.KindSystem, "system", v.Get("system"))
	s.words(transcript.KindMessage, "user", v.Get("prompt"))
	s.words(transcript.KindMessage, "assistant", v.Get("response"))
	if !s.told {
		s.out(s.event(transcript.KindLifecycle, "", id, v), transcript.Uncounted)
	}
}
