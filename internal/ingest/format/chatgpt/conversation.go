package chatgpt

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// header holds what a conversation states about itself.
type header struct {
	id, title, current, model, gizmo string
	mapping                          jsontext.Value
	created, updated                 transcript.Time
	attributes                       transcript.Attributes
}

func readHeader(v jsontext.Value) header {
	var h header
	other := ""
	for key, f := range v.Fields() {
		switch key {
		case "conversation_id":
			h.id = f.Text()
		case "id":
			other = f.Text()
		case "title":
			h.title = f.Str()
		case "create_time":
			h.created = f.TimeOrUnix()
		case "update_time":
			h.updated = f.TimeOrUnix()
		case "mapping":
			h.mapping = f
		case "current_node":
			h.current = f.Str()
		case "default_model_slug":
			h.model = f.Str()
		case "gizmo_id":
			h.gizmo = f.Str()
		case "conversation_origin":
			h.attributes.Set("origin", f.Str())
		case "is_archived", "is_starred":
			if f.Bool() == transcript.Yes {
				h.attributes.Set(key[len("is_"):], true)
			}
		}
	}
	h.id = cmp.Or(h.id, other)
	h.attributes.Set("gizmo", h.gizmo)
	return h
}

// maxID is the length of the longest id that is accepted, in bytes. The producer's are UUIDs.
const maxID = 200

// conversation yields the records of one element.
func (p *parser) conversation(o jsontext.Object) {
	h := readHeader(o.Value)
	if h.id == "" || len(h.id) > maxID || !h.mapping.IsObject() && !h.mapping.IsNull() {
		p.Emit(&transcript.Problem{Kind: "not a conversation", Reason: "no id, or a mapping that is no object", Origin: o.Origin})
		return
	}
	p.at, p.id = o.Origin, h.id
	p.readTree(h)
	p.emitRun(h)
	clear(p.ids)
	p.calls = 0
	before := ""
	for _, i := range p.order {
		if n := &p.nodes[i]; n.message.IsObject() && !p.Done() {
			before = p.message(int(i), before)
		}
	}
}

// emitRun yields the run and its conversation.
func (p *parser) emitRun(h header) {
	rank, order := format.ExportRank(cmp.Or(h.updated, h.created))
	model, title, last := "", h.title, transcript.Time{}
	for _, i := range p.order {
		n := &p.nodes[i]
		if slug := n.slug(); slug != "" && (n.shown || model == "") {
			model = slug
		}
		if title == "" && n.kind == transcript.KindMessage && n.role == "user" {
			title = format.Title(jsontext.Build(func(b []byte) []byte { return appendMessage(b, n.message) }))
		}
		if n.at.Valid && n.at.UnixMicro > last.UnixMicro {
			last = n.at
		}
	}
	if model == "" && h.model != "auto" {
		model = h.model
	}
	if !h.updated.Valid {
		h.updated = last
	}
	group := ""
	if len(h.gizmo) > 4 && h.gizmo[:4] == "g-p-" { // a project; other gizmos are assistants
		group = h.gizmo
	}
	p.Emit(&transcript.Run{
		ID: h.id, Rank: rank, Group: group, Title: title, Model: model, Started: h.created, Ended: h.updated, Attributes: h.attributes,
	})
	p.Emit(&transcript.Conversation{
		ID: h.id, Run: h.id, Shared: true, Rank: rank, Order: order,
		Title: title, Model: model, Started: h.created, Ended: h.updated, Attributes: h.attributes,
	})
}
