package prune

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// read is an index with graves that knows whether somebody reads them.
type read struct {
	Register
	graves []index.Grave
	now    bool
}

func (r *read) Graves(context.Context, string) iter.Seq2[index.Grave, error] {
	return func(yield func(index.Grave, error) bool) {
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

func (*read) Ledgers(_ context.Context, orders []index.LedgerOrder) ([]index.Ledger, error) {
	return make([]index.Ledger, len(orders)), nil
}

// TestUndoReadsFirst wants an undo to write while it reads nothing: the log of the index could not be emptied until its end, and was
// four times as large as the index after 900,000 originals. Each of them comes back once, whatever runs lost it.
func TestUndoReadsFirst(t *testing.T) {
	x := &read{}
	for i := range 100 {
		for run := range 2 {
			g := index.Grave{Version: int64(i * 7 % 100), Tombstone: fmt.Sprint("key ", i*7%100), Time: 1}
			g.Run, g.Plan = fmt.Sprint("r", run), "p"
			x.graves = append(x.graves, g)
		}
	}
	var dug []string
	p := &Pruner{Index: x, Room: 1, Now: func() time.Time { return time.UnixMicro(1700000000000000) },
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
