package cost

import (
	"context"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Graph is an index that knows the links between runs, and what they spent.
type Graph interface {
	index.Reader
	index.Lookup
	index.Accounts
}

// childLinks are the kinds of links that make a run a child of another.
var childLinks = []string{"parent", "call"}

// Branch is a run, or a group of runs, with what it spent itself (Own) and including everything below it (Whole). A
// run that occurs in the tree more than once, as in a cycle, is counted only where it occurs first.
type Branch struct {
	Kind     transcript.Text `json:"kind"` // kind of the link that leads here, "member" for a run of a group, "" for the root
	Type     string          `json:"type"` // run, conversation, group, actor
	NativeID transcript.Text `json:"native_id"`
	RunID    transcript.Text `json:"run_id"` // "" if the run is not in the archive
	Title    transcript.Text `json:"title"`
	Found    bool            `json:"found"` // it is in the archive
	Seen     bool            `json:"seen"`  // it occurs further up, with its figures
	Own      Figures         `json:"exclusive"`
	Whole    Figures         `json:"inclusive"`
	Children []Branch        `json:"children"`
}

// Tree returns what a run or group spent, including all runs that it started. By and Limit of o are ignored. Errors:
// index.ErrNotFound, index.ErrAmbiguous.
func Tree(ctx context.Context, x Graph, root index.Node, o Options) (*Branch, error) {
	o.By = nil
	if err := o.check(); err != nil {
		return nil, err
	}
	top, err := index.Tree(ctx, x, root, childLinks...)
	if err != nil {
		return nil, err
	}
	t := &tree{runs: map[string]*tally{}}
	t.collect(&top)
	if err := t.sum(ctx, x, o); err != nil {
		return nil, err
	}
	b, whole := t.branch(&top, o.Mode)
	total := whole.figures().Nano
	b.share(total)
	return &b, nil
}

type tree struct {
	runs map[string]*tally // by public id, each once
	ids  []string
}

func (t *tree) collect(b *index.Branch) {
	if id := b.Run.ID; id != "" && t.runs[id] == nil {
		t.runs[id] = &tally{}
		t.ids = append(t.ids, id)
	}
	for i := range b.Children {
		t.collect(&b.Children[i])
	}
}

// runsAtOnce is how many runs one query names.
const runsAtOnce = 500

func (t *tree) sum(ctx context.Context, x Graph, o Options) error {
	q := o.sum()
	q.By = []index.Dimension{index.ByRun}
	for ids := range slices.Chunk(t.ids, runsAtOnce) {
		q.Runs = ids
		for s, err := range x.Sum(ctx, q) {
			if err != nil {
				return err
			}
			own := t.runs[s.Keys[0].Text]
			own.mode = o.Mode
			own.add(s)
		}
	}
	return nil
}

// branch builds a subtree. It removes the tally of a run where it first occurs, so that the run is summed once.
func (t *tree) branch(b *index.Branch, mode Mode) (Branch, *tally) {
	out := Branch{Kind: transcript.Text(b.Kind), Type: b.Type, NativeID: transcript.Text(b.NativeID), RunID: transcript.Text(b.Run.ID),
		Title: transcript.Text(b.Run.Title), Found: b.Found, Seen: b.Seen, Children: []Branch{}}
	whole := &tally{mode: mode}
	if own := t.runs[b.Run.ID]; own != nil && !b.Seen {
		whole.plus(own)
		delete(t.runs, b.Run.ID)
	}
	out.Own = whole.figures()
	for i := range b.Children {
		child, sum := t.branch(&b.Children[i], mode)
		out.Children = append(out.Children, child)
		whole.plus(sum)
	}
	out.Whole = whole.figures()
	return out, whole
}

// share sets the shares of all figures of a tree, relative to the root's cost.
func (b *Branch) share(total *int64) {
	b.Own.Share, b.Whole.Share = shareOf(b.Own.Nano, total), shareOf(b.Whole.Nano, total)
	for i := range b.Children {
		b.Children[i].share(total)
	}
}

func (t *tally) plus(o *tally) {
	t.Spent = t.Plus(o.Spent)
	t.nano, t.priced, t.unpriced = index.SaturatingAdd(t.nano, o.nano), t.priced+o.priced, t.unpriced+o.unpriced
	t.costElsewhere, t.stub = t.costElsewhere+o.costElsewhere, t.stub+o.stub
	t.withReported, t.withCalculated = t.withReported+o.withReported, t.withCalculated+o.withCalculated
}
