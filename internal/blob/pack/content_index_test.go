package pack

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestContentIndex looks up random contents, and compares the results with a search through all packs.
func TestContentIndex(t *testing.T) {
	r := seedtest.Rand(t)
	ref := func(n int) blob.Ref { return blob.RefOf(fmt.Append(nil, n)) }
	var s ContentIndex
	packs := map[string]Contents{}
	for round := range 200 {
		name := fmt.Sprintf("p%02d", r.IntN(12))
		if r.IntN(3) == 0 {
			s.Remove(name)
			delete(packs, name)
		} else {
			var all []Content
			for range r.IntN(8) {
				sum := ref(r.IntN(9))
				all = append(all, Content{Raw: int64(1 + r.IntN(6)), Size: int64(r.IntN(2)), Sum: ShortSum(sum[:16])})
			}
			packs[name] = contentsOf(all)
			s.Add(name, packs[name])
		}
		said, size, sum := blob.Copy{Pack: name, Raw: int64(r.IntN(8))}, int64(r.IntN(2)), ref(r.IntN(9))
		stands := func(at blob.Copy, size int64) bool {
			return slices.Contains(packs[at.Pack], Content{at.Raw, size, ShortSum(sum[:16])})
		}
		newest := ""
		for pack, all := range packs {
			if slices.ContainsFunc(all, func(c Content) bool { return bytes.Equal(c.Sum[:], sum[:16]) }) {
				newest = max(newest, pack)
			}
		}
		at, has, ok := s.Newest(sum)
		if ok != (newest != "") || at.Pack != newest || ok && !stands(at, has) {
			t.Fatalf("round %d: the newest is at %v, not in %q", round, at, newest)
		}
		found, there := s.Find(said, size, sum)
		want, wanted := at, ok && has == size
		if stands(said, size) {
			want, wanted = said, true
		}
		if there != wanted || there && found != want {
			t.Fatalf("round %d: it is found at %v, not at %v", round, found, want)
		}
	}
}
