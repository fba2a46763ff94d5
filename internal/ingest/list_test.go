package ingest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// TestQueue wants of a listing of many files, and of the queue of them, what was put in, sorted by time and path.
func TestQueue(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var l listing
	var all stances
	type one struct {
		path        string
		size, mtime int64
		root        string
	}
	var want []one
	for i := range 3*listPiece + 5 {
		dir := strings.Repeat("dir/", r.IntN(3))
		x := one{fmt.Sprintf("%s%d-%s", dir, i, strings.Repeat("\xff名", r.IntN(80))), r.Int64N(1 << r.IntN(62)), r.Int64() - r.Int64(), fmt.Sprint(r.IntN(300))}
		if i%3 > 0 {
			x.mtime = int64(i % 7)
		}
		e := l.add(x.path)
		e.size, e.mtime, e.began = x.size, x.mtime, x.mtime
		e.stance = all.of(stance{claim: format.Claim{Root: x.root}})
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
	for c := range q.left {
		got = append(got, one{c.path, c.size, c.mtime, c.claim.Root})
	}
	if !slices.Equal(got, want) || q.count != int64(len(want)) {
		t.Fatalf("the queue gives %d files, want the %d that were put in, in order", len(got), len(want))
	}
	if q.take() != nil || len(q.pieces) > 0 {
		t.Fatal("the queue still holds something")
	}
}

func TestBeginning(t *testing.T) {
	for head, want := range map[string]string{
		`{"timestamp":"2025-03-23T15:54:34.5Z","type":"x"}`:                         "2025-03-23T15:54:34Z",
		"Title: To Terminate\nTime: 2024-02-29T00:00:01+02:00\n2023-01-01T00:00:00": "2024-02-29T00:00:01Z",
		`2025-13-23T15:54:34 2025-12-23T15:54:34`:                                   "2025-12-23T15:54:34Z",
		`2025-03-23T15:54:3`: "",
		`5-03-23T15:54:34Z`:  "",
		"TTTTTTTTTTTT-TT:T":  "",
		"":                   "",
	} {
		got := ""
		if micros, ok := beginning([]byte(head)); ok {
			got = time.UnixMicro(micros).UTC().Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q begins %q, want %q", head, got, want)
		}
	}
}
