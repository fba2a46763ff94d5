package chatgpt

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// node is one entry of a mapping, with the index that it has in the tree.
type node struct {
	key     string
	message jsontext.Value
	at      transcript.Time

	kind       transcript.Kind
	role, call string
	shown      bool
	copied     bool // a message before the one that a branched conversation began with
}

func (n *node) slug() string {
	if n.role != "assistant" && n.kind != transcript.KindReasoning {
		return ""
	}
	return n.message.Get("metadata", "model_slug").Word()
}

// readTree reads the nodes of a conversation and sorts them.
func (p *parser) readTree(h header) {
	p.nodes = p.nodes[:0]
	p.tree.Reset()
	for key, v := range h.mapping.Fields() {
		n := node{key: key, message: v.Get("message")}
		if n.message.IsObject() {
			n.at = n.message.Get("create_time").TimeOrUnix()
			n.kind, n.role = classify(n.message)
		}
		i, ok := p.tree.Add(key, v.Get("parent").Str(), n.at)
		switch {
		case !ok:
			p.Emit(&transcript.Problem{Run: h.id, Kind: "too many messages", Reason: fmt.Sprintf("more than %d nodes", format.MaxTree), Origin: p.at})
		case i < len(p.nodes):
			p.nodes[i] = n
		default:
			p.nodes = append(p.nodes, n)
		}
		if !ok {
			break
		}
	}
	p.order = p.tree.Sort()
	p.mark(h.current)
}

// mark sets shown on the nodes on the path to current, and copied on those that come from another conversation.
func (p *parser) mark(current string) {
	i, ok := p.tree.Index(current)
	if !ok {
		for i := range p.nodes {
			p.nodes[i].shown = true
		}
	}
	for ok && i >= 0 && !p.nodes[i].shown {
		p.nodes[i].shown = true
		i = p.tree.Up(i)
	}
	for i := range p.nodes {
		if branchOf(p.nodes[i].message) == "" {
			continue
		}
		for up := p.tree.Up(i); up >= 0 && !p.nodes[up].copied; up = p.tree.Up(up) {
			p.nodes[up].copied = true
		}
	}
}

// branchOf returns the conversation that was branched with this message.
func branchOf(message jsontext.Value) string {
	return message.Get("metadata", "branching_from_conversation_id").Str()
}
