package format

import (
	"cmp"
	"slices"

	"github.com/txarchive/txarchive/internal/transcript"
)

// MaxTree is how many nodes a Tree takes. Real conversations have some thousands.
const MaxTree = 1 << 20

// Tree has the nodes of a conversation in which each names the one that it follows: edits of a prompt and repeated answers are
// branches. It sorts them by these names and by time alone, since exports list them in any order. The zero Tree is ready.
type Tree struct {
	nodes   []treeNode
	indexOf map[string]int32 // index in nodes by key
	order   []int32
}

// treeNode has the relatives of a node as indices in the list of nodes, -1 for none.
type treeNode struct {
	parent                string
	at                    int64 // for sorting; that of the parent if it is unknown
	timed, seen           bool
	up, first, last, next int32
}

// Reset removes all nodes.
func (t *Tree) Reset() {
	t.nodes, t.order = t.nodes[:0], t.order[:0]
	if t.indexOf == nil || len(t.indexOf) > 4096 {
		t.indexOf = map[string]int32{}
	}
	clear(t.indexOf)
}

// Add adds a node and returns its index, which rises by one from 0; of duplicate keys, for which the index is the first one's, the last
// counts, as for most readers. It returns false if there are MaxTree nodes.
func (t *Tree) Add(key, parent string, at transcript.Time) (int, bool) {
	n := treeNode{parent: parent, at: at.UnixMicro, timed: at.Valid, up: -1, first: -1, last: -1, next: -1}
	if i, twice := t.indexOf[key]; twice {
		t.nodes[i] = n
		return int(i), true
	}
	if len(t.nodes) == MaxTree {
		return 0, false
	}
	t.indexOf[key] = int32(len(t.nodes))
	t.nodes = append(t.nodes, n)
	return len(t.nodes) - 1, true
}

// Index returns the index of a key.
func (t *Tree) Index(key string) (int, bool) {
	i, ok := t.indexOf[key]
	return int(i), ok
}

// Up returns the index of the node that node i follows, -1 for none. It is known once the Tree is sorted.
func (t *Tree) Up(i int) int { return int(t.nodes[i].up) }

// Sort returns the indices of all nodes in pre-order: a node precedes its children, and an earlier child with its subtree precedes the
// next. Nodes in a cycle come last. The result is valid until Reset.
func (t *Tree) Sort() []int32 {
	for _, i := range t.link() {
		t.walk(i)
	}
	for i := range t.nodes { // nodes in a cycle
		t.walk(int32(i))
	}
	return t.order
}

// link links children to their parents, in the order of Add, and returns the nodes without a parent.
func (t *Tree) link() (roots []int32) {
	for i := range t.nodes {
		n := &t.nodes[i]
		up, ok := t.indexOf[n.parent]
		if n.parent == "" || !ok || up == int32(i) {
			roots = append(roots, int32(i))
			continue
		}
		n.up = up
		if parent := &t.nodes[up]; parent.first < 0 {
			parent.first, parent.last = int32(i), int32(i)
		} else {
			t.nodes[parent.last].next = int32(i)
			parent.last = int32(i)
		}
	}
	return roots
}

// walk appends a node and its subtree to the order.
func (t *Tree) walk(root int32) {
	var children []int32
	stack := []int32{root}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := &t.nodes[i]
		if n.seen {
			continue
		}
		n.seen = true
		t.order = append(t.order, i)
		children = children[:0]
		for c := n.first; c >= 0; c = t.nodes[c].next {
			if child := &t.nodes[c]; !child.timed {
				child.at = n.at
			}
			children = append(children, c)
		}
		slices.SortStableFunc(children, func(a, b int32) int { return cmp.Compare(t.nodes[a].at, t.nodes[b].at) })
		slices.Reverse(children)
		stack = append(stack, children...)
	}
}
