package ask

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRowRanges compares rowRanges with a test of each owner for each row.
func TestRowRanges(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		owners := make([]ownerRange, r.IntN(6))
		for i := range owners {
			first := r.Int64N(40)
			owners[i] = ownerRange{first: first, last: first + r.Int64N(8)}
		}
		slices.SortFunc(owners, func(a, b ownerRange) int { return cmp.Compare(b.last, a.last) })
		s := rangesOf(owners)
		for i := 1; i < len(s); i++ {
			if s[i][1] >= s[i-1][0]-1 {
				t.Fatalf("%v: %v are not apart", owners, s)
			}
		}
		for at := int64(50); at >= 0; at-- {
			want := int64(-1)
			for _, o := range owners {
				if o.first <= at {
					want = max(want, min(at, o.last))
				}
			}
			if got, _ := s.Advance(at); got != want {
				t.Fatalf("%v: below %d is %d, not %d", owners, at, got, want)
			}
		}
	}
}
