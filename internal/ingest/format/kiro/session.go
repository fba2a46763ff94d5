package kiro

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// session yields the metadata of a session of the command line, and what its turns were.
func (p *parser) session() {
	p.run = format.Stem(p.in.Path)
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	p.file = at.Offset - doc.Offset()
	p.begin(cmp.Or(doc.Get("session_id").Str(), p.run), "")
	state := doc.Get("session_state")
	model := state.Get("rts_model_state", "model_info", "model_id").Str()
	parent, rewound := doc.Get("parent_session_id").Str(), doc.Get("session_created_reason").Is(reasonRewind)
	run := &transcript.Run{
		ID: p.run, Named: true, Rank: rankSession, Title: format.Title(doc.Get("title").Str()), Project: doc.Get("cwd").Str(), Model: chosen(model),
		Agent: state.Get("agent_name").Str(), Started: doc.Get("created_at").Time(), Ended: doc.Get("updated_at").Time(), Child: parent != "" && !rewound,
	}
	run.Attributes.Set("imported_from", doc.Get("imported_from").Str())
	if doc.Get("exported_from_v1").Bool() == transcript.Yes {
		run.Attributes.Set("exported", true) // from the database
	}
	p.named = true
	p.Emit(run)
	p.at(doc)
	p.comesFrom(parent, rewound)
	p.Hint(p.run, hintModel, model, p.origin)
	p.aside(transcript.KindLifecycle, roleSession, run.Started, doc.Get("title"), nil)
	for n, turn := range state.Get("conversation_metadata", "user_turn_metadatas").Numbered() {
		if p.Done() {
			return
		}
		p.at(turn)
		p.turn(turn)
		p.turnUsage(turn, n, model)
	}
}

// reasonRewind is why a session was created that goes on from an earlier prompt of another.
const reasonRewind = "rewind"

// exported yields the records of a session that was saved to a file: its metadata, and the lines of its log. What it says of turns, beside their
// tokens, is in the session.
func (p *parser) exported() {
	p.run = format.Stem(p.in.Path)
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	p.file = at.Offset - doc.Offset()
	about := doc.Get("metadata")
	p.begin(cmp.Or(about.Get("session_id").Str(), p.run), orderSaved)
	state := about.Get("session_state")
	p.conv.Title, p.conv.Project = format.Title(about.Get("title").Str()), about.Get("cwd").Str()
	p.conv.Model, p.conv.Agent = modelOf(state.Get("rts_model_state")), state.Get("agent_name").Str()
	p.at(doc)
	p.aside(transcript.KindLifecycle, roleExported, about.Get("updated_at").Time(), about.Get("title"), nil)
	for entry := range doc.Get("log_entries").Items() {
		if p.Done() {
			return
		}
		p.at(entry)
		p.logged(entry)
	}
	for n, turn := range state.Get("conversation_metadata", "user_turn_metadatas").Numbered() {
		if !p.open || p.Done() {
			break
		}
		p.at(turn)
		p.turnUsage(turn, n, p.conv.Model)
	}
	p.end()
}

// turn yields what a turn cost in credits, if the service has told.
func (p *parser) turn(v jsontext.Value) {
	var a transcript.Attributes
	setCredits(&a, credits(v.Get("metering_usage"), "value"))
	if requests, ok := v.Get("total_request_count").Int(); ok && requests > 0 {
		a.Set("requests", requests)
	}
	reason := v.Get("end_reason")
	a.Set("end_reason", reason.Str())
	p.aside(transcript.KindLifecycle, "turn", v.Get("end_timestamp").TimeOrUnix(), cmp.Or(reason, v.Get("loop_id")), a)
}

// turnUsage yields the tokens of a turn, which are rarely told. A session that was rewound has a copy of the turn, with the same messages.
func (p *parser) turnUsage(v jsontext.Value, n int, model string) {
	u := tokens(v, "input_token_count", "output_token_count", "cache_read_input_token_count", "cache_write_input_token_count")
	if u == nil {
		return
	}
	id := v.Get("loop_id", "rand").Text()
	if id == "" {
		id = strconv.Itoa(n)
	}
	u.Run, u.Conversation, u.Key, u.Origin, u.Time = p.run, conversation, "turn "+cmp.Or(firstText(v.Get("message_ids")).Str(), p.run)+" "+id, p.origin, v.Get("end_timestamp").TimeOrUnix()
	u.Model = cmp.Or(v.Get("model").Str(), model)
	if requests := v.Get("total_request_count").Count(); requests.N > 0 {
		u.Requests = v.Get("total_request_count").Tokens()
	}
	p.Emit(u)
	for message := range v.Get("message_ids").Items() {
		p.Hint(p.run, hintTurn, u.Key+"\t"+message.Str(), p.origin)
	}
}
