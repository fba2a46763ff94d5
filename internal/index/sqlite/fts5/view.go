package fts5

import (
	"fmt"
	"slices"
)

// Store gives what is stored of an index, as it is in one state.
type Store interface {
	// Records returns records of %_data, nil for one that is not there.
	Records(ids []int64) ([][]byte, error)
	// Separators returns for each term, and for each segment, the page of the last separator in %_idx that is not above
	// the term, 0 where there is none: those of a term side by side.
	Separators(terms [][]byte, segments []int) ([]int64, error)
	// Ranges returns the same with the pages of all separators behind it that begin with the text.
	Ranges(texts [][]byte, segments []int) ([][]int64, error)
}

// View reads one state of an index. It serves one goroutine.
type View struct {
	store    Store
	shelf    *Shelf
	segments []*part
}

// part is a segment.
type part struct {
	Segment
	known   bool // deleted is filled in
	deleted map[int64]struct{}
}

// firstTombstone is the number of a segment's tombstones, less its own.
const firstTombstone = 1 << 16

// NewView reads which segments there are.
func NewView(store Store) (*View, error) { return new(Shelf).View(store) }

// View reads the state that the shelf is of.
func (s *Shelf) View(store Store) (*View, error) {
	if s.segments == nil {
		b, err := store.Records([]int64{StructureID})
		if err != nil {
			return nil, err
		}
		of, err := DecodeStructure(b[0])
		if err != nil {
			return nil, err
		}
		for _, g := range of.All() {
			s.segments = append(s.segments, &part{Segment: g, known: g.TombstonePages == 0})
		}
	}
	return &View{store: store, shelf: s, segments: s.segments}, nil
}

// gone says whether a row of the segment was deleted.
func (s *part) gone(v *View, row int64) (bool, error) {
	if !s.known {
		ids := make([]int64, s.TombstonePages)
		for i := range ids {
			ids[i] = PageID(s.ID+firstTombstone, int64(i))
		}
		pages, err := v.store.Records(ids)
		if err != nil {
			return false, err
		}
		s.deleted = map[int64]struct{}{}
		for _, p := range pages {
			rows, err := tombstones(p)
			if err != nil {
				return false, err
			}
			for _, id := range rows {
				s.deleted[id] = struct{}{}
			}
		}
		s.known = true
	}
	_, gone := s.deleted[row]
	return gone, nil
}

// opened is a list that is being found.
type opened struct {
	*list
	next int // leaf that may go on with it, 0: none
	tree int // page of its doclist index to be read next, 0: none
}

// lists finds the doclists of terms in all segments: those of a term side by side, nil where a segment has none.
func (v *View) lists(terms []string) ([]*list, error) {
	keys := make([][]byte, len(terms))
	for i, t := range terms {
		keys[i] = append([]byte{mainPrefix}, t...)
	}
	pages, err := v.separators(keys)
	if err != nil {
		return nil, err
	}
	leaves := make([]int64, len(pages))
	for i, page := range pages {
		if s := v.segments[i%len(v.segments)]; page>>1 >= int64(s.First) {
			leaves[i] = PageID(s.ID, page>>1)
		}
	}
	blocks, err := v.records(leaves)
	if err != nil {
		return nil, err
	}
	lists := make([]*list, len(pages))
	var open []*opened
	for i, b := range blocks {
		if b == nil {
			continue
		}
		rows, more, err := termOn(b, keys[i/len(v.segments)])
		if err != nil {
			return nil, err
		}
		if rows == nil {
			continue
		}
		o := newOpened(v, v.segments[i%len(v.segments)], rows, pages[i])
		if lists[i] = o.list; more {
			open = append(open, o)
		}
	}
	return lists, v.complete(open)
}

// separators are the pages of the last separators that are not above some terms: see Store.
func (v *View) separators(keys [][]byte) ([]int64, error) {
	n := len(v.segments)
	pages := make([]int64, len(keys)*n)
	var unknown [][]byte
	var of []int
	for i, k := range keys {
		if known := v.shelf.pages[string(k)]; known != nil {
			copy(pages[i*n:], known)
			continue
		}
		unknown, of = append(unknown, k), append(of, i)
	}
	if len(unknown) == 0 {
		return pages, nil
	}
	read, err := v.store.Separators(unknown, v.numbers())
	if err != nil {
		return nil, err
	}
	for k, i := range of {
		one := read[k*n : (k+1)*n : (k+1)*n]
		copy(pages[i*n:], one)
		v.shelf.separators(string(keys[i]), one)
	}
	return pages, nil
}

func (v *View) numbers() []int {
	ids := make([]int, len(v.segments))
	for i, s := range v.segments {
		ids[i] = s.ID
	}
	return ids
}

