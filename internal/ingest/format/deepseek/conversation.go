package deepseek

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// maxID is the length of the longest id that is accepted, in bytes. The producer's are UUIDs.
const maxID = 200

// conversation yields the records of one element.
func (p *parser) conversation(o jsontext.Object) {
	v := o.Value
	id, mapping := v.Get("id").Text(), v.Get("mapping")
	if id == "" || len(id) > maxID || !mapping.IsObject() && !mapping.IsNull() {
		p.Emit(&transcript.Problem{Kind: "not a conversation", Reason: "no id, or a mapping that is no object", Origin: o.Origin})
		return
	}
	p.at, p.id = o.Origin, id
	order := p.readTree(mapping)
	p.emitRun(v, order)
	before := ""
	for _, i := range order {
		if n := &p.nodes[i]; n.message.IsObject() && !p.Done() {
			p.message(n, p.parentOf(int(i), before))
			before = n.key
		}
	}
}

// readTree reads the nodes of a conversation and returns their order.
func (p *parser) readTree(mapping jsontext.Value) []int32 {
	p.nodes = p.nodes[:0]
	p.tree.Reset()
	for key, v := range mapping.Fields() {
		n := node{key: format.ShortID(key), message: v.Get("message")}
		n.at, n.model = n.message.Get("inserted_at").TimeOrUnix(), format.ShortID(n.message.Get("model").Word())
		i, ok := p.tree.Add(n.key, format.ShortID(v.Get("parent").Text()), n.at)
		if !ok {
			p.Emit(&transcript.Problem{Run: p.id, Kind: "too many messages", Reason: fmt.Sprintf("more than %d nodes", format.MaxTree), Origin: p.at})
			break
		}
		if i < len(p.nodes) {
			p.nodes[i] = n
		} else {
			p.nodes = append(p.nodes, n)
		}
	}
	return p.tree.Sort()
}

// parentOf returns what node i follows, if that is another message than the one before it.
func (p *parser) parentOf(i int, before string) string {
	for up, steps := p.tree.Up(i), 0; up >= 0 && steps < 100; up, steps = p.tree.Up(up), steps+1 {
		if n := &p.nodes[up]; n.message.IsObject() {
			if n.key == before {
				return ""
			}
			return n.key
		}
	}
	return ""
}

// emitRun yields the run and its conversation. Its model is that of the latest answer.
func (p *parser) emitRun(v jsontext.Value, order []int32) {
	created, updated := v.Get("inserted_at").TimeOrUnix(), v.Get("updated_at").TimeOrUnix()
	model, title, latest, last := "", v.Get("title").Str(), transcript.Time{}, transcript.Time{}
	for _, i := range order {
		n := &p.nodes[i]
		if n.at.Valid && n.at.UnixMicro > last.UnixMicro {
			last = n.at
		}
		if isAnswer(n.message) {
			if n.model != "" && n.at.UnixMicro >= latest.UnixMicro {
				model, latest = n.model, n.at
			}
		} else if title == "" {
			title = format.Title(jsontext.Build(func(b []byte) []byte { return appendAsked(b, n.message) }))
		}
	}
	if !updated.Valid {
		updated = last
	}
	rank, by := format.ExportRank(cmp.Or(updated, created))
	p.Emit(&transcript.Run{ID: p.id, Rank: rank, Title: title, Model: model, Started: created, Ended: updated})
	p.Emit(&transcript.Conversation{
		ID: p.id, Run: p.id, Shared: true, Rank: rank, Order: by, Title: title, Model: model, Started: created, Ended: updated,
	})
}
