package fts5

import (
	"fmt"
	"slices"
)

// Store reads the shadow tables of an index in one state.
type Store interface {
	// Records returns records of %_data, nil for one that does not exist.
	Records(ids []int64) ([][]byte, error)
	// Separators returns, for each term and each segment, the page of the last separator in %_idx that is not greater than
	// the term, 0 where there is none. The pages of one term are adjacent.
	Separators(terms [][]byte, segments []int) ([]int64, error)
	// Ranges returns the same page, followed by the pages of all later separators that begin with the text.
	Ranges(texts [][]byte, segments []int) ([][]int64, error)
}

// View reads one state of an index, or some of its segments. It must not be used concurrently.
type View struct {
	cache    *Cache
	segments []*viewSegment
	limits   Limits
}

// Limits bound the memory of a view: for prefix queries, per segment and alternative, and for leaves. Results do not depend
// on them: what exceeds a limit is looked up later.
type Limits struct {
	Rows      int // words of 64 rows with terms that have a prefix
	Positions int // positions after which a term with a prefix is looked for, approximately
	Leaves    int // bytes of leaves that all doclists hold; decoded rows may take half as much in addition
}

var defaultLimits = Limits{Rows: 1 << 15, Positions: 1 << 16, Leaves: 8 << 20}

// WithLimits returns a view with other limits.
func (v *View) WithLimits(m Limits) *View {
	v.cache.maxLeafBytes = m.Leaves
	return &View{v.cache, v.segments, m}
}

// MemoryHeld returns how many bytes of leaves and decoded rows the doclists hold that views of this state have read.
func (v *View) MemoryHeld() int { return v.cache.held.bytes + v.cache.held.unpacked }

// viewSegment is a segment with its deleted rows.
type viewSegment struct {
	Segment
	number         int  // index among all segments
	tombstonesRead bool // deleted is valid
	deleted        map[int64]struct{}
}

// firstTombstone is added to a segment's id for the ids of its tombstone pages.
const firstTombstone = 1 << 16

// WithOrigins returns a view of the segments that may have rows with origins from first to last.
func (v *View) WithOrigins(first, last uint64) *View {
	some := &View{cache: v.cache, limits: v.limits}
	for _, s := range v.segments {
		if s.Origin1 <= last && first <= s.Origin2 {
			some.segments = append(some.segments, s)
		}
	}
	return some
}

// isDeleted reports whether a row of the segment was deleted.
func (s *viewSegment) isDeleted(store Store, row int64) (bool, error) {
	if !s.tombstonesRead {
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
		s.tombstonesRead = true
	}
	if len(s.deleted) == 0 {
		return false, nil
	}
	_, gone := s.deleted[row]
	return gone, nil
}

// partialDoclist is a doclist whose leaves are still being found.
type partialDoclist struct {
	*doclist
	nextLeaf  int // leaf that may continue it, 0: none
	indexPage int // next page of its doclist index to read, 0: none
}

// findDoclists returns the doclists of terms in the segments, nil where a segment does not have the term. The doclists of
// one term are adjacent.
func (v *View) findDoclists(terms []string) ([]*doclist, error) {
	var unknown []string
	var missing []*viewSegment
	for _, t := range terms {
		all, known := v.cache.doclists[t], true
		for _, s := range v.segments {
			if all == nil || all[s.number] == nil {
				if known = false; !slices.Contains(missing, s) {
					missing = append(missing, s)
				}
			}
		}
		if !known {
			unknown = append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		if err := v.cache.find(unknown, missing); err != nil {
			return nil, err
		}
	}
	lists := make([]*doclist, 0, len(terms)*len(v.segments))
	for _, t := range terms {
		all := v.cache.doclists[t]
		for _, s := range v.segments {
			if l := all[s.number]; l != noDoclist {
				lists = append(lists, l)
			} else {
				lists = append(lists, nil)
			}
		}
	}
	return lists, nil
}

// find looks up terms in segments and caches their doclists.
func (s *Cache) find(terms []string, segments []*viewSegment) error {
	terms = slices.Clone(terms)
	slices.Sort(terms)
	keys := make([][]byte, len(terms))
	for i, t := range terms {
		keys[i] = append([]byte{mainPrefix}, t...)
	}
	pages, err := s.separators(keys, segments)
	if err != nil {
		return err
	}
	leaves := make([]int64, len(pages))
	for i, page := range pages {
		if of := segments[i%len(segments)]; page>>1 >= int64(of.First) {
			leaves[i] = PageID(of.ID, page>>1)
		}
	}
	blocks, err := readDistinct(s.store.Records, leaves)
	if err != nil {
		return err
	}
	var partial []*partialDoclist
	for k, of := range segments {
		var leaf seeker // on the leaf of the term before
		for i, t := range terms {
			at := i*len(segments) + k
			if blocks[at] == nil {
				s.setDoclist(t, of.number, noDoclist)
				continue
			}
			if i == 0 || leaves[at] != leaves[at-len(segments)] {
				if leaf, err = newSeeker(blocks[at]); err != nil {
					return err
				}
			}
			l := noDoclist
			if leaf.seek(keys[i]) {
				o := newPartialDoclist(s, of, leaf.rows(), pages[at])
				if l = o.doclist; leaf.last() {
					partial = append(partial, o)
				}
			}
			if leaf.err != nil {
				return leaf.err
			}
			s.setDoclist(t, of.number, l)
		}
	}
	return s.complete(partial)
}

// sampleStep is the step at which many terms are sampled: neighbours are often on the same leaf.
const sampleStep = 8

// separators returns Store.Separators of ascending terms. For many terms it samples them first: all terms between two with
// the same separators have these, too.
func (s *Cache) separators(keys [][]byte, segments []*viewSegment) ([]int64, error) {
	if len(keys) <= 2*sampleStep {
		return s.store.Separators(keys, segmentIDs(segments))
	}
	sampled := func(i int) bool { return i%sampleStep == 0 || i == len(keys)-1 }
	pages := make([]int64, len(keys)*len(segments))
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
		found, err := s.store.Separators(ask, segmentIDs(segments))
		for n, i := range of {
			if err == nil {
				copy(pages[i*len(segments):(i+1)*len(segments)], found[n*len(segments):])
			}
		}
		return err
	}
	if err := ask(sampled); err != nil {
		return nil, err
	}
	row := func(i int) []int64 { return pages[i*len(segments) : (i+1)*len(segments)] }
	err := ask(func(i int) bool {
		below := row(i / sampleStep * sampleStep)
		if sampled(i) || !slices.Equal(below, row(min(i/sampleStep*sampleStep+sampleStep, len(keys)-1))) {
			return !sampled(i)
		}
		copy(row(i), below)
		return false
	})
	return pages, err
}

