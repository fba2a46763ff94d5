package blob_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
)

// TestNeeded has extents of one original from packs that gc wrote, and from those of two copies of an archive.
func TestNeeded(t *testing.T) {
	type part struct {
		blob.Extent
		gone bool
	}
	of := func(offset, size int64, content byte) part {
		return part{Extent: blob.Extent{Offset: offset, Size: size, SHA256: blob.Ref{content}}}
	}
	gone := func(p part) part { p.gone = true; return p }
	for _, c := range []struct {
		size  int64
		parts []part
		want  string
		apart bool
	}{
		{10, []part{of(0, 4, 1), of(4, 6, 2)}, "[0+4 4+6]", false},
		{10, []part{of(0, 4, 1), of(0, 4, 1), of(4, 6, 2), of(4, 6, 2)}, "[0+4 4+6]", false}, // in two packs
		{10, []part{of(0, 10, 3), gone(of(0, 4, 1)), gone(of(4, 6, 2))}, "[0+10]", false},    // joined by gc
		{10, []part{of(0, 4, 1), gone(of(4, 6, 2))}, "[0+4 4+6]", false},                     // lost, not joined
		{10, []part{of(0, 4, 1), of(4, 4, 2), of(4, 2, 3), of(6, 4, 4)}, "[0+4 4+4 4+2 6+4]", true},
		{8, []part{of(0, 4, 1), of(4, 4, 2), of(4, 4, 3)}, "[0+4 4+4 4+4]", true}, // contradict each other
		{4, []part{of(0, 4, 1), of(0, 0, 0)}, "[0+4]", false},
		{0, []part{of(0, 0, 0), of(0, 0, 0)}, "[0+0]", false},
	} {
		slices.SortStableFunc(c.parts, func(a, b part) int { return a.Compare(&b.Extent) })
		parts, apart := blob.Needed(c.parts, func(p *part) *blob.Extent { return &p.Extent }, c.size, func(p *part) bool { return !p.gone })
		got := []string{}
		for _, p := range parts {
			got = append(got, fmt.Sprintf("%d+%d", p.Offset, p.Size))
		}
		if fmt.Sprint(got) != c.want || apart != c.apart {
			t.Errorf("%v: %v, %v, want %s, %v", c.parts, got, apart, c.want, c.apart)
		}
	}
}
