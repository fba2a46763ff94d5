package repair

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// candidate is a place that should have a content.
type candidate struct {
	info     *packInfo
	members  []blob.Member
	raw      int64
	size     int64
	data     []byte // the content itself, in place of members
	verified bool
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

// candidateRef is a content of a pack, or the same as a damaged member gives it, that must be read and hashed before it is believed.
type candidateRef struct {
	*packInfo
	at   int32 // in stored
	torn int32 // in wreck.Torn, counted from 1; 0 is by the members
}

func (o candidateRef) content() pack.Content { return o.stored[o.at] }

// addCandidates proposes every content of a pack.
func (s *inventory) addCandidates(h *packInfo) {
	for i := range h.stored {
		s.candidates = append(s.candidates, candidateRef{h, int32(i), 0})
	}
}

// addTornCandidates proposes what lies in damaged members.
func (s *inventory) addTornCandidates(h *packInfo) {
	for i, c := range h.stored {
		for j, t := range h.salvaged.Torn {
			if from := c.Raw - t.Raw; h.salvaged.HasManifest && from >= 0 && c.Size > 0 && from+c.Size <= int64(len(t.Data)) {
				s.candidates = append(s.candidates, candidateRef{h, int32(i), int32(j + 1)})
			}
		}
	}
}

// candidate is how an offer is read.
func (o candidateRef) candidate() *candidate {
	have := o.content()
	c := &candidate{info: o.packInfo, members: o.manifest.Members, raw: have.Raw, size: have.Size}
	if o.salvaged != nil {
		c.members = o.salvaged.All
	}
	if o.torn > 0 {
		t := &o.salvaged.Torn[o.torn-1]
		c.data = t.Data[have.Raw-t.Raw:][:have.Size]
	}
	return c
}

// sort lists what packs offer by its sums: what came first stays first.
func (s *inventory) sort() {
	for name, h := range s.packs {
		if h.isAuthoritative() {
			s.contents.Add(name, h.stored)
		}
	}
	slices.SortStableFunc(s.candidates, func(a, b candidateRef) int { return compareSums(a.content().Sum, b.content().Sum) })
}

func compareSums(a, b pack.ShortSum) int { return bytes.Compare(a[:], b[:]) }

// lazyPack opens a pack when it is first read.
type lazyPack struct {
	blob.Pack
	blob.Info
	survey *inventory
	store  blob.Store
}

func (l *lazyPack) Size() int64 { return l.Info.Size }

func (l *lazyPack) ReadAt(p []byte, offset int64) (int, error) {
	if l.Pack == nil {
		opened, err := l.store.Open(context.Background(), l.Name)
		if err != nil {
			return 0, err
		}
		l.Pack = opened
		l.survey.open = append(l.survey.open, opened)
	}
	return l.Pack.ReadAt(p, offset)
}

// content returns a place that really has a content, nil when there is none.
func (s *inventory) content(ctx context.Context, sum blob.Ref, size int64) (*candidate, error) {
	short := pack.ShortSum(sum[:16])
	i, _ := slices.BinarySearchFunc(s.candidates, short, func(x candidateRef, sum pack.ShortSum) int { return compareSums(x.content().Sum, sum) })
	for ; i < len(s.candidates) && s.candidates[i].content().Sum == short; i++ {
		o := s.candidates[i]
		if o.content().Size != size {
			continue
		}
		c := s.checked[o]
		if c == nil {
			c = o.candidate()
			got, err := hashOf(c.reader(ctx, span{0, size}), size)
			if err != nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			c.verified = err == nil && got == sum
			s.checked[o] = c
		}
		if c.verified {
			return c, nil
		}
	}
	return nil, nil
}
