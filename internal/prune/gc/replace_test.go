package gc

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestMarksFarFromTheStart redacts an original whose first extent has no match, twice: each replacement is a
// different chain, is not covered by any of the tombstones, and has the right content.
func TestMarksFarFromTheStart(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t), blobtest.NewMemory())
	content := bytes.Repeat([]byte("0123456789abcde\n"), pack.ExtentSize/16+100)
	v := blob.Version{Source: "runs", Path: "long", Number: 1, Size: int64(len(content)), SHA256: blob.RefOf(content),
		Root: blob.RefOf(content[:pack.ExtentSize]), ModTime: testTime, Mode: 0o600}
	var graves blob.Tombstones
	for round := range 3 {
		graves.Add(blob.NewTombstone(&v, blob.PlanForget).Fact(w.tick()), "pack")
		content = slices.Clone(content)
		copy(content[len(content)-40+10*round:], "RED")
		r := &Replacer{gc: w.collector(Options{}), ctx: t.Context()}
		marked, err := r.Store(v, v.Size, func() io.Reader { return bytes.NewReader(content) })
		w.check(err)
		if _, buried := graves.Of(&marked); buried || marked.Root == v.Root {
			t.Fatalf("round %d: the tombstone of what was there lies on what takes its place", round)
		}
		if marked.Root != marked.Extents[0].SHA256 || marked.SHA256 != blob.RefOf(content) {
			t.Errorf("round %d: the chain is not known by its first extent, or by its content", round)
		}
		w.check(r.Seal())
		v = marked
	}
}
