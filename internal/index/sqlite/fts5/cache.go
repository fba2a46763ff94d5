package fts5

import (
	"fmt"
	"slices"
)

// Cache keeps what views of one and the same state have read, the last of it: most questions ask for words that were asked
// for just before, by another page or another count. It serves one goroutine at a time.
type Cache struct {
	store        Store
	segments     []*viewSegment
	doclists     map[string][]*doclist // by term: those of all segments
	doclistBytes int                   // bytes of them that stay, about
	held         heldLeaves            // those that may go
	maxLeafBytes int                   // bytes that may
	view         int                   // number of the present one
	iterators    int                   // that walk lists for it
	young        map[int64][]byte      // records, the last used ones
	old          map[int64][]byte      // those before them
}

// The measures of a shelf beside those of its views: it keeps up to twice as many records, 4 MB, and from one question to the
// next so much of the beginnings of lists.
const (
	maxYoungRecords = 512
	maxDoclistBytes = 4 << 20
	doclistOverhead = 256 // of one without its rows
)

// heldLeaves is what lists hold of leaves, in the order in which it was read.
type heldLeaves struct {
	queue    []heldLeaf
	bytes    int
	unpacked int // bytes of rows beside that
}

type heldLeaf struct {
	doclist      *doclist
	block, bytes int
}

// hold notes what a list holds of a leaf, which can be read again, and lets go of what was read first when that is too much.
// However many lists a question walks, and however long they are, no more is held.
func (s *Cache) hold(l *doclist, piece, bytes int) {
	s.held.queue, s.held.bytes = append(s.held.queue, heldLeaf{l, piece, bytes}), s.held.bytes+bytes
	for s.held.bytes > s.maxLeafBytes && len(s.held.queue) > 1 {
		h := s.held.queue[0]
		s.held.queue, s.held.bytes = s.held.queue[1:], s.held.bytes-h.bytes
		p := &h.doclist.blocks[h.block]
		s.held.unpacked -= p.blockRows.memory()
		if p.blockRows = (blockRows{}); h.block > 0 { // the first stands on a leaf with other terms, and is not read again
			p.data = nil
		}
	}
}

// noDoclist is the list of a term that a segment does not have; one that was not looked for is nil.
var noDoclist = new(doclist)

// View reads the state that the shelf is of.
func (s *Cache) View(store Store) (*View, error) {
	if s.store = store; s.segments == nil {
		b, err := store.Records([]int64{StructureID})
		if err != nil {
			return nil, err
		}
		of, err := DecodeStructure(b[0])
		if err != nil {
			return nil, err
		}
		for i, g := range of.All() {
			s.segments = append(s.segments, &viewSegment{Segment: g, number: i, tombstonesRead: g.TombstonePages == 0})
		}
	}
	if s.doclistBytes > maxDoclistBytes || s.doclists == nil {
		s.doclists, s.doclistBytes, s.held = map[string][]*doclist{}, 0, heldLeaves{}
	}
	s.view, s.iterators, s.maxLeafBytes = s.view+1, 0, defaultLimits.Leaves
	return &View{s, s.segments, defaultLimits}, nil
}

// record returns a record that was read before, nil when none was.
func (s *Cache) record(id int64) []byte {
	if b := s.young[id]; b != nil {
		return b
	}
	b := s.old[id]
	if b != nil {
		s.putRecord(id, b)
	}
	return b
}

// putRecord keeps a record.
func (s *Cache) putRecord(id int64, b []byte) {
	if len(s.young) >= maxYoungRecords || s.young == nil {
		s.young, s.old = make(map[int64][]byte), s.young
	}
	s.young[id] = b
}

// setDoclist keeps the list of a term in a segment.
func (s *Cache) setDoclist(term string, segment int, l *doclist) {
	all := s.doclists[term]
	if all == nil {
		all = make([]*doclist, len(s.segments))
		s.doclists[term] = all
		s.doclistBytes += doclistOverhead
	}
	if all[segment] = l; l != noDoclist {
		s.doclistBytes += doclistOverhead
	}
}

// read gives records, nil for one that is not there.
func (s *Cache) read(ids []int64) ([][]byte, error) {
	records := make([][]byte, len(ids))
	var unknown []int64
	var of []int
	for i, id := range ids {
		if records[i] = s.record(id); records[i] == nil {
			unknown, of = append(unknown, id), append(of, i)
		}
	}
	if len(unknown) == 0 {
		return records, nil
	}
	read, err := s.store.Records(unknown)
	if err != nil {
		return nil, err
	}
	for k, i := range of {
		if records[i] = read[k]; records[i] != nil {
			s.putRecord(ids[i], records[i])
		}
	}
	return records, nil
}

// readDistinct reads each record once; id 0 is none.
func readDistinct(read func([]int64) ([][]byte, error), ids []int64) ([][]byte, error) {
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) > 0 && distinct[0] == 0 {
		distinct = distinct[1:]
	}
	if len(distinct) == 0 {
		return make([][]byte, len(ids)), nil
	}
	records, err := read(distinct)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(ids))
	for i, id := range ids {
		if at, ok := slices.BinarySearch(distinct, id); ok {
			if out[i] = records[at]; out[i] == nil {
				return nil, fmt.Errorf("%w: record %d is missing", ErrMalformed, id)
			}
		}
	}
	return out, nil
}
