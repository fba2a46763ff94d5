package fts5

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSimilarPhrasesShareSuffix counts the iterators for phrases that differ in their first terms: common terms are iterated
// once, and a common prefix at the end is looked up once.
func TestSimilarPhrasesShareSuffix(t *testing.T) {
	const words = 1000
	shelf := new(Cache)
	a := &exprBuilder{view: &View{cache: shelf, segments: []*viewSegment{{}}, limits: defaultLimits}, terms: map[string]int{"the": 0}, doclists: []*doclist{{cache: shelf}}}
	for _, last := range []Phrase{{Terms: []string{"the", "u"}, Prefix: true}, {Terms: []string{"the", "the"}}} {
		var any Or
		for i := range words {
			p := &Phrase{Terms: append([]string{fmt.Sprint("word", i)}, last.Terms...), Prefix: last.Prefix}
			a.terms[p.Terms[0]], a.doclists, any = len(a.doclists), append(a.doclists, &doclist{cache: shelf}), append(any, p)
		}
		c, ok := any.build(a, 0).(*phraseRows)
		if !ok {
			t.Fatalf("%v: one walker for all is wanted, not %T", last.Terms, any.build(a, 0))
		}
		if n := len(c.first.heads) + len(c.rest); n > words+2 {
			t.Errorf("%v: %d lists for %d phrases", last.Terms, n, words)
		}
	}
}

// TestPrefixRowsAreBounded scans the rows of many terms with one prefix: at most twice the limit of words are held, and the
// newest rows are kept.
func TestPrefixRowsAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const most = 100
	for _, wanted := range []int{most, 0} {
		b := prefixScan{maxWords: wanted}
		rows := map[int64]bool{}
		for range 100_000 {
			row := r.Int64N(5000) << r.IntN(8)
			rows[row] = true
			b.add(row)
			if wanted > 0 && len(b.rows.words) > 2*wanted {
				t.Fatalf("%d words are held, %d are wanted", len(b.rows.words), wanted)
			}
		}
		var want, got []int64
		for row := range rows {
			if row >= b.from {
				want = append(want, row)
			}
		}
		slices.Sort(want)
		set := b.rows.build().Rows()
		for at := int64(math.MaxInt64); ; at = got[len(got)-1] - 1 {
			row, err := set.Advance(at)
			if err != nil {
				t.Fatal(err)
			}
			if row < 0 {
				break
			}
			got = append(got, row)
		}
		slices.Reverse(got)
		if len(got) < min(most, len(rows)) || !slices.Equal(got, want) {
			t.Errorf("%d rows from %d on, want %d", len(got), b.from, len(want))
		}
		set = b.rows.build().Rows()
		for at := int64(5000 << 8); at >= 0; at -= r.Int64N(1 << r.IntN(16)) { // leaps, and what was passed by is gone
			i, found := slices.BinarySearch(want, at)
			if !found {
				i--
			}
			next := int64(-1)
			if i >= 0 {
				next = want[i]
			}
			for _, ask := range []int64{at, at + r.Int64N(1000)} {
				if row, _ := set.Advance(ask); row != next {
					t.Fatalf("row %d below %d, want %d", row, ask, next)
				}
			}
		}
	}
}
