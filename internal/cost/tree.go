package cost

import (
	"context"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
)

// Graph is an index that knows how runs hang together, and what they spent.
type Graph interface {
	index.Reader
	index.Lookup
	index.Accounts
}

// Kinds are the kinds of links that make a run a child of another.
var Kinds = []string{"parent", "call"}

// Branch is a run, or a group of runs, with what it spent by itself (Own) and with everything below it (Whole).
// What stands in the tree more than once, as in a cycle, is in the figures of its first place only.
type Branch struct {
	Kind     string   `json:"kind"` // of the link that leads here, "member" for a run of a group, "" for the root
	Type     string   `json:"type"` // run, conversation, group, actor
	NativeID string   `json:"native_id"`
	RunID    string   `json:"run_id"` // "" where the archive knows no such run
	Title    string   `json:"title"`
	Found    bool     `json:"found"` // the archive holds it
	Seen     bool     `json:"seen"`  // it stands further up, with its figures
	Own      Figures  `json:"exclusive"`
	Whole    Figures  `json:"inclusive"`
	Children []Branch `json:"children"`
}

// Tree is what a run or group spent with all that it started. By and Limit of o are not looked at. Errors:
// index.ErrNotFound, index.ErrAmbiguous.
func Tree(ctx context.Context, x Graph, root index.Node, o Options) (*Branch, error) {
	o.By = nil
	if err := o.check(); err != nil {
		return nil, err
	}
	top, err := index.Tree(ctx, x, root, Kinds...)
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

// runsAtOnce is how many runs one question names.
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

// branch takes the tally of a run where it stands first, so that it is in the sums once.
func (t *tree) branch(b *index.Branch, mode Mode) (Branch, *tally) {
	out := Branch{Kind: b.Kind, Type: b.Type, NativeID: b.NativeID, RunID: b.Run.ID, Title: b.Run.Title, Found: b.Found, Seen: b.Seen, Children: []Branch{}}
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

// share gives all figures of a tree their part of the root's cost.
func (b *Branch) share(total *int64) {
	b.Own.Share, b.Whole.Share = shareOf(b.Own.Nano, total), shareOf(b.Whole.Nano, total)
	for i := range b.Children {
		b.Children[i].share(total)
	}
}

func (t *tally) plus(o *tally) {
	t.Spent = t.Plus(o.Spent)
	t.nano, t.priced, t.unpriced = index.SaturatingAdd(t.nano, o.nano), t.priced+o.priced, t.unpriced+o.unpriced
	t.elsewhere, t.stub = t.elsewhere+o.elsewhere, t.stub+o.stub
	t.isReported, t.calculable = t.isReported+o.isReported, t.calculable+o.calculable
}
