package archive

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
)

// TestCoverParts has extents of one original from the packs of two copies of an archive.
func TestCoverParts(t *testing.T) {
	for _, c := range []struct {
		size  int64
		parts [][2]int64 // offset and size, sorted
		want  string
	}{
		{10, [][2]int64{{0, 4}, {4, 6}}, "[]"},                            // nothing overlaps
		{10, [][2]int64{{0, 10}, {0, 4}, {4, 6}}, "[0+10]"},               // merged by gc
		{10, [][2]int64{{0, 4}, {4, 4}, {4, 2}, {6, 4}}, "[0+4 4+2 6+4]"}, // grown in other steps
		{8, [][2]int64{{0, 4}, {4, 6}, {4, 2}}, "[0+4 4+6]"},              // grown since the state
		{10, [][2]int64{{0, 4}, {4, 3}, {4, 2}, {8, 2}}, "[]"},            // a gap that nothing fills
		{4, [][2]int64{{0, 4}, {0, 0}}, "[0+4]"},
	} {
		var parts []catalogPart
		for _, p := range c.parts {
			parts = append(parts, catalogPart{Extent: blob.Extent{Offset: p[0], Size: p[1]}})
		}
		got := []string{}
		for _, p := range coverParts(parts, c.size) {
			got = append(got, fmt.Sprintf("%d+%d", p.Offset, p.Size))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v: %v, want %s", c.parts, got, c.want)
		}
	}
}
