package claudeai

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// maxID is the length of the longest id that is accepted, in bytes. The producer's are UUIDs.
const maxID = 200

// rootParent is the parent of first messages.
const rootParent = "00000000-0000-4000-8000-000000000000"

// conversation yields the records of one element.
func (p *parser) conversation(o jsontext.Object) {
	v := o.Value
	id, messages := v.Get("uuid").Text(), v.Get("chat_messages")
	if id == "" || len(id) > maxID || !messages.IsArray() && !messages.IsNull() {
		p.Emit(&transcript.Problem{Kind: "not a conversation", Reason: "no uuid, or messages that are no list", Origin: o.Origin})
		return
	}
	p.at, p.id, p.calls, p.callsWithoutID = o.Origin, id, p.calls[:0], 0
	p.emitRun(v, messages)
	if summary := v.Get("summary"); summary.IsString() && summary.Len() > len(`""`) {
		p.begin(summary, "summary", transcript.KindNotice, "", transcript.Time{})
		p.event.Type, p.event.Verdict = "summary", transcript.Uncounted
		p.add(summary, summary)
		p.emitEvent()
	}
	before := ""
	for n, m := range messages.Numbered() {
		if p.Done() {
			return
		}
		if !m.IsObject() {
			p.Emit(&transcript.Problem{Run: id, Kind: "not a message", Reason: "a JSON value of another type", Origin: p.origin(m)})
			continue
		}
		before = p.message(m, n+1, before)
	}
}

// emitRun yields the run and its conversation.
func (p *parser) emitRun(v, messages jsontext.Value) {
	title := v.Get("name").Str()
	for m := range messages.Items() {
		if title != "" {
			break
		}
		if m.Get("sender").Is("human") {
			title = format.Title(jsontext.Build(func(b []byte) []byte { return appendSaid(b, m) }))
		}
	}
	h := header{
		title: title, model: v.Get("model").Str(), project: v.Get("project", "name").Str(),
		group: cmp.Or(v.Get("project", "uuid").Str(), v.Get("project_uuid").Str()), created: v.Get("created_at").Time(), updated: v.Get("updated_at").Time(),
	}
	if v.Get("is_starred").Bool() == transcript.Yes {
		h.attributes = transcript.Attributes{"starred": true}
	}
	p.emitHeader(&h)
}

// header is what a conversation states about itself.
type header struct {
	title, model, project, group string
	created, updated             transcript.Time
	attributes                   transcript.Attributes
}

// emitHeader yields the run and its conversation.
func (p *parser) emitHeader(h *header) {
	rank, order := format.ExportRank(cmp.Or(h.updated, h.created))
	p.Emit(&transcript.Run{
		ID: p.id, Rank: rank, Group: h.group, Project: h.project, Title: h.title, Model: h.model, Started: h.created, Ended: h.updated, Attributes: h.attributes,
	})
	p.Emit(&transcript.Conversation{
		ID: p.id, Run: p.id, Shared: true, Rank: rank, Order: order,
		Title: h.title, Model: h.model, Project: h.project, Started: h.created, Ended: h.updated, Attributes: h.attributes,
	})
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	o := p.at
	o.Offset += v.Offset()
	o.Length = int64(v.Len())
	return o
}

// begin starts an event whose range is v.
func (p *parser) begin(v jsontext.Value, id string, kind transcript.Kind, role string, at transcript.Time) {
	p.lend.Reset()
	p.parts = p.parts[:0]
	p.event = transcript.Event{Conversation: p.id, ID: id, Kind: kind, Role: role, Time: at, Origin: p.origin(v)}
}

// add appends a part to the event, whose range is whole.
func (p *parser) add(whole, piece jsontext.Value) {
	p.parts = append(p.parts, p.lend.Part(whole, piece, p.text))
}

func (p *parser) emitEvent() {
	p.event.Parts = p.parts
	p.Emit(&p.event)
}

// message yields the events of one message and returns its id. before is the id of the previous message.
func (p *parser) message(m jsontext.Value, n int, before string) string {
	id := m.Get("uuid").Text()
	if id == "" || len(id) > maxID {
		id = "#" + strconv.Itoa(n)
	}
	at := m.Get("created_at").Time()
	var attributes transcript.Attributes
	if parent := m.Get("parent_message_uuid").Str(); parent != "" && parent != rootParent && parent != before {
		attributes = transcript.Attributes{"parent": parent}
	}
	if sender := m.Get("sender").Word(); sender == "assistant" {
		p.answer(m, id, at, attributes)
	} else {
		p.prompt(m, id, sender, at, attributes)
	}
	return id
}
