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

// readTracker is an index with pruned versions that records whether somebody is reading them.
type readTracker struct {
	Index
	pruned []index.PrunedVersion
	now    bool
	asked  []int64 // versions of which ledgers were asked
}

func (r *readTracker) PrunedVersions(context.Context, string) iter.Seq2[index.PrunedVersion, error] {
	return func(yield func(index.PrunedVersion, error) bool) {
		r.now = true
		defer func() { r.now = false }()
		for _, g := range r.pruned {
			if !yield(g, nil) {
				return
			}
		}
	}
}

func (*readTracker) Facts(context.Context, string) iter.Seq2[blob.Fact, error] {
	return func(func(blob.Fact, error) bool) {}
}

func (*readTracker) Remember(context.Context, string, string) error { return nil }

func (*readTracker) Recall(context.Context, string) (string, error) { return "", nil }

func (*readTracker) Displaced(context.Context) ([]index.Displaced, error) { return nil, nil }

func (r *readTracker) Ledgers(_ context.Context, orders []index.LedgerOrder) (all []index.Ledger, err error) {
	for _, o := range orders {
		r.asked = append(r.asked, o.Version)
		all = append(all, index.Ledger{Version: blob.Version{Path: fmt.Sprint(o.Version)}, Tombstoned: o.Tombstone, Runs: []index.LedgerRun{{Run: "stays"}}})
	}
	return all, nil
}

func (r *readTracker) lose(run, plan string, version int, tombstone, ledger string) {
	g := index.PrunedVersion{Version: int64(version), Tombstone: tombstone, Fact: ledger, Time: 1}
	g.Run, g.Plan = run, plan
	r.pruned = append(r.pruned, g)
}

// TestUndoReadsFirst checks that an undo does not write while it reads: the WAL of the index could not be
// checkpointed until the end, and was four times as large as the index after 900,000 originals. Each original comes
// back once, whatever runs lost it.
func TestUndoReadsFirst(t *testing.T) {
	x := &readTracker{}
	for i := range 100 {
		for run := range 2 {
			x.lose(fmt.Sprint("r", run), "p", i*7%100, fmt.Sprint("key ", i*7%100), "")
		}
	}
	var dug []string
	p := &Pruner{Index: x, BufferSize: 1, Now: func() time.Time { return time.UnixMicro(1700000000000000) },
		Write: func(_ context.Context, facts []blob.Fact) error {
			if x.now {
				t.Error("pruned versions are read while facts are written")
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

// TestUndoAsksOnlyWhatStays checks that an undo queries the ledger of an original only if another run that has lost
// it, too, is not restored: for most of a million there is none. Keys come back unchanged, including those that are
// not hashes.
func TestUndoAsksOnlyWhatStays(t *testing.T) {
	x := &readTracker{}
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