// newOpened is a list whose term stands on the leaf of a separator, with what follows it there.
func newOpened(v *View, s *part, rows []byte, page int64) *opened {
	leaf := int(page >> 1)
	o := &opened{list: &list{view: v, segment: s}, next: leaf + 1}
	if len(rows) > 0 {
		first, _ := varint(rows)
		o.pieces = append(o.pieces, piece{leaf, int64(first), slices.Clone(rows)}) // of many terms a leaf each would be held
	}
	if page&1 != 0 {
		o.next, o.tree = 0, leaf
	}
	return o
}

// read gives records, nil for one that is not there.
func (v *View) read(ids []int64) ([][]byte, error) {
	records := make([][]byte, len(ids))
	var unknown []int64
	var of []int
	for i, id := range ids {
		if records[i] = v.shelf.record(id); records[i] == nil {
			unknown, of = append(unknown, id), append(of, i)
		}
	}
	if len(unknown) == 0 {
		return records, nil
	}
	read, err := v.store.Records(unknown)
	if err != nil {
		return nil, err
	}
	for k, i := range of {
		if records[i] = read[k]; records[i] != nil {
			v.shelf.put(ids[i], records[i])
		}
	}
	return records, nil
}

// records reads each record once; id 0 is none.
func (v *View) records(ids []int64) ([][]byte, error) {
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) > 0 && distinct[0] == 0 {
		distinct = distinct[1:]
	}
	if len(distinct) == 0 {
		return make([][]byte, len(ids)), nil
	}
	read, err := v.read(distinct)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(ids))
	for i, id := range ids {
		if at, ok := slices.BinarySearch(distinct, id); ok {
			if out[i] = read[at]; out[i] == nil {
				return nil, fmt.Errorf("%w: record %d is missing", ErrMalformed, id)
			}
		}
	}
	return out, nil
}

// complete finds the leaves that lists go on on: by their doclist indexes, or leaf by leaf where there are few.
func (v *View) complete(open []*opened) error {
	for len(open) > 0 {
		ids := make([]int64, len(open))
		for i, o := range open {
			if ids[i] = PageID(o.segment.ID, int64(o.next)); o.tree != 0 {
				ids[i] = PageID(o.segment.ID, doclistIndex(0, int64(o.tree)))
			}
		}
		blocks, err := v.read(ids)
		if err != nil {
			return err
		}
		going := open[:0]
		for i, o := range open {
			more, err := o.prolong(blocks[i])
			if err != nil {
				return err
			}
			if more {
				going = append(going, o)
			}
		}
		open = going
	}
	return nil
}

// prolong takes the next leaf, or the next page of a doclist index, and says whether there is more to read.
func (o *opened) prolong(b []byte) (more bool, err error) {
	if o.tree != 0 {
		return o.branch(b)
	}
	if b == nil && o.next > o.segment.Last {
		return false, nil
	}
	_, rows, more, err := leafParts(b)
	if err == nil && len(rows) > 0 {
		first, _ := varint(rows)
		o.pieces = append(o.pieces, piece{o.next, int64(first), rows})
	}
	o.next++
	return more && o.next <= o.segment.Last, err
}

// branch reads a page of the lowest level of a doclist index: the first rows of leaves that follow each other, 0 for one on
// which no row begins. Pages that are not the root are numbered on from the leaf of the term.
func (o *opened) branch(b []byte) (more bool, err error) {
	if b == nil && len(o.pieces) > 1 {
		return false, nil
	}
	r := reader{b: b[min(1, len(b)):]}
	leaf := r.int(1 << 31)
	row := int64(r.uint())
	for r.err == nil {
		o.pieces = append(o.pieces, piece{leaf: leaf, first: row})
		for leaf++; len(r.b) > 0 && r.b[0] == 0; leaf++ {
			r.b = r.b[1:]
		}
		if len(r.b) == 0 {
			o.tree++
			return b[0] != 0, nil
		}
		row += int64(r.uint())
	}
	return false, fmt.Errorf("%w: doclist index", ErrMalformed)
}

// fetch reads at once what tails need for their next row.
func (v *View) fetch(tails []*tail, at int64) error {
	type need struct {
		*list
		piece int
	}
	var all []need
	for _, t := range tails {
		if t.left > 0 && t.rows[0] <= at {
			continue
		}
		if k := t.before(at); k >= 0 && t.pieces[k].data == nil {
			all = append(all, need{t.list, k})
		}
	}
	if len(all) < 2 {
		return nil
	}
	ids := make([]int64, len(all))
	for i, n := range all {
		ids[i] = PageID(n.segment.ID, int64(n.pieces[n.piece].leaf))
	}
	blocks, err := v.records(ids)
	for i := 0; i < len(all) && err == nil; i++ {
		err = all[i].pieces[all[i].piece].take(blocks[i])
	}
	return err
}
