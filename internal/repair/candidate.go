package repair

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// candidate is a place where a content should be, and how to read it.
type candidate struct {
	info     *packInfo
	members  []blob.Member
	raw      int64
	size     int64
	data     []byte // the content itself; then members are not used
	verified bool   // its hash was right
}

func (c *candidate) reader(ctx context.Context, of span) io.Reader {
	if c.data != nil {
		return bytes.NewReader(c.data[of.from:of.to])
	}
	view := pack.View{Name: c.info.Name, Pack: c.info.pack, Members: c.members}
	return view.Reader(ctx, c.raw+of.from, of.to-of.from)
}

func (c *candidate) opener(of span) opener {
	return func(ctx context.Context) (io.ReadCloser, error) { return io.NopCloser(c.reader(ctx, of)), nil }
}

// candidateRef is a compact reference to a candidate: a content of a pack, read through its members or from a torn range. It must
// be read and hashed before it is used.
type candidateRef struct {
	*packInfo
	at   int32 // index in stored
	torn int32 // index in salvaged.Torn, counted from 1; 0 is to read through the members
}

func (r candidateRef) content() pack.Content { return r.stored[r.at] }

// addCandidates adds every content of a pack as a candidate.
func (inv *inventory) addCandidates(pi *packInfo) {
	for i := range pi.stored {
		inv.candidates = append(inv.candidates, candidateRef{pi, int32(i), 0})
	}
}

// addTornCandidates adds the contents that lie in torn ranges as candidates.
func (inv *inventory) addTornCandidates(pi *packInfo) {
	for i, c := range pi.stored {
		for j, t := range pi.salvaged.Torn {
			if from := c.Raw - t.Raw; pi.salvaged.HasManifest && from >= 0 && c.Size > 0 && from+c.Size <= int64(len(t.Data)) {
				inv.candidates = append(inv.candidates, candidateRef{pi, int32(i), int32(j + 1)})
			}
		}
	}
}

// candidate returns the candidate that r refers to.
func (r candidateRef) candidate() *candidate {
	have := r.content()
	c := &candidate{info: r.packInfo, members: r.manifest.Members, raw: have.Raw, size: have.Size}
	if r.salvaged != nil {
		c.members = r.salvaged.All
	}
	if r.torn > 0 {
		t := &r.salvaged.Torn[r.torn-1]
		c.data = t.Data[have.Raw-t.Raw:][:have.Size]
	}
	return c
}

// indexContents indexes the contents of sound packs, and sorts the candidates by hash. Candidates with the same hash stay in
// the order in which they were added.
func (inv *inventory) indexContents() {
	for name, pi := range inv.packs {
		if pi.isAuthoritative() {
			inv.contents.Add(name, pi.stored)
		}
	}
	slices.SortStableFunc(inv.candidates, func(a, b candidateRef) int { return compareSums(a.content().Sum, b.content().Sum) })
}

func compareSums(a, b pack.ShortSum) int { return bytes.Compare(a[:], b[:]) }

// lazyPack is a pack that is opened when it is first read.
type lazyPack struct {
	blob.Pack
	blob.Info
	inventory *inventory
	store     blob.Store
}

func (l *lazyPack) Size() int64 { return l.Info.Size }

func (l *lazyPack) ReadAt(p []byte, offset int64) (int, error) {
	if l.Pack == nil {
		opened, err := l.store.Open(context.Background(), l.Name)
		if err != nil {
			return 0, err
		}
		l.Pack = opened
		l.inventory.open = append(l.inventory.open, opened)
	}
	return l.Pack.ReadAt(p, offset)
}

// findContent returns a candidate that was verified to have a content, or nil if there is none.
func (inv *inventory) findContent(ctx context.Context, sum blob.Ref, size int64) (*candidate, error) {
	short := pack.ShortSum(sum[:16])
	i, _ := slices.BinarySearchFunc(inv.candidates, short, func(x candidateRef, sum pack.ShortSum) int { return compareSums(x.content().Sum, sum) })
	for ; i < len(inv.candidates) && inv.candidates[i].content().Sum == short; i++ {
		ref := inv.candidates[i]
		if ref.content().Size != size {
			continue
		}
		c := inv.checked[ref]
		if c == nil {
			c = ref.candidate()
			got, err := hashOf(c.reader(ctx, span{0, size}), size)
			if err != nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			c.verified = err == nil && got == sum
			inv.checked[ref] = c
		}
		if c.verified {
			return c, nil
		}
	}
	return nil, nil
}
