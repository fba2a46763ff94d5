package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestVersionsInAnyOrder has documents that are written again and again, each version with some of the events and requests of the
// one before, copies of them elsewhere and forks of them: whatever comes when, in the end the same counts.
func TestVersionsInAnyOrder(t *testing.T) {
	for range 6 {
		seed := uint64(time.Now().UnixNano())
		r := rand.New(rand.NewPCG(seed, 1))
		all := rewritten(r)
		commit := func(order []int, most int) []string {
			db := newDB(t)
			for i := 0; i < len(order); {
				var some []indextest.Original
				for n := 1 + r.IntN(most); n > 0 && i < len(order); n, i = n-1, i+1 {
					some = append(some, all[order[i]])
				}
				if err := db.Commit(t.Context(), indextest.Batch(fmt.Sprintf("pack-%02d", i), some...)); err != nil {
					t.Fatal(err)
				}
			}
			return dumpViews(t, db)
		}
		asWritten := make([]int, len(all))
		for i := range asWritten {
			asWritten[i] = i
		}
		want := commit(asWritten, 1)
		for _, o := range []struct {
			what  string
			order []int
			most  int
		}{{"at once", asWritten, len(all)}, {"another order", r.Perm(len(all)), 3}} {
			got := commit(o.order, o.most)
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("seed %d, %s: %s\nwant %s", seed, o.what, got[i], want[i])
				}
			}
			if len(got) != len(want) {
				t.Fatalf("seed %d, %s: %d rows, want %d", seed, o.what, len(got), len(want))
			}
		}
	}
}

// rewritten are versions of some documents, those of one in their order.
func rewritten(r *rand.Rand) (all []indextest.Original) {
	global, shared := r.IntN(2) == 0, r.IntN(2) == 0
	type document struct {
		conversation string
		lines        []int // what it states
		number       int
	}
	var documents []*document
	next := 0
	for len(all) < 14 {
		var d *document
		switch {
		case len(documents) == 0 || r.IntN(5) == 0:
			d = &document{conversation: fmt.Sprint("run-", r.IntN(2))}
			if len(documents) > 0 { // a copy, or a fork
				d.lines = slices.Clone(documents[r.IntN(len(documents))].lines)
			}
			documents = append(documents, d)
		default:
			d = documents[r.IntN(len(documents))]
		}
		if r.IntN(9) == 0 {
			d.conversation = fmt.Sprint("run-", r.IntN(2)) // it is about another one now
		}
		if len(d.lines) > 0 && r.IntN(3) == 0 {
			at := r.IntN(len(d.lines))
			d.lines = slices.Delete(slices.Clone(d.lines), at, at+1)
		}
		for range 1 + r.IntN(3) {
			d.lines = append(d.lines, next)
			next++
		}
		d.number++
		o := original(slices.Index(documents, d))
		o.Number, o.Size, o.Content = d.number, int64(len(d.lines)+1)*100, fmt.Sprint(d.conversation, d.lines)
		o.Records = records{&transcript.Run{ID: d.conversation}, &transcript.Conversation{Run: d.conversation, ID: d.conversation, Shared: shared, Order: "o"}}
		for at, line := range d.lines {
			e := event(d.conversation, fmt.Sprint(line/2), global, at) // some have several lines
			if e.Home = r.IntN(3) == 0; line%9 == 4 {
				e.Verdict = transcript.Uncounted
			}
			u := request(d.conversation, fmt.Sprint("k", line/2), "", at)
			u.Rank, u.Time = int64(line%3), indextest.At(int64(line/4))
			if line%7 == 0 {
				u.Alias, u.Key = u.Key, fmt.Sprint(u.Key, " ", line%2)
			}
			o.Records = append(o.Records, e, u)
		}
		all = append(all, o)
	}
	return all
}
