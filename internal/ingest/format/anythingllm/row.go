package anythingllm

import (
	"cmp"
	"maps"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	table := v.Get("table").Word()
	if table == tableHead {
		p.header(v)
		return
	}
	if p.Session == "" {
		p.NoSession()
		return
	}
	if table == tableChat {
		p.exchange(v)
		return
	}
	p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
}

// nameless is what the program calls a thread until its first prompt.
const nameless = "Thread"

// header reads the row that says where a conversation was held.
func (p *parser) header(v jsontext.Value) {
	slug, created := v.Get("workspace_slug").Text(), v.Get("workspace_created").Text()
	group := slug + "-" + created
	id, session := group, cmp.Or(v.Get("thread_slug").Text(), v.Get("session_id").Text())
	switch {
	case format.IsUUID(session): // else a program has named it
		id = session
	case session != "":
		id += "/" + session
	case slug == "":
		p.NoSession()
		return
	}
	for _, key := range []string{"user", "api"} {
		if of := v.Get(key).Text(); of != "" && session == "" {
			id += "/" + key + "-" + of
		}
	}
	p.emitModel()
	p.Begin(format.ShortID(id))
	p.model, p.models = "", 0
	started := v.Get("thread_created").TimeOrMilli()
	p.before = started
	run := &transcript.Run{ID: p.Session, Group: group, Started: started}
	if title := v.Get("thread").Str(); title != nameless {
		run.Title = format.Title(title)
	}
	a := &run.Attributes
	a.Set("workspace", v.Get("workspace").Str())
	a.Set("user", v.Get("user").Text())
	a.Set("api_session", v.Get("api").Text())
	a.Set("embed", v.Get("embed").Str())
	p.Emit(run)
	p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session})
	p.Begun, p.Titled = true, run.Title != ""
	p.Uncounted(transcript.KindLifecycle, "conversation", started)
}

// exchange is a prompt with its answer, while its events are made.
type exchange struct {
	*parser
	v, response, metrics jsontext.Value
	id                   string
	at, answered         transcript.Time
	home                 bool // it is no copy in a fork
	n                    int  // events so far
	facts                transcript.Attributes
}

// exchange yields the events of one row, and what its request used.
func (p *parser) exchange(v jsontext.Value) {
	x := &exchange{parser: p, v: v, response: v.Get("response"), at: v.Get("createdAt").TimeOrMilli()}
	x.metrics = x.response.Get("metrics")
	x.identify()
	if n, ok := v.Get("include").Int(); ok && n == 0 {
		x.facts.Set("hidden", true)
	}
	if prompt := v.Get("prompt"); !prompt.IsBlank() {
		x.emit(x.Event(transcript.KindMessage, "user", "", prompt), "prompt", transcript.Counted)
		x.TitleFrom(prompt.Str(), 0)
	}
	if !x.response.IsObject() {
		x.emit(x.Event(transcript.KindUnknown, "", "response", v), "row", transcript.Uncounted)
		return
	}
	x.at = x.answered
	for key, member := range x.response.Fields() {
		switch key {
		case "type", "metrics":
		case "text":
			x.answer(member)
		default:
			if hasMembers(member) {
				x.emit(x.Event(transcript.KindNotice, "", key, member), key, transcript.Uncounted)
			}
		}
	}
	if x.usage(); x.n == 0 {
		x.emit(x.Event(transcript.KindNotice, "", "chat", v), "row", transcript.Uncounted)
	}
}

func hasMembers(v jsontext.Value) bool {
	for range v.Fields() {
		return true
	}
	return v.HasItems()
}

// identify finds what tells the exchange from all others, and whether it is where it was written first. A row is written when its answer ends, or,
// of an agent, begins; the rows of a fork are written later, all at once, so that there was no time for the answers.
func (x *exchange) identify() {
	at, ended := x.at, x.metrics.Get("timestamp").Time()
	seconds, measured := x.metrics.Get("duration").Float()
	x.answered, x.home = at, true
	switch raw := string(x.metrics.Raw()); {
	case ended.Valid:
		x.id = format.HashUUID(raw)
		x.home = !at.Valid || at.UnixMicro <= ended.UnixMicro+1e6
		x.answered = ended
		if at.Valid && ended.UnixMicro < at.UnixMicro {
			x.at = ended
		}
	case measured && seconds > 0:
		x.id = format.HashUUID(raw, string(x.v.Get("prompt").Body()))
		x.home = !at.Valid || !x.before.Valid || float64(at.UnixMicro-x.before.UnixMicro) >= seconds*1e6
	default:
		x.id = x.Session + "/" + format.ShortID(x.v.Get("id").Text()+"@"+x.v.Get("createdAt").Text())
	}
	if at.Valid {
		x.before = at
	}
}

func (x *exchange) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = conversation, x.Session, verdict, x.at, x.facts
	e.ID, e.Global, e.Home = x.id+"/"+format.ShortID(piece), true, x.home
	x.n++
	x.Emit(e)
}

// answer yields the answer, and before it what its model thought, which is in an element at its beginning.
func (x *exchange) answer(text jsontext.Value) {
	if !text.IsString() {
		if hasMembers(text) {
			x.emit(x.Event(transcript.KindUnknown, "assistant", "text", text), "text", transcript.Uncounted)
		}
		return
	}
	model := x.metrics.Get("model").Str()
	x.note(model)
	from, to, rest := think(text.Body())
	if to > from {
		e := x.fragment(transcript.KindReasoning, text, from, to)
		e.Model = model
		x.emit(e, "thinking", transcript.Counted)
	}
	var e *transcript.Event
	switch {
	case text.IsBlank() || rest == len(text.Body()):
		return
	case rest == 0:
		e = x.Event(transcript.KindMessage, "assistant", "", text)
	default:
		e = x.fragment(transcript.KindMessage, text, rest, len(text.Body()))
	}
	e.Model = model
	facts := x.facts
	x.facts = maps.Clone(facts)
	if typ := x.response.Get("type").Word(); typ != "chat" {
		x.facts.Set("mode", typ)
	}
	if n, ok := x.v.Get("feedbackScore").Int(); ok {
		x.facts.Set("feedback", map[bool]string{true: "good", false: "bad"}[n != 0])
	}
	x.emit(e, "answer", transcript.Counted)
	x.facts = facts
}

// note counts the models of a conversation.
func (p *parser) note(model string) {
	if model != "" && model != p.model {
		p.model = model
		p.models++
	}
}

// fragment returns an event for a piece of the body of a string.
func (x *exchange) fragment(kind transcript.Kind, of jsontext.Value, from, to int) *transcript.Event {
	e := x.Lend.Event(transcript.Event{Kind: kind, Role: "assistant", Origin: x.Row.Origin})
	e.Parts[0] = transcript.Part{
		Text:   x.Lend.Text(func(b []byte) []byte { return appendFragment(b, of.Body()[from:to]) }),
		Offset: jsontext.OffsetIn(x.Row.Value, of) + 1 + int64(from), Length: int64(to - from),
	}
	return e
}
