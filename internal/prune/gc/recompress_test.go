package gc

import (
	"math"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

// TestRecompressLargerMembers: packs of earlier versions have larger members. An entry that is as large as a member
// is today keeps its size when its member is compressed again.
func TestRecompressLargerMembers(t *testing.T) {
	w := newWorld(t, 1, blobtest.NewMemory())
	w.opts.MemberSize = 1 << 20
	p := w.begin()
	for _, size := range []int{200 << 10, 50 << 10, 10 << 10} {
		content, mark := w.text(size)
		p.add("runs", mark, 1, content, mark)
	}
	m := p.seal()
	member := m.Members[0]
	x := Remainder{Pack: m.Pack}
	for _, v := range m.Versions[:2] { // the third goes
		e := v.Extents[0]
		x.Live = append(x.Live, [2]int64{e.Raw, e.Raw + e.Size})
		x.Keeps += float64(member.Size) * float64(e.Size) / float64(member.RawSize)
	}
	share, err := RecompressedRatio(t.Context(), w.store, []Remainder{x})
	w.check(err)
	if math.Abs(share-1) > 0.1 {
		t.Errorf("what stays of a member becomes %.2f of what it is", share)
	}
}
