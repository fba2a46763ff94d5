package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// losses are what repairs have said to be lost.
func (g *Ingester) losses(ctx context.Context) (*blob.Losses, error) {
	var all blob.Losses
	for f, err := range g.Index.Facts(ctx, blob.FactLost) {
		if err != nil {
			return nil, err
		}
		all.Add(f, "")
	}
	return &all, nil
}

// remains is an original of which bytes are lost. A parser reads it with line ends and NULs in place of them, which are in
// no text and no JSON, so that it finds its way again at the next line; what it says of lines that are not whole
// is left out. What stands in a layer (gzip, a database) ends where the first byte is lost.
type remains struct {
	size  int64
	holes []*hole
	read  io.Reader
	layer bool
}

// hole is a run of lost bytes, and what is known of the lines that it cuts.
type hole struct {
	from, to int64
	before   line // the last one before it
	after    line // the first one behind it
}

// line is a stretch of a line at the edge of a hole.
type line struct {
	from, to int64
	first    byte
	ended    bool
}

// layered are the first bytes of originals in which the text lies below a layer, and where they stand.
var layered = []struct {
	at    int
	magic string
}{{0, "\x1f\x8b"}, {0, "\x28\xb5\x2f\xfd"}, {0, "SQLite format 3\x00"}, {257, "ustar"}}

// remain returns what is left of an original, nil when bytes lack of which nobody has said that they are lost.
func (g *Ingester) remain(ctx context.Context, s *index.State, losses []blob.Loss) *remains {
	r := &remains{size: s.Size}
	var readers []io.Reader
	at := int64(0)
	gap := func(to int64) bool {
		h := &hole{from: at, to: to}
		r.holes = append(r.holes, h)
		readers = append(readers, &filler{size: to - at})
		return blob.Covers(losses, at, to-at)
	}
	for _, e := range s.Extents {
		if e.Offset > at && !gap(e.Offset) {
			return nil
		}
		readers = append(readers, &edges{r: g.Originals.Reader(ctx, []blob.Extent{e}), at: e.Offset, holes: &r.holes})
		at = e.Offset + e.Size
	}
	if at < s.Size && !gap(s.Size) {
		return nil
	}
	r.layer = len(r.holes) > 0 && r.holes[0].from > 0 && g.isLayered(ctx, s)
	if r.layer {
		readers = []io.Reader{io.LimitReader(g.Originals.Reader(ctx, s.Extents), r.holes[0].from)}
	}
	r.read = io.MultiReader(readers...)
	return r
}

func (g *Ingester) isLayered(ctx context.Context, s *index.State) bool {
	head := make([]byte, 512)
	n, _ := io.ReadFull(g.Originals.Reader(ctx, s.Extents[:1]), head)
	for _, l := range layered {
		if bytes.HasPrefix(head[min(l.at, n):n], []byte(l.magic)) {
			return true
		}
	}
	return false
}

// filler stands for lost bytes: a line end, NULs, a line end.
type filler struct{ at, size int64 }

func (f *filler) Read(p []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.size-f.at))
	clear(p[:n])
	if f.size > 2 && f.at == 0 {
		p[0] = '\n'
	}
	f.at += int64(n)
	if f.size > 2 && f.at == f.size {
		p[n-1] = '\n'
	}
	return n, nil
}

// edges looks at the lines next to holes while they are read.
type edges struct {
	r     io.Reader
	at    int64
	holes *[]*hole
}

func (e *edges) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	for _, h := range *e.holes {
		if e.at >= h.to && !h.after.ended {
			h.behind(e.at, p[:n])
		}
		if e.at < h.from {
			h.ahead(e.at, p[:n])
		}
	}
	e.at += int64(n)
	return n, err
}

// behind takes in bytes behind the hole, until the first line end.
func (h *hole) behind(at int64, b []byte) {
	if len(b) > 0 && h.after.to == 0 {
		h.after.from, h.after.first = at, b[0]
	}
	i := bytes.IndexByte(b, '\n')
	if h.after.ended = i >= 0; !h.after.ended {
		i = len(b)
	}
	h.after.to = at + int64(i)
}

// ahead takes in bytes before the hole: what counts is where its last line begins.
func (h *hole) ahead(at int64, b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		h.before = line{from: at + int64(i) + 1}
		at, b = at+int64(i)+1, b[i+1:]
	}
	if len(b) > 0 && h.before.to <= h.before.from { // its first byte
		h.before.from, h.before.first = at, b[0]
	}
	h.before.to = at + int64(len(b))
}

// touches says whether a stretch of the original has lost bytes in it, or is a part of a line that may have. No proper part
// of a line that holds one JSON object is an object, so these tell by themselves that they are whole.
func (r *remains) touches(o transcript.Origin) bool {
	if r.layer || o.Inner != "" {
		return false
	}
	for _, h := range r.holes {
		from, to := h.from, h.to
		if h.before.to == h.from && h.before.from < h.from && h.before.first != '{' {
			from = h.before.from
		}
		if h.after.to > h.to && h.after.first != '{' {
			to = h.after.to
		}
		if o.Offset < to && from < o.Offset+max(o.Length, 1) {
			return true
		}
	}
	return false
}

// whole leaves out the records that lost bytes have touched, and says what is lost.
func (r *remains) whole(records iter.Seq2[transcript.Record, error]) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		for record, err := range records {
			o := originOf(record)
			if err == nil && o != nil && r.touches(*o) {
				continue
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
		for _, p := range r.problems() {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (r *remains) problems() (all []*transcript.Problem) {
	for _, h := range r.holes {
		all = append(all, &transcript.Problem{
			Kind: "lost", Reason: fmt.Sprintf("%d bytes are lost by damage of the archive", h.to-h.from),
			Origin: transcript.Origin{Offset: h.from, Length: h.to - h.from},
		})
	}
	return all
}

// originOf is the place of a record, nil when it has none.
func originOf(r transcript.Record) *transcript.Origin {
	switch r := r.(type) {
	case *transcript.Event:
		return &r.Origin
	case *transcript.Usage:
		return &r.Origin
	case *transcript.Receipt:
		return &r.Origin
	case *transcript.Step:
		return &r.Origin
	case *transcript.Link:
		return &r.Origin
	case *transcript.Hint:
		return &r.Origin
	case *transcript.Problem:
		return &r.Origin
	}
	return nil
}
