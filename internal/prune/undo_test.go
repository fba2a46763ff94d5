package prune

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// read is an index with graves that knows whether somebody reads them.
type read struct {
	Index
	graves []index.PrunedVersion
	now    bool
	asked  []int64 // versions of which ledgers were asked
}

func (r *read) PrunedVersions(context.Context, string) iter.Seq2[index.PrunedVersion, error] {
	return func(yield func(index.PrunedVersion, error) bool) {
		r.now = true
		defer func() { r.now = false }()
		for _, g := range r.graves {
			if !yield(g, nil) {
				return
			}
		}
	}
}

func (*read) Facts(context.Context, string) iter.Seq2[blob.Fact, error] {
	return func(func(blob.Fact, error) bool) {}
}

func (r *read) Ledgers(_ context.Context, orders []index.LedgerOrder) (all []index.Ledger, err error) {
	for _, o := range orders {
		r.asked = append(r.asked, o.Version)
		all = append(all, index.Ledger{Version: blob.Version{Path: fmt.Sprint(o.Version)}, Tombstoned: o.Tombstone, Runs: []index.LedgerRun{{Run: "stays"}}})
	}
	return all, nil
}

func (r *read) lose(run, plan string, version int, tombstone, ledger string) {
	g := index.PrunedVersion{Version: int64(version), Tombstone: tombstone, Fact: ledger, Time: 1}
	g.Run, g.Plan = run, plan
	r.graves = append(r.graves, g)
}

// TestUndoReadsFirst wants an undo to write while it reads nothing: the log of the index could not be emptied until its end, and was
// four times as large as the index after 900,000 originals. Each of them comes back once, whatever runs lost it.
func TestUndoReadsFirst(t *testing.T) {
	x := &read{}
	for i := range 100 {
		for run := range 2 {
			x.lose(fmt.Sprint("r", run), "p", i*7%100, fmt.Sprint("key ", i*7%100), "")
		}
	}
	var dug []string
	p := &Pruner{Index: x, BufferSize: 1, Now: func() time.Time { return time.UnixMicro(1700000000000000) },
		Write: func(_ context.Context, facts []blob.Fact) error {
			if x.now {
				t.Error("graves are read while facts are written")
			}
			for _, f := range facts {
				if f.Kind == blob.FactTombstone {
					dug = append(dug, f.Key)
				}
			}
			return nil
		}}
	out, err := p.Undo(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(dug)
	if n := len(dug); out.Originals != 100 || n != 100 || len(slices.Compact(dug)) != 100 {
		t.Errorf("%d originals come back, and %d tombstones are taken back", out.Originals, n)
	}
}

// TestUndoAsksOnlyWhatStays wants an undo to ask the index what stays of an original only where a run stays that has lost it, too: of a
// million nothing else does. Keys come back as they were, also those that are no hashes.
func TestUndoAsksOnlyWhatStays(t *testing.T) {
	x := &read{}
	want := map[string]bool{}
	for i := range 90 {
		tombstone, ledger := fmt.Sprintf("%032x", i), fmt.Sprintf("%016x", i)
		switch i % 9 {
		case 1:
			tombstone, ledger = fmt.Sprint("Tombstone ", i), fmt.Sprint("ledger ", i)
		case 2:
			tombstone = ""
		case 3:
			ledger = fmt.Sprintf("%015xF", i)
		}
		x.lose(fmt.Sprint("r", i), "p", i, tombstone, ledger)
		if i%10 == 0 {
			x.lose("stays", "q", i, tombstone, ledger)
			l := index.Ledger{Version: blob.Version{Path: fmt.Sprint(i)}}
			ledger = index.LedgerKey(&l.Version)
		}
		want["ledger "+ledger] = i%10 == 0
		if tombstone != "" {
			want["tombstone "+tombstone] = false
		}
	}
	got := map[string]bool{}
	p := &Pruner{Index: x, BufferSize: 2000, Now: time.Now, Write: func(_ context.Context, facts []blob.Fact) error {
		for _, f := range facts {
			got[f.Kind+" "+f.Key] = string(f.Value) != "null"
		}
		return nil
	}}
	out, err := p.Undo(t.Context(), []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Errorf("facts are\n%v, want\n%v", got, want)
	}
	if len(x.asked) != 9 || out.Originals != 90 || len(out.Runs) != 90 {
		t.Errorf("the index was asked of %v; %d originals of %d runs came back", x.asked, out.Originals, len(out.Runs))
	}
}
