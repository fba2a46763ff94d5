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
	n int
}

func (s *stated) States(ctx context.Context) iter.Seq2[index.State, error] {
	return s.count(s.Index.States(ctx))
}

func (s *stated) StatesOf(ctx context.Context, versions []index.Unparsed) iter.Seq2[index.State, error] {
	return s.count(s.Index.StatesOf(ctx, versions))
}

func (s *stated) count(all iter.Seq2[index.State, error]) iter.Seq2[index.State, error] {
	return func(yield func(index.State, error) bool) {
		for state, err := range all {
			if s.n++; !yield(state, err) {
				return
			}
		}
	}
}

// TestPayloadsWork drops the attachment of one original of many: nothing is read of the others.
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
	if err := w.Payloads(context.Background(), map[int64]map[string]int64{7: limits}, func(x index.Payloads) error { marked += len(x.Places); return nil }); err != nil {
		t.Fatal(err)
	}
	if marked != 1 || reads.n != 1 {
		t.Errorf("%d places, %d states were read for one original", marked, reads.n)
	}
}
