package verify

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestCompareHoldsLittle compares random rows, and words, and wants the same found whether one row is known at a time or all.
func TestCompareHoldsLittle(t *testing.T) {
	r := seedtest.Rand(t)
	for range 200 {
		var mine, theirs []int // with rows that stand there twice
		differ := map[string]int{}
		for n := range r.IntN(10) {
			m, h := r.IntN(3), r.IntN(3)
			if r.IntN(2) == 0 {
				m = h
			}
			mine, theirs = append(mine, slices.Repeat([]int{n}, m)...), append(theirs, slices.Repeat([]int{n}, h)...)
			differ["rows has a row that the packs do not have: "+fmt.Sprint(n)] = max(0, m-h)
			differ["rows lacks a row that the packs have: "+fmt.Sprint(n)] = max(0, h-m)
		}
		for _, limit := range []int{1, 5, 1000} {
			got := map[string]int{}
			c := comparison{assertion: assertion{what: "rows"}, seed: maphash.MakeSeed(), limit: limit, report: func(s string) { got[s]++ }}
			rows := func(all []int) rowsOf {
				return func(do func([]any)) error {
					for _, n := range all {
						do([]any{n})
					}
					return nil
				}
			}
			if err := c.compare(rows(mine), rows(theirs)); err != nil {
				t.Fatal(err)
			}
			for text, n := range differ {
				if got[text] != n {
					t.Fatalf("%q is said %d times of %d with a limit of %d", text, got[text], n, limit)
				}
			}
			if c.rows != int64(len(mine)) {
				t.Fatalf("%d rows were compared of %d with a limit of %d", c.rows, len(mine), limit)
			}
		}
	}
}

// TestCompareWords wants to hear of words that one index lacks, and of no others.
func TestCompareWords(t *testing.T) {
	r := seedtest.Rand(t)
	for range 300 {
		var mine, theirs []string
		missing := 0
		for n := range r.IntN(40) {
			w := fmt.Sprint("w", n)
			m, h := r.IntN(3) > 0, r.IntN(3) > 0
			if m {
				mine = append(mine, w)
			}
			if h {
				theirs = append(theirs, w)
			}
			if h && !m {
				missing++
			}
		}
		said := ""
		c := comparison{report: func(s string) { said += s }}
		if err := c.compareWords(inOrder(mine), inOrder(theirs)); err != nil {
			t.Fatal(err)
		}
		want := ""
		if missing > 0 {
			want = fmt.Sprintf("words: %d missing that the packs have", missing)
		}
		if said != want || c.rows != int64(len(mine)) {
			t.Fatalf("%d of %d words were compared, %q was said, want %q", c.rows, len(mine), said, want)
		}
	}
}

func inOrder(all []string) iter.Seq2[string, error] {
	slices.Sort(all)
	return func(yield func(string, error) bool) {
		for _, w := range all {
			if !yield(w, nil) {
				return
			}
		}
	}
}
