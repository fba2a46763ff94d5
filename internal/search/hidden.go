package search

import (
	"context"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	// countMax bounds how many hidden hits are counted if the index counts them, fetchMax if they must be fetched.
	countMax = 1000
	fetchMax = 100
	// checkBudget is how many bytes of text may be read to count what a filter hides.
	checkBudget = 16 << 20
)

// filters returns the operands of a conjunction that narrow the query and can be left out: fields, times, numbers and
// negations.
func filters(n query.Node) []query.Node {
	and, ok := n.(query.And)
	if !ok {
		return nil
	}
	var out []query.Node
	for _, n := range and.Of {
		switch n.(type) {
		case query.Field, query.Range, query.Compare, query.Not:
			out = append(out, n)
		}
	}
	return out
}

// without returns a query with one of its conditions replaced by more, which may be empty.
func without(n, drop query.Node, more ...query.Node) *query.Tree {
	var of []query.Node
	for _, m := range query.Conditions(n) {
		if m.String() != drop.String() {
			of = append(of, m)
		}
	}
	return &query.Tree{Root: query.Conjunction(append(of, more...)...)}
}

// fillHidden counts the hits that filters and default rules leave out.
func (a *Answer) fillHidden(ctx context.Context, c *Coverage) error {
	if err := a.hiddenByRule(ctx, c); err != nil {
		return err
	}
	if a.tree.Root == nil {
		return nil
	}
	for _, f := range filters(a.tree.Root) {
		n, more, err := a.count(ctx, without(a.tree.Root, f, negated(f, true)), a.o.AllVersions)
		if _, ok := errors.AsType[*index.UnsupportedError](err); ok {
			continue
		}
		if err != nil {
			return err
		}
		if n > 0 || more {
			c.Hidden = append(c.Hidden, Hidden{By: a.typedTimes.Print(f), Hits: n, AtLeast: more})
		}
	}
	return nil
}

// hiddenByRule counts hits that repeat others: copies, copied history, earlier versions.
func (a *Answer) hiddenByRule(ctx context.Context, c *Coverage) error {
	if a.o.AllVersions {
		return nil
	}
	if len(a.patterns()) == 0 {
		all, more, err := a.count(ctx, a.tree, true)
		if err != nil || more {
			return err
		}
		shown, _, err := a.count(ctx, a.tree, false)
		if n := all - shown; n > 0 {
			c.Hidden = append(c.Hidden, Hidden{By: "earlier versions and copies", Rule: true, Hits: n})
		}
		return err
	}
	verdicts := map[transcript.Verdict]int64{}
	var order []transcript.Verdict
	shown := func(f *found) bool { return f.Verdict == transcript.Counted || f.Verdict == transcript.Uncounted }
	more, err := a.eachHit(ctx, a.tree, true, shown, func(f *found) {
		if verdicts[f.Verdict]++; verdicts[f.Verdict] == 1 {
			order = append(order, f.Verdict)
		}
	})
	slices.Sort(order)
	for _, v := range order {
		c.Hidden = append(c.Hidden, Hidden{By: string(v), Rule: true, Hits: verdicts[v], AtLeast: more})
	}
	return err
}

// count counts the hits of a query up to a limit; more reports whether the limit was reached.
func (a *Answer) count(ctx context.Context, t *query.Tree, all bool) (n int64, more bool, err error) {
	if !patterned(t.Root) {
		n, err = a.s.Index.Count(ctx, t, index.Page{Limit: countMax, AllVersions: all})
		return n, n == countMax, err
	}
	more, err = a.eachHit(ctx, t, all, nil, func(*found) { n++ })
	return n, more, err
}

// eachHit calls visit for the newest hits of a query, except those for which pass returns true, and reports whether
// there are more.
func (a *Answer) eachHit(ctx context.Context, t *query.Tree, all bool, pass func(*found) bool, visit func(*found)) (more bool, err error) {
	sub, err := a.s.FindTree(ctx, t, Options{AllVersions: all, Limit: fetchMax, NoSnippets: true, Budget: checkBudget})
	if err != nil {
		return false, err
	}
	sub.candidates.memo = a.candidates.memo
	n := 0
	sub.accept = pass
	for f, err := range sub.stream(ctx, "") {
		if errors.Is(err, errBudget) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if n == fetchMax {
			return true, nil
		}
		if n++; pass == nil || !pass(&f) {
			visit(&f)
		}
	}
	return false, nil
}
