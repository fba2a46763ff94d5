package chatgpt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// node is one entry of a mapping. Its relatives are indices in the list of nodes, -1 for none.
type node struct {
	key     string
	message jsontext.Value
	parent  string
	at      transcript.Time

	up, first, last, next int32
	kind                  transcript.Kind
	role, call            string
	seen, shown           bool
	copied                bool // a message before the one that a branched conversation began with
}

func (n *node) slug() string {
	if n.role != "assistant" && n.kind != transcript.KindReasoning {
		return ""
	}
	return n.message.Get("metadata", "model_slug").Word()
}

// maxNodes is how many nodes of a conversation are read. Real conversations have some thousands.
const maxNodes = 1 << 20

// tree reads the nodes of a conversation and sorts them in pre-order: a node precedes its children, and an earlier child
// with its subtree precedes the next.
func (p *parser) tree(h header) {
	p.nodes, p.order = p.nodes[:0], p.order[:0]
	if len(p.indexOf) > 4096 {
		p.indexOf = map[string]int32{}
	}
	clear(p.indexOf)
	for key, v := range h.mapping.Fields() {
		n := node{key: key, message: v.Get("message"), parent: v.Get("parent").Str(), up: -1, first: -1, last: -1, next: -1}
		if n.message.IsObject() {
			n.at = n.message.Get("create_time").TimeOrUnix()
			n.kind, n.role = classify(n.message)
		}
		if at, twice := p.indexOf[key]; twice { // of duplicate keys the last counts, as for most readers
			p.nodes[at] = n
			continue
		}
		if len(p.nodes) == maxNodes {
			p.Emit(&transcript.Problem{Run: h.id, Kind: "too many messages", Reason: fmt.Sprintf("more than %d nodes", maxNodes), Origin: p.at})
			break
		}
		p.indexOf[key] = int32(len(p.nodes))
		p.nodes = append(p.nodes, n)
	}
	roots := p.linkChildren()
	for _, i := range roots {
		p.walk(i)
	}
	for i := range p.nodes { // nodes in a cycle
		p.walk(int32(i))
	}
	p.mark(h.current)
}

// linkChildren links children to their parents, in file order, and returns the nodes without a parent.
func (p *parser) linkChildren() (roots []int32) {
	for i := range p.nodes {
		n := &p.nodes[i]
		up, ok := p.indexOf[n.parent]
		if n.parent == "" || !ok || up == int32(i) {
			roots = append(roots, int32(i))
			continue
		}
		n.up = up
		if parent := &p.nodes[up]; parent.first < 0 {
			parent.first, parent.last = int32(i), int32(i)
		} else {
			p.nodes[parent.last].next = int32(i)
			parent.last = int32(i)
		}
	}
	return roots
}

// walk appends a node and its subtree to the order.
func (p *parser) walk(root int32) {
	var children []int32
	stack := []int32{root}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := &p.nodes[i]
		if n.seen {
			continue
		}
		n.seen = true
		p.order = append(p.order, i)
		children = children[:0]
		for c := n.first; c >= 0; c = p.nodes[c].next {
			if child := &p.nodes[c]; !child.at.Valid {
				child.at.UnixMicro = n.at.UnixMicro // only for sorting
			}
			children = append(children, c)
		}
		slices.SortStableFunc(children, func(a, b int32) int { return cmp.Compare(p.nodes[a].at.UnixMicro, p.nodes[b].at.UnixMicro) })
		slices.Reverse(children)
		stack = append(stack, children...)
	}
}

// mark sets shown on the nodes on the path to current, and copied on those that come from another conversation.
func (p *parser) mark(current string) {
	i, ok := p.indexOf[current]
	if !ok {
		for i := range p.nodes {
			p.nodes[i].shown = true
		}
	}
	for ok && i >= 0 && !p.nodes[i].shown {
		p.nodes[i].shown = true
		i = p.nodes[i].up
	}
	for i := range p.nodes {
		if branchOf(p.nodes[i].message) == "" {
			continue
		}
		for up := p.nodes[i].up; up >= 0 && !p.nodes[up].copied; up = p.nodes[up].up {
			p.nodes[up].copied = true
		}
	}
}

// branchOf returns the conversation that was branched with this message.
func branchOf(message jsontext.Value) string {
	return message.Get("metadata", "branching_from_conversation_id").Str()
}
