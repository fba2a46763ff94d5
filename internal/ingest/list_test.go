package ingest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// TestQueue expects a listing of many files, and its queue, to return what was added, sorted by time and path.
func TestQueue(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var l listing
	var all classTable
	type one struct {
		path        string
		size, mtime int64
		root        string
	}
	var want []one
	for i := range 3*entriesPerPiece + 5 {
		dir := strings.Repeat("dir/", r.IntN(3))
		x := one{fmt.Sprintf("%s%d-%s", dir, i, strings.Repeat("\xff名", r.IntN(80))), r.Int64N(1 << r.IntN(62)), r.Int64() - r.Int64(), fmt.Sprint(r.IntN(300))}
		if i%3 > 0 {
			x.mtime = int64(i % 7)
		}
		e := l.add(x.path)
		e.size, e.mtime = x.size, x.mtime
		e.class = all.intern(class{claim: format.Claim{Root: x.root}})
		want = append(want, x)
	}
	var numbers []uint32
	for i, e := range l.all {
		if got := l.path(i); got != want[i].path || e.size != want[i].size {
			t.Fatalf("file %d is %q, want %q", i, got, want[i].path)
		}
		numbers = append(numbers, i)
	}
	slices.SortFunc(numbers, l.compare)
	slices.SortFunc(want, func(a, b one) int { return cmp.Or(cmp.Compare(a.mtime, b.mtime), cmp.Compare(a.path, b.path)) })
	q := l.queue(numbers, &all)
	var got []one
	for c := range q.drain {
		got = append(got, one{c.path, c.size, c.mtime, c.claim.Root})
	}
	if !slices.Equal(got, want) || q.count != int64(len(want)) {
		t.Fatalf("the queue gives %d files, want the %d that were put in, in order", len(got), len(want))
	}
	if q.pop() != nil || len(q.pieces) > 0 {
		t.Fatal("the queue still holds something")
	}
}
