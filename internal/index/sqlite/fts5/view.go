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

// View reads one state of an index, or some segments of it. It serves one goroutine.
type View struct {
	shelf    *Cache
	segments []*part
	measures Measures
}

// Measures bound what a view holds: of what beginnings of terms stand for, in each segment and for each alternative, and of
// leaves. Answers do not depend on them: what is beyond is looked up later.
type Measures struct {
	Rows   int // words of 64 rows that have terms which begin so
	Places int // behind which such a term is looked for, about
	Leaves int // bytes of leaves that lists hold, however many there are, with at most half as much of their rows
}

var usual = Measures{Rows: 1 << 15, Places: 1 << 16, Leaves: 8 << 20}

// With is a view with other measures.
func (v *View) With(m Measures) *View {
	v.shelf.leaves = m.Leaves
	return &View{v.shelf, v.segments, m}
}

// Held is how many bytes of leaves and rows the lists hold that views of this state have walked.
func (v *View) Held() int { return v.shelf.held.bytes + v.shelf.held.unpacked }

// part is a segment.
type part struct {
	Segment
	number  int  // among all
	known   bool // deleted is filled in
	deleted map[int64]struct{}
}

// firstTombstone is the number of a segment's tombstones, less its own.
const firstTombstone = 1 << 16

// Of is a view of the segments that may have rows with origins from first to last.
func (v *View) Of(first, last uint64) *View {
	some := &View{shelf: v.shelf, measures: v.measures}
	for _, s := range v.segments {
		if s.Origin1 <= last && first <= s.Origin2 {
			some.segments = append(some.segments, s)
		}
	}
	return some
}

// gone says whether a row of the segment was deleted.
func (s *part) gone(store Store, row int64) (bool, error) {
	if !s.known {
		ids := make([]int64, s.TombstonePages)
		for i := range ids {
			ids[i] = PageID(s.ID+firstTombstone, int64(i))
		}
		pages, err := store.Records(ids)
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
	if len(s.deleted) == 0 {
		return false, nil
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

// lists finds the doclists of terms in the segments: those of a term side by side, nil where a segment has none.
func (v *View) lists(terms []string) ([]*list, error) {
	var unknown []string
	var in []*part
	for _, t := range terms {
		all, known := v.shelf.lists[t], true
		for _, s := range v.segments {
			if all == nil || all[s.number] == nil {
				if known = false; !slices.Contains(in, s) {
					in = append(in, s)
				}
			}
		}
		if !known {
			unknown = append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		if err := v.shelf.find(unknown, in); err != nil {
			return nil, err
		}
	}
	lists := make([]*list, 0, len(terms)*len(v.segments))
	for _, t := range terms {
		all := v.shelf.lists[t]
		for _, s := range v.segments {
			if l := all[s.number]; l != absent {
				lists = append(lists, l)
			} else {
				lists = append(lists, nil)
			}
		}
	}
	return lists, nil
}

// find looks terms up in segments.
func (s *Cache) find(terms []string, in []*part) error {
	terms = slices.Clone(terms)
	slices.Sort(terms)
	keys := make([][]byte, len(terms))
	for i, t := range terms {
		keys[i] = append([]byte{mainPrefix}, t...)
	}
	pages, err := s.separators(keys, in)
	if err != nil {
		return err
	}
	leaves := make([]int64, len(pages))
	for i, page := range pages {
		if of := in[i%len(in)]; page>>1 >= int64(of.First) {
			leaves[i] = PageID(of.ID, page>>1)
		}
	}
	blocks, err := each(s.store.Records, leaves)
	if err != nil {
		return err
	}
	var open []*opened
	for k, of := range in {
		var on seeker // the leaf of the term before
		for i, t := range terms {
			at := i*len(in) + k
			if blocks[at] == nil {
				s.list(t, of.number, absent)
				continue
			}
			if i == 0 || leaves[at] != leaves[at-len(in)] {
				if on, err = seek(blocks[at]); err != nil {
					return err
				}
			}
			l := absent
			if on.to(keys[i]) {
				o := newOpened(s, of, on.rows(), pages[at])
				if l = o.list; on.last() {
					open = append(open, o)
				}
			}
			if on.err != nil {
				return on.err
			}
			s.list(t, of.number, l)
		}
	}
	return s.complete(open)
}

// sampled is every which of many terms is asked for at first: neighbours often stand on one leaf.
const sampled = 8

// separators are those of terms that rise, for each segment. What lies between two terms with the same one has that, too.
func (s *Cache) separators(keys [][]byte, in []*part) ([]int64, error) {
	if len(keys) <= 2*sampled {
		return s.store.Separators(keys, numbers(in))
	}
	some := func(i int) bool { return i%sampled == 0 || i == len(keys)-1 }
	pages := make([]int64, len(keys)*len(in))
	ask := func(wanted func(i int) bool) error {
		var of []int
		var ask [][]byte
		for i, k := range keys {
			if wanted(i) {
				of, ask = append(of, i), append(ask, k)
			}
		}
		if len(ask) == 0 {
			return nil
		}
		found, err := s.store.Separators(ask, numbers(in))
		for n, i := range of {
			if err == nil {
				copy(pages[i*len(in):(i+1)*len(in)], found[n*len(in):])
			}
		}
		return err
	}
	if err := ask(some); err != nil {
		return nil, err
	}
	row := func(i int) []int64 { return pages[i*len(in) : (i+1)*len(in)] }
	err := ask(func(i int) bool {
		below := row(i / sampled * sampled)
		if some(i) || !slices.Equal(below, row(min(i/sampled*sampled+sampled, len(keys)-1))) {
			return !some(i)
		}
		copy(row(i), below)
		return false
	})
	return pages, err
}

func numbers(segments []*part) []int {
	ids := make([]int, len(segments))
	for i, s := range segments {
		ids[i] = s.ID
	}
	return ids
}

// newOpened is a list whose term stands on the leaf of a separator, with what follows it there.
func newOpened(shelf *Cache, s *part, rows []byte, page int64) *opened {
	leaf := int(page >> 1)
	o := &opened{list: &list{shelf: shelf, segment: s}, next: leaf + 1}
	if len(rows) > 0 {
		first, _ := varint(rows)
		o.pieces = append(o.pieces, piece{leaf: leaf, first: int64(first), data: slices.Clone(rows)}) // of many terms a leaf each would be held
		shelf.listed += len(rows)
	}
	if page&1 != 0 {
		o.next, o.tree = 0, leaf
	}
	return o
}

// complete finds the leaves that lists go on on: by their doclist indexes, or leaf by leaf where there are few.
func (s *Cache) complete(open []*opened) error {
	for len(open) > 0 {
		ids := make([]int64, len(open))
		for i, o := range open {
			if ids[i] = PageID(o.segment.ID, int64(o.next)); o.tree != 0 {
				ids[i] = PageID(o.segment.ID, doclistIndex(0, int64(o.tree)))
			}
		}
		blocks, err := s.read(ids)
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
		o.pieces = append(o.pieces, piece{leaf: o.next, first: int64(first), data: rows})
		o.shelf.hold(o.list, len(o.pieces)-1, len(b))
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
func (s *Cache) fetch(tails []*iterator, at int64) error {
	type need struct {
		*list
		piece int
	}
	var all []need
	for _, t := range tails {
		if t.left > 0 && t.ids[0] <= at {
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
	blocks, err := each(s.read, ids)
	for i := 0; i < len(all) && err == nil; i++ {
		err = all[i].take(all[i].piece, blocks[i])
	}
	return err
}
