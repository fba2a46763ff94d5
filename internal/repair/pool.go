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
	holding *holding
	members []blob.Member
	raw     int64
	size    int64
	data    []byte // the content itself, in place of members
	right   bool
}

func (c *candidate) reader(ctx context.Context, of span) io.Reader {
	if c.data != nil {
		return bytes.NewReader(c.data[of.from:of.to])
	}
	view := pack.View{Name: c.holding.Name, Pack: c.holding.pack, Members: c.members}
	return view.Reader(ctx, c.raw+of.from, of.to-of.from)
}

func (c *candidate) opener(of span) opener {
	return func(ctx context.Context) (io.ReadCloser, error) { return io.NopCloser(c.reader(ctx, of)), nil }
}

// offer is a content of a pack, or the same as a damaged member gives it, that must be read and hashed before it is believed.
type offer struct {
	*holding
	at   int32 // in stored
	torn int32 // in wreck.Torn, counted from 1; 0 is by the members
}

func (o offer) content() pack.Content { return o.stored[o.at] }

// offer proposes every content of a pack.
func (s *survey) offer(h *holding) {
	for i := range h.stored {
		s.pool = append(s.pool, offer{h, int32(i), 0})
	}
}

// offerTorn proposes what lies in damaged members.
func (s *survey) offerTorn(h *holding) {
	for i, c := range h.stored {
		for j, t := range h.wreck.Torn {
			if from := c.Raw - t.Raw; h.wreck.Known && from >= 0 && c.Size > 0 && from+c.Size <= int64(len(t.Data)) {
				s.pool = append(s.pool, offer{h, int32(i), int32(j + 1)})
			}
		}
	}
}

// candidate is how an offer is read.
func (o offer) candidate() *candidate {
	have := o.content()
	c := &candidate{holding: o.holding, members: o.manifest.Members, raw: have.Raw, size: have.Size}
	if o.wreck != nil {
		c.members = o.wreck.All
	}
	if o.torn > 0 {
		t := &o.wreck.Torn[o.torn-1]
		c.data = t.Data[have.Raw-t.Raw:][:have.Size]
	}
	return c
}

// sort lists what packs offer by its sums: what came first stays first.
func (s *survey) sort() {
	for name, h := range s.holdings {
		if h.teller() {
			s.stock.Add(name, h.stored)
		}
	}
	slices.SortStableFunc(s.pool, func(a, b offer) int { return compareSums(a.content().Sum, b.content().Sum) })
}

func compareSums(a, b pack.ShortSum) int { return bytes.Compare(a[:], b[:]) }

// lazily opens a pack when it is first read.
type lazily struct {
	blob.Pack
	blob.Info
	survey *survey
	store  blob.Store
}

func (l *lazily) Size() int64 { return l.Info.Size }

func (l *lazily) ReadAt(p []byte, offset int64) (int, error) {
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
func (s *survey) content(ctx context.Context, sum blob.Ref, size int64) (*candidate, error) {
	short := pack.ShortSum(sum[:16])
	i, _ := slices.BinarySearchFunc(s.pool, short, func(x offer, sum pack.ShortSum) int { return compareSums(x.content().Sum, sum) })
	for ; i < len(s.pool) && s.pool[i].content().Sum == short; i++ {
		o := s.pool[i]
		if o.content().Size != size {
			continue
		}
		c := s.tried[o]
		if c == nil {
			c = o.candidate()
			got, err := hashOf(c.reader(ctx, span{0, size}), size)
			if err != nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			c.right = err == nil && got == sum
			s.tried[o] = c
		}
		if c.right {
			return c, nil
		}
	}
	return nil, nil
}
