package search

import (
	"context"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TreeOptions select a tree.
type TreeOptions struct {
	Up    bool     // start at the topmost ancestor of the run
	Kinds []string // kinds of links that lead to children; nil means TreeKinds
}

// TreeKinds are the kinds of links that lead from a run to those that it has started.
var TreeKinds = []string{"parent", "fork", "call"}

// Node is a run, a conversation of a run, or something known only from a link.
type Node struct {
	index.Branch // without its Children; Seen means that the node is elsewhere in the tree with its children (cycles end there)
	Children     []*Node
	// Own is what the run itself used; All adds what is reachable from it, each run once. Counts are unknown if
	// nothing states them. A node that is Seen, or is not a run in the archive, has no totals.
	Own, All Totals
}

// Totals is what runs used: tokens, and money in micro-USD. Cost is the cost that counts, Reported what producers
// state.
type Totals struct {
	Runs, Events, Calls                                     int64
	Input, Output, CacheRead, CacheCreation, Cost, Reported transcript.Count
}

// Tree builds the tree of a run. Children are ordered by the times of their links. Runs that were announced but never
// arrived are included, with Found false. Errors: index.ErrNotFound, index.ErrAmbiguous.
func (s *Searcher) Tree(ctx context.Context, id string, o TreeOptions) (*Node, error) {
	kinds := o.Kinds
	if kinds == nil {
		kinds = TreeKinds
	}
	run, err := s.Index.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	id = run.ID
	if o.Up {
		if id, err = s.topmost(ctx, id, kinds); err != nil {
			return nil, err
		}
	}
	branch, err := index.Tree(ctx, s.Index, index.Node{Run: id}, kinds...)
	if err != nil {
		return nil, err
	}
	root := nodeOf(branch)
	shown := map[string]*Node{}
	root.visit(func(n *Node) {
		if n.Run.ID != "" && !n.Seen {
			shown[n.Run.ID] = n
		}
	})
	root.sum(shown, map[string]bool{})
	return root, nil
}

// topmost follows links upwards to a run that nothing leads to. Of several links it takes the oldest.
func (s *Searcher) topmost(ctx context.Context, id string, kinds []string) (string, error) {
	up := map[string]bool{}
	for _, k := range kinds {
		up[k] = true
	}
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		for l, err := range s.Index.Links(ctx, index.Node{Run: id}) {
			if err != nil {
				return "", err
			}
			if up[l.Kind] && l.To.Run == id && l.From.Run != "" && !seen[l.From.Run] {
				id = l.From.Run
				break
			}
		}
	}
	return id, nil
}

func nodeOf(b index.Branch) *Node {
	n := &Node{Branch: b}
	for _, child := range b.Children {
		if child.Run.ID == "" || child.Run.ID != b.Run.ID { // else the link is between conversations of the run
			n.Children = append(n.Children, nodeOf(child))
		}
	}
	n.Branch.Children = nil
	if b.Run.ID != "" && !b.Seen {
		c := &b.Run.Counts
		n.Own = Totals{Runs: 1, Events: c.Events, Calls: c.Calls, Input: c.Input, Output: c.Output, CacheRead: c.CacheRead,
			CacheCreation: c.CacheCreation, Cost: c.CostUsed, Reported: c.ReportedCost}
	}
	return n
}

func (n *Node) visit(f func(*Node)) {
	f(n)
	for _, child := range n.Children {
		child.visit(f)
	}
}

// sum computes All for n and the nodes below. Ancestors are not part of what a node reaches, even in a cycle.
func (n *Node) sum(shown map[string]*Node, above map[string]bool) {
	if !n.Seen {
		counted := map[string]bool{}
		for id := range above {
			counted[id] = true
		}
		n.All = n.reach(shown, counted)
	}
	if n.Run.ID != "" && !n.Seen {
		above[n.Run.ID] = true
		defer delete(above, n.Run.ID)
	}
	for _, child := range n.Children {
		child.sum(shown, above)
	}
}

// reach adds up n and what is reachable from it, except what is in counted.
func (n *Node) reach(shown map[string]*Node, counted map[string]bool) Totals {
	if id := n.Run.ID; id != "" {
		if counted[id] {
			return Totals{}
		}
		if n.Seen && shown[id] != nil {
			return shown[id].reach(shown, counted)
		}
		counted[id] = true
	}
	sum := n.Own
	for _, child := range n.Children {
		sum.add(child.reach(shown, counted))
	}
	return sum
}

func (t *Totals) add(o Totals) {
	t.Runs, t.Events, t.Calls = t.Runs+o.Runs, t.Events+o.Events, t.Calls+o.Calls
	for _, c := range []struct{ to, n *transcript.Count }{{&t.Input, &o.Input}, {&t.Output, &o.Output}, {&t.CacheRead, &o.CacheRead},
		{&t.CacheCreation, &o.CacheCreation}, {&t.Cost, &o.Cost}, {&t.Reported, &o.Reported}} {
		if c.n.Known {
			c.to.N, c.to.Known = c.to.N+c.n.N, true
		}
	}
}
