package grokexport

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// maxID is the length of the longest id that is accepted, in bytes. The producer's are UUIDs.
const maxID = 200

// conversation yields the records of one element.
func (p *parser) conversation(v jsontext.Value, at transcript.Origin) {
	c, responses := v.Get("conversation"), v.Get("responses")
	id := c.First("id", "conversation_id").Text()
	if id == "" || len(id) > maxID || !responses.IsArray() && !responses.IsNull() {
		p.Emit(&transcript.Problem{Kind: "not a conversation", Reason: "no id, or responses that are no list", Origin: at})
		return
	}
	p.at, p.id, p.calls = at, id, 0
	order := p.readTree(responses)
	p.mark(format.ShortID(c.Get("leaf_response_id").Text()))
	p.emitRun(c, order)
	before := ""
	for _, i := range order {
		if p.Done() {
			return
		}
		p.node, p.parent = &p.nodes[i], ""
		if up := p.tree.Up(int(i)); up >= 0 && p.nodes[up].key != before {
			p.parent = p.nodes[up].key
		}
		p.response()
		before = p.node.key
	}
}

// readTree reads the responses of a conversation and returns their order.
func (p *parser) readTree(responses jsontext.Value) []int32 {
	p.nodes = p.nodes[:0]
	p.tree.Reset()
	for i, r := range responses.Numbered() {
		v := r.Get("response")
		if !v.IsObject() {
			p.Emit(&transcript.Problem{Run: p.id, Kind: "not a response", Reason: "a JSON value of another type", Origin: p.origin(r)})
			continue
		}
		n := node{key: format.ShortID(v.First("_id", "response_id").Text()), v: v, at: timeOf(v.Get("create_time"))}
		if n.human = strings.EqualFold(v.Get("sender").Word(), "human"); !n.human {
			n.model = format.ShortID(modelOf(v))
		}
		if n.key == "" {
			n.key = "#" + strconv.Itoa(i+1)
		}
		at, ok := p.tree.Add(n.key, format.ShortID(v.Get("parent_response_id").Text()), n.at)
		if !ok {
			p.Emit(&transcript.Problem{Run: p.id, Kind: "too many messages", Reason: fmt.Sprintf("more than %d responses", format.MaxTree), Origin: p.at})
			break
		}
		if at < len(p.nodes) {
			p.nodes[at] = n
		} else {
			p.nodes = append(p.nodes, n)
		}
	}
	return p.tree.Sort()
}

// mark sets hidden on the responses that are not on the path to leaf, if there is such a response.
func (p *parser) mark(leaf string) {
	at, ok := p.tree.Index(leaf)
	for i := range p.nodes {
		p.nodes[i].hidden = ok
	}
	for ; ok && at >= 0 && p.nodes[at].hidden; at = p.tree.Up(at) {
		p.nodes[at].hidden = false
	}
}

// emitRun yields the run and its conversation. Its model is that of the last answer that is shown.
func (p *parser) emitRun(c jsontext.Value, order []int32) {
	created, updated := timeOf(c.Get("create_time")), timeOf(c.Get("modify_time"))
	model, title, last := "", c.Get("title").Str(), transcript.Time{}
	for _, i := range order {
		n := &p.nodes[i]
		if n.at.Valid && n.at.UnixMicro > last.UnixMicro {
			last = n.at
		}
		if own := n.model; own != "" && (!n.hidden || model == "") {
			model = own
		}
		if n.human && title == "" {
			title = format.Title(n.v.Get("message").Str())
		}
	}
	if !updated.Valid {
		updated = last
	}
	var attributes transcript.Attributes
	if c.Get("starred").Bool() == transcript.Yes {
		attributes.Set("starred", true)
	}
	attributes.Set("system_prompt", c.Get("system_prompt_name").Word())
	rank, by := format.ExportRank(cmp.Or(updated, created))
	p.Emit(&transcript.Run{ID: p.id, Rank: rank, Title: title, Model: model, Started: created, Ended: updated, Attributes: attributes})
	p.Emit(&transcript.Conversation{
		ID: p.id, Run: p.id, Shared: true, Rank: rank, Order: by, Title: title, Model: model, Started: created, Ended: updated, Attributes: attributes,
	})
}

// modelOf returns the model of an answer: what its request was resolved to, the one that was chosen, or its sender, which some name after the model.
func modelOf(answer jsontext.Value) string {
	m := answer.Get("metadata")
	model := cmp.Or(m.Get("request_metadata", "resolved_model").Word(), answer.Get("model").Word(), m.Get("requestModelDetails", "modelId").Word())
	if sender := answer.Get("sender").Word(); model == "" && !strings.EqualFold(sender, "assistant") {
		model = sender
	}
	return model
}

// timeOf returns a time, which is a string, or MongoDB's {"$date":{"$numberLong":"<milliseconds>"}} or {"$date":<string>}.
func timeOf(v jsontext.Value) transcript.Time {
	if date := v.Get("$date"); date.Exists() {
		v = date
	}
	if n := v.Get("$numberLong"); n.Exists() {
		return n.Unwrap().MilliTime()
	}
	return v.TimeOrMilli()
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	o := p.at
	o.Offset += v.Offset()
	o.Length = int64(v.Len())
	return o
}
