package fts5

import (
	"encoding/binary"
	"fmt"
)

// PageSize is FTS5's pgsz: the size at which a page is full. Pages may be slightly larger.
const PageSize = 4050

// mainPrefix is the first byte of every term of the main index; prefix indexes use others.
const mainPrefix = '0'

// Sink receives the records of a segment as they are finished. It must not retain its arguments.
type Sink interface {
	// Page receives a record of %_data. Its id lacks the segment: see PageID.
	Page(id int64, data []byte) error
	// Separator receives a row of %_idx: the shortest prefix that separates the first term of a leaf from those before
	// it, and the leaf's number times two, plus one when the leaf has a doclist index.
	Separator(term []byte, page int64) error
}

// PageID returns the row id in %_data of a page of a segment.
func PageID(segment int, page int64) int64 { return int64(segment)<<37 + page }

// IsLeaf reports whether the page with this id, as a Sink receives it, is a leaf.
func IsLeaf(page int64) bool { return page < 1<<36 }

// doclistIndex returns the id of a page of a doclist index.
func doclistIndex(height int, page int64) int64 { return 1<<36 + int64(height)<<31 + page }

// writer writes terms and doclists to leaves, as fts5FlushOneHash does in SQLite.
type writer struct {
	sink Sink
	err  error

	page   int64 // number of the leaf being filled
	leaf   []byte
	footer []byte // where its terms begin, as deltas
	last   int    // where the last of its terms begins
	term0  []byte // last term written

	termless bool // no term on this leaf yet
	rowless  bool // no row id before the first term on this leaf yet

	separator  []byte
	groupStart int64 // leaf of the separator
	empty      int   // leaves without a term since groupStart
	index      []indexPage
}

func newWriter(sink Sink) *writer {
	w := &writer{sink: sink, page: 1, termless: true, groupStart: 1, separator: []byte{}}
	w.leaf = make([]byte, 4, PageSize+64)
	return w
}

// term begins a new term, greater than all before it.
func (w *writer) term(term []byte) {
	if len(w.leaf)+len(w.footer)+len(term)+2 >= PageSize && len(w.leaf) > 4 {
		w.flush()
	}
	w.footer = appendVarint(w.footer, uint64(len(w.leaf)-w.last))
	w.last = len(w.leaf)
	shared := 0
	if w.termless {
		if w.page != 1 {
			w.startGroup(term[:1+common(w.term0, term)])
		}
	} else {
		shared = common(w.term0, term)
		w.leaf = appendVarint(w.leaf, uint64(shared))
	}
	w.leaf = appendVarint(w.leaf, uint64(len(term)-shared))
	w.leaf = append(w.leaf, term[shared:]...)
	w.term0 = append(w.term0[:0], term...)
	w.termless, w.rowless = false, false
	w.startIndex()
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// doclist writes all rows of the term.
func (w *writer) doclist(list []byte) {
	if PageSize >= len(w.leaf)+len(w.footer)+len(list)+1 {
		w.leaf = append(w.leaf, list...)
		return
	}
	for id := int64(0); len(list) > 0 && w.err == nil; {
		if !w.rowless {
			n, last := w.rowsThatFit(list, id)
			w.leaf = append(w.leaf, list[:n]...)
			if list, id = list[n:], last; len(list) == 0 {
				return
			}
		}
		p, ok := decodePosting(list)
		if !ok {
			w.err = fmt.Errorf("%w: doclist", ErrMalformed)
			return
		}
		w.row(id+p.delta, id)
		id += p.delta
		w.positions(list[p.start:p.end])
		list = list[p.end:]
	}
}

// rowsThatFit returns the size of as many rows at the start of a doclist as fit on the leaf, and the last of these rows. id
// is the row before them.
func (w *writer) rowsThatFit(list []byte, id int64) (n int, last int64) {
	room := min(PageSize-len(w.leaf)-len(w.footer), len(list))
	for {
		p, ok := decodePosting(list[n:])
		if !ok || n+p.end > room {
			return n, id
		}
		n, id = n+p.end, id+p.delta
	}
}

func (w *writer) row(id, previous int64) {
	if !w.rowless {
		w.leaf = appendVarint(w.leaf, uint64(id-previous))
		return
	}
	binary.BigEndian.PutUint16(w.leaf, uint16(len(w.leaf)))
	w.leaf = appendVarint(w.leaf, uint64(id))
	w.rowless = false
	w.indexRow(id)
}

// positions writes a position list, split between varints where it does not fit.
func (w *writer) positions(list []byte) {
	if len(w.leaf)+len(w.footer)+len(list) <= PageSize {
		w.leaf = append(w.leaf, list...)
		return
	}
	for len(list) > 0 {
		n := len(list)
		if space := PageSize - len(w.leaf) - len(w.footer); n > space {
			n = varintsIn(list, space)
		}
		w.leaf = append(w.leaf, list[:n]...)
		list = list[n:]
		if len(w.leaf)+len(w.footer) >= PageSize {
			w.flush()
		}
	}
}

// varintsIn returns the length of the varints at the start of list that fit into space, at least one.
func varintsIn(list []byte, space int) int {
	_, n := varint(list)
	for n < space {
		_, next := varint(list[n:])
		if next == 0 || n+next > space {
			break
		}
		n += next
	}
	return n
}

// flush writes the leaf to the sink and begins the next.
func (w *writer) flush() {
	binary.BigEndian.PutUint16(w.leaf[2:], uint16(len(w.leaf)))
	if w.termless {
		w.indexEmpty()
		w.empty++
	} else {
		w.leaf = append(w.leaf, w.footer...)
	}
	w.emit(w.page, w.leaf)
	w.leaf = append(w.leaf[:0], 0, 0, 0, 0)
	w.footer = w.footer[:0]
	w.last = 0
	w.page++
	w.termless, w.rowless = true, true
}

func (w *writer) emit(id int64, data []byte) {
	if w.err == nil {
		w.err = w.sink.Page(id, data)
	}
}

// startGroup ends the group of leaves since the last separator and begins a new one.
func (w *writer) startGroup(term []byte) {
	w.closeGroup()
	w.separator = append(w.separator[:0], term...)
	w.groupStart = w.page
}

func (w *writer) closeGroup() {
	page := w.groupStart << 1
	if w.flushIndex() {
		page |= 1
	}
	w.empty = 0
	if w.err == nil {
		w.err = w.sink.Separator(w.separator, page)
	}
}

// finish ends the segment and returns the number of its leaves.
func (w *writer) finish() (int, error) {
	if len(w.leaf) > 4 {
		w.flush()
	}
	if w.page > 1 {
		w.closeGroup()
	}
	return int(w.page - 1), w.err
}
