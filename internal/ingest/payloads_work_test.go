package ingest_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
)

// stated counts the versions whose states an ingester reads.
type stated struct {
	ingest.Index
	n, calls int
}

func (s *stated) States(ctx context.Context) iter.Seq2[index.State, error] {
	return s.count(s.Index.States(ctx))
}

func (s *stated) StatesOf(ctx context.Context, versions []index.Placed) iter.Seq2[index.State, error] {
	return s.count(s.Index.StatesOf(ctx, versions))
}

func (s *stated) count(all iter.Seq2[index.State, error]) iter.Seq2[index.State, error] {
	s.calls++
	return func(yield func(index.State, error) bool) {
		for state, err := range all {
			if s.n++; !yield(state, err) {
				return
			}
		}
	}
}

// TestPayloadsWork drops the attachments of two originals of many: they are looked up at once, and nothing is read of the others.
func TestPayloadsWork(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	limits := map[string]int64{}
	for i := range 20 {
		id := fmt.Sprint("c", i)
		s.write(id+"/conversations.json", export(gptChat(id, "Bait", 60, fmt.Sprint("m", i), fmt.Sprint("a", i, " which"), fmt.Sprint("b", i, " ", strings.Repeat("QUJD", 300)))))
		limits[id] = 100
	}
	w.ingest("home", s.dir, ".")
	reads := &stated{Index: w.Ingester.Index}
	w.Ingester.Index = reads
	marked := 0
	if err := w.Payloads(context.Background(), map[int64]map[string]int64{7: limits, 9: limits}, func(x index.Payloads) error { marked += len(x.Places); return nil }); err != nil {
		t.Fatal(err)
	}
	if marked != 2 || reads.n != 2 || reads.calls != 1 {
		t.Errorf("%d places, %d states were read by %d calls for two originals", marked, reads.n, reads.calls)
	}
}
