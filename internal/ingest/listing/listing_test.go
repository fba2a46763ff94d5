package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestQueue expects a listing of many files, and its queue, to return what was added, sorted by time and path.
func TestQueue(t *testing.T) {
	r := seedtest.Rand(t)
	var l List
	type one struct {
		path        string
		size, mtime int64
		class       uint32
	}
	var want []one
	for i := range 3*entriesPerPiece + 5 {
		dir := strings.Repeat("dir/", r.IntN(3))
		x := one{fmt.Sprintf("%s%d-%s", dir, i, strings.Repeat("\xff名", r.IntN(80))), r.Int64N(1 << r.IntN(62)), r.Int64() - r.Int64(), uint32(r.IntN(300))}
		if i%3 > 0 {
			x.mtime = int64(i % 7)
		}
		e := l.Add(x.path)
		e.Size, e.ModTime, e.Class = x.size, x.mtime, x.class
		want = append(want, x)
	}
	var numbers []uint32
	for i, e := range l.All {
		if got := l.Path(i); got != want[i].path || e.Size != want[i].size {
			t.Fatalf("file %d is %q, want %q", i, got, want[i].path)
		}
		numbers = append(numbers, i)
	}
	slices.SortFunc(numbers, l.Compare)
	slices.SortFunc(want, func(a, b one) int { return cmp.Or(cmp.Compare(a.mtime, b.mtime), cmp.Compare(a.path, b.path)) })
	q := l.Queue(numbers)
	var got []one
	for f := range q.Drain {
		got = append(got, one{f.Path, f.Size, f.ModTime, f.Class})
	}
	if !slices.Equal(got, want) || q.Count != int64(len(want)) {
		t.Fatalf("the queue gives %d files, want the %d that were put in, in order", len(got), len(want))
	}
	if _, more := q.Pop(); more || len(q.pieces) > 0 {
		t.Fatal("the queue still holds something")
	}
}
