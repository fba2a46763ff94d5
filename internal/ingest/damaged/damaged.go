// Package damaged reads what damage of the archive has left of an original.
package damaged

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Original is an original with lost bytes. A parser reads line feeds and NULs in their place, which no text
// and no JSON contains, so it recovers at the next line; records of lines that are incomplete are dropped. An original with a
// layer (gzip, a database) ends at its first lost byte.
type Original struct {
	Reader  io.Reader // of as many bytes as the original had, or of those before the first lost one if it has a layer
	size    int64
	holes   []*hole
	layered bool
}

// hole is a range of lost bytes, and what is known of the lines that it cuts.
type hole struct {
	from, to int64
	before   lineEdge // the line that ends in it
	after    lineEdge // the line that begins in it
}

// lineEdge is the readable part of a line that a hole cuts.
type lineEdge struct {
	from, to int64
	first    byte // at from
	ended    bool // its line feed was read
}

// layerMagics are the magic numbers, and their offsets, of originals whose text is inside a layer.
var layerMagics = []struct {
	at    int
	magic string
}{{0, "\x1f\x8b"}, {0, "\x28\xb5\x2f\xfd"}, {0, "SQLite format 3\x00"}, {257, "ustar"}}

// Open opens an original of the given size, of which the archive still has the extents, which read reads. It returns nil if bytes are missing
// that no repair has recorded as lost.
func Open(size int64, extents []blob.Extent, losses []blob.Loss, read func([]blob.Extent) io.Reader) *Original {
	r := &Original{size: size}
	var readers []io.Reader
	at := int64(0)
	gap := func(to int64) bool {
		h := &hole{from: at, to: to}
		r.holes = append(r.holes, h)
		readers = append(readers, &filler{size: to - at})
		return blob.Covers(losses, at, to-at)
	}
	for _, e := range extents {
		if e.Offset > at && !gap(e.Offset) {
			return nil
		}
		readers = append(readers, &edgeScanner{r: read([]blob.Extent{e}), at: e.Offset, holes: &r.holes})
		at = e.Offset + e.Size
	}
	if at < size && !gap(size) {
		return nil
	}
	r.layered = len(r.holes) > 0 && r.holes[0].from > 0 && isLayered(read(extents[:1]))
	if r.layered {
		readers = []io.Reader{io.LimitReader(read(extents), r.holes[0].from)}
	}
	r.Reader = io.MultiReader(readers...)
	return r
}

// isLayered reports whether the text of an original is inside a layer, by its first bytes.
func isLayered(r io.Reader) bool {
	head := make([]byte, 512)
	n, _ := io.ReadFull(r, head)
	for _, l := range layerMagics {
		if bytes.HasPrefix(head[min(l.at, n):n], []byte(l.magic)) {
			return true
		}
	}
	return false
}

// filler is read in place of lost bytes: a line feed, NULs, a line feed.
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

// edgeScanner notes the lines next to holes while they are read.
type edgeScanner struct {
	r     io.Reader
	at    int64
	holes *[]*hole
}

func (e *edgeScanner) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	for _, h := range *e.holes {
		if e.at >= h.to && !h.after.ended {
			h.scanAfter(e.at, p[:n])
		}
		if e.at < h.from {
			h.scanBefore(e.at, p[:n])
		}
	}
	e.at += int64(n)
	return n, err
}

// scanAfter takes in bytes after the hole, up to the first line feed.
func (h *hole) scanAfter(at int64, b []byte) {
	if len(b) > 0 && h.after.to == 0 {
		h.after.from, h.after.first = at, b[0]
	}
	i := bytes.IndexByte(b, '\n')
	if h.after.ended = i >= 0; !h.after.ended {
		i = len(b)
	}
	h.after.to = at + int64(i)
}

// scanBefore takes in bytes before the hole, to find where the last line before it begins.
func (h *hole) scanBefore(at int64, b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		h.before = lineEdge{from: at + int64(i) + 1}
		at, b = at+int64(i)+1, b[i+1:]
	}
	if len(b) > 0 && h.before.to <= h.before.from { // its first byte
		h.before.from, h.before.first = at, b[0]
	}
	h.before.to = at + int64(len(b))
}

// affects reports whether a record's bytes include lost ones, or may be part of a line that does. Lines that begin as a JSON object need no
// such care: no proper part of a line with one object is an object, so the parser rejects it.
func (r *Original) affects(o transcript.Origin) bool {
	if r.layered || o.Inner != "" {
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

// Filter drops the records that lost bytes affect, and appends a problem for each hole.
func (r *Original) Filter(records iter.Seq2[transcript.Record, error]) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		for record, err := range records {
			o := transcript.OriginOf(record)
			if err == nil && o != nil && r.affects(*o) {
				continue
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
		for _, p := range r.Problems() {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Problems returns a problem for each hole.
func (r *Original) Problems() (all []*transcript.Problem) {
	for _, h := range r.holes {
		all = append(all, &transcript.Problem{
			Kind: "lost", Reason: fmt.Sprintf("%d bytes are lost to damage of the archive", h.to-h.from),
			Origin: transcript.Origin{Offset: h.from, Length: h.to - h.from},
		})
	}
	return all
}
