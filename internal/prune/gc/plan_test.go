package gc

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
)

// TestGroupPacks merges packs until one is full of bytes, of lines or of facts.
func TestGroupPacks(t *testing.T) {
	const room = 1000
	packs := func(n int, size int64, lines, says int) (all []*volume) {
		for i := range n {
			all = append(all, &volume{Info: blob.Info{Name: fmt.Sprint(1000 + i), Size: size}, chains: make([]uint64, lines), factBytes: says})
		}
		return all
	}
	for _, c := range []struct {
		name   string
		packs  []*volume
		alone  bool
		groups []int
	}{
		{"all fit", packs(10, 1<<20, 100, room/10), false, []int{10}},
		{"bytes", packs(10, packTarget/4, 1, 0), false, []int{4, 4, 2}},
		{"lines", packs(10, 1<<10, versionsTarget/4, 0), false, []int{4, 4, 2}},
		{"each is full", packs(10, 1<<10, versionsTarget-1, 0), false, nil},
		{"facts", packs(10, 1<<10, 0, room/4), false, []int{4, 4, 2}},
		{"each is full of facts", packs(10, 1<<10, 0, 2*room), false, nil},
		{"each is full and has something to lose", packs(3, 1<<10, versionsTarget+1, room+1), true, []int{1, 1, 1}},
	} {
		groups := groupPacks(c.packs, c.alone, room)
		var sizes []int
		for _, g := range groups {
			sizes = append(sizes, len(g))
		}
		if fmt.Sprint(sizes) != fmt.Sprint(c.groups) {
			t.Errorf("%s: groups of %d packs, want %d", c.name, sizes, c.groups)
		}
	}
}