func segmentIDs(segments []*viewSegment) []int {
	ids := make([]int, len(segments))
	for i, s := range segments {
		ids[i] = s.ID
	}
	return ids
}

// newPartialDoclist returns the doclist of a term on the leaf of a separator, with the rows that are on that leaf.
func newPartialDoclist(cache *Cache, s *viewSegment, rows []byte, page int64) *partialDoclist {
	leaf := int(page >> 1)
	o := &partialDoclist{doclist: &doclist{cache: cache, segment: s}, nextLeaf: leaf + 1}
	if len(rows) > 0 {
		first, _ := varint(rows)
		o.blocks = append(o.blocks, doclistBlock{leaf: leaf, first: int64(first), data: slices.Clone(rows)}) // a slice of the leaf would keep the whole leaf in memory for each term
		cache.doclistBytes += len(rows)
	}
	if page&1 != 0 {
		o.nextLeaf, o.indexPage = 0, leaf
	}
	return o
}

// complete finds the leaves on which doclists continue: by their doclist indexes, or leaf by leaf where they have none.
func (s *Cache) complete(partial []*partialDoclist) error {
	for len(partial) > 0 {
		ids := make([]int64, len(partial))
		for i, o := range partial {
			if ids[i] = PageID(o.segment.ID, int64(o.nextLeaf)); o.indexPage != 0 {
				ids[i] = PageID(o.segment.ID, doclistIndex(0, int64(o.indexPage)))
			}
		}
		blocks, err := s.read(ids)
		if err != nil {
			return err
		}
		unfinished := partial[:0]
		for i, o := range partial {
			more, err := o.readNext(blocks[i])
			if err != nil {
				return err
			}
			if more {
				unfinished = append(unfinished, o)
			}
		}
		partial = unfinished
	}
	return nil
}

// readNext adds the next leaf, or the next page of a doclist index, and reports whether there is more to read.
func (o *partialDoclist) readNext(b []byte) (more bool, err error) {
	if o.indexPage != 0 {
		return o.addIndexPage(b)
	}
	if b == nil && o.nextLeaf > o.segment.Last {
		return false, nil
	}
	_, rows, more, err := splitLeaf(b)
	if err == nil && len(rows) > 0 {
		first, _ := varint(rows)
		o.blocks = append(o.blocks, doclistBlock{leaf: o.nextLeaf, first: int64(first), data: rows})
		o.cache.hold(o.doclist, len(o.blocks)-1, len(b))
	}
	o.nextLeaf++
	return more && o.nextLeaf <= o.segment.Last, err
}

// addIndexPage decodes a page of the lowest level of a doclist index: the first row ids of consecutive leaves, 0 for a leaf
// on which no row begins. Pages that are not the root have consecutive numbers, starting at the leaf of the term.
func (o *partialDoclist) addIndexPage(b []byte) (more bool, err error) {
	if b == nil && len(o.blocks) > 1 {
		return false, nil
	}
	r := reader{b: b[min(1, len(b)):]}
	leaf := r.int(1 << 31)
	row := int64(r.uint())
	for r.err == nil {
		o.blocks = append(o.blocks, doclistBlock{leaf: leaf, first: row})
		for leaf++; len(r.b) > 0 && r.b[0] == 0; leaf++ {
			r.b = r.b[1:]
		}
		if len(r.b) == 0 {
			o.indexPage++
			return b[0] != 0, nil
		}
		row += int64(r.uint())
	}
	return false, fmt.Errorf("%w: doclist index", ErrMalformed)
}

// prefetch reads the blocks that iterators need for their next row in one call.
func (s *Cache) prefetch(iterators []*iterator, at int64) error {
	type need struct {
		*doclist
		piece int
	}
	var all []need
	for _, t := range iterators {
		if t.left > 0 && t.ids[0] <= at {
			continue
		}
		if k := t.blockFor(at); k >= 0 && t.blocks[k].data == nil {
			all = append(all, need{t.doclist, k})
		}
	}
	if len(all) < 2 {
		return nil
	}
	ids := make([]int64, len(all))
	for i, n := range all {
		ids[i] = PageID(n.segment.ID, int64(n.blocks[n.piece].leaf))
	}
	blocks, err := readDistinct(s.read, ids)
	for i := 0; i < len(all) && err == nil; i++ {
		err = all[i].setLeaf(all[i].piece, blocks[i])
	}
	return err
}
