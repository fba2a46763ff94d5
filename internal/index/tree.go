package index

import (
	"context"
	"errors"
)

// Branch is a run, group or actor in a tree of links, with its children.
type Branch struct {
	Kind         string // of the link that leads here; "member" for a run of a group; "" for the root
	Type         string // run, conversation, group, actor
	NativeID     string
	Conversation string // native id, when the link points to one conversation of the run
	Run          Run    // ID is "" when the archive knows no run of that name
	Found        bool   // it is archived; false for what is mentioned but never was archived
	Seen         bool   // it is in the tree already, and its children are shown there
	Children     []Branch
}

// Tree follows outgoing links from a run or group to everything reachable: the oldest link first. Each node is
// expanded once, so cycles end. kinds selects kinds of links; none means all. An end that is not archived is a branch
// with Found false. Errors: ErrNotFound when there is no such run, ErrAmbiguous.
func Tree(ctx context.Context, x interface {
	Reader
	Lookup
}, root Node, kinds ...string) (Branch, error) {
	t := tree{ctx: ctx, x: x, kinds: map[string]bool{}, seen: map[Node]bool{}}
	for _, k := range kinds {
		t.kinds[k] = true
	}
	if root.Run == "" {
		b := Branch{Type: "group", NativeID: root.Group, Found: true}
		return b, t.grow(&b, Node{Format: root.Format, Group: root.Group})
	}
	run, err := x.Run(ctx, root.Run)
	if err != nil {
		return Branch{}, err
	}
	b := Branch{Type: "run", NativeID: run.NativeID, Run: run, Found: run.Counted}
	err = t.grow(&b, Node{Run: run.ID})
	return b, err
}

type tree struct {
	ctx context.Context
	x   interface {
		Reader
		Lookup
	}
	kinds map[string]bool
	seen  map[Node]bool
}

// grow adds the children of b, which stands for node.
func (t *tree) grow(b *Branch, node Node) error {
	t.seen[node] = true
	if node.Run == "" {
		for run, err := range t.x.Runs(t.ctx, Selection{Format: node.Format, Group: node.Group}, Page{}) {
			if err != nil {
				return err
			}
			b.Children = append(b.Children, Branch{Kind: "member", Type: "run", NativeID: run.NativeID, Run: run, Found: true})
		}
	}
	for l, err := range t.x.Links(t.ctx, node) {
		if err != nil {
			return err
		}
		if (len(t.kinds) == 0 || t.kinds[l.Kind]) && isOutgoing(l, b, node) {
			child, err := t.target(l)
			if err != nil {
				return err
			}
			b.Children = append(b.Children, child)
		}
	}
	for i := range b.Children {
		child := &b.Children[i]
		next := Node{Run: child.Run.ID}
		if child.Type == "group" {
			next = Node{Format: b.format(node), Group: child.NativeID}
		}
		if next == (Node{}) {
			continue
		}
		if child.Seen = t.seen[next]; child.Seen {
			continue
		}
		if err := t.grow(child, next); err != nil {
			return err
		}
	}
	return nil
}

// format returns the format of a group that is a child of b, which stands for node. Links never cross formats.
func (b *Branch) format(node Node) string {
	if node.Run == "" {
		return node.Format
	}
	return b.Run.Format
}

// Family returns the ids of a run and of all its known descendants by links of the kind parent, breadth first; the
// children of a run are in the order of their links, the oldest first.
func Family(ctx context.Context, x Reader, run string) ([]string, error) {
	ids, seen := []string{run}, map[string]bool{run: true}
	for i := 0; i < len(ids); i++ {
		for l, err := range x.Links(ctx, Node{Run: ids[i]}) {
			if err != nil {
				return nil, err
			}
			if l.Kind == "parent" && l.From.Run == ids[i] && l.To.Run != "" && !seen[l.To.Run] {
				ids, seen[l.To.Run] = append(ids, l.To.Run), true
			}
		}
	}
	return ids, nil
}

// isOutgoing reports whether a link starts at b, which stands for node.
func isOutgoing(l Link, b *Branch, node Node) bool {
	switch l.From.Type {
	case "run", "conversation":
		return node.Run != "" && l.From.Run == node.Run
	case "group":
		return node.Run == "" && l.From.NativeID == node.Group || node.Run != "" && l.From.NativeID == b.Run.Group
	}
	return false
}

// target returns the branch, still without children, that a link leads to.
func (t *tree) target(l Link) (Branch, error) {
	b := Branch{Kind: l.Kind, Type: l.To.Type, NativeID: l.To.NativeID, Conversation: l.To.Conversation, Found: l.To.Found}
	if l.To.Run == "" {
		return b, nil
	}
	run, err := t.x.Run(t.ctx, l.To.Run)
	if errors.Is(err, ErrNotFound) {
		return b, nil
	}
	b.Run = run
	return b, err
}
