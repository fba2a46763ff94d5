package fts5

import (
	"fmt"
	"slices"
)

// Cache keeps what views of one state of the index have read most recently: most queries ask for words that were just
// looked up for another page or count. It must not be used concurrently.
type Cache struct {
	store        Store
	segments     []*viewSegment
	doclists     map[string][]*doclist // by term: the doclists in all segments, nil where not looked up yet
	doclistBytes int                   // approximate bytes of doclists that cannot be evicted
	held         heldLeaves            // leaves that can be evicted
	maxLeafBytes int                   // bound of heldLeaves.bytes
	view         int                   // number of the current view
	iterators    int                   // iterators of the current view
	young        map[int64][]byte      // records, used recently
	old          map[int64][]byte      // records of the generation before
}

// Limits of a Cache beside those of its views: it keeps two generations of records, 4 MB in all, and maxDoclistBytes of
// doclists from one query to the next.
const (
	maxYoungRecords = 512
	maxDoclistBytes = 4 << 20
	doclistOverhead = 256 // of one doclist without its rows
)

// heldLeaves lists the leaves that doclists hold, in the order in which they were read.
type heldLeaves struct {
	queue    []heldLeaf
	bytes    int
	unpacked int // bytes of decoded rows, in addition
}

type heldLeaf struct {
	doclist      *doclist
	block, bytes int
}

// hold records that a doclist holds a leaf, and evicts the leaves that were read first when there are too many; they can be
// read again. So memory is bounded however many doclists a query reads, and however long they are.
func (s *Cache) hold(l *doclist, block, bytes int) {
	s.held.queue, s.held.bytes = append(s.held.queue, heldLeaf{l, block, bytes}), s.held.bytes+bytes
	for s.held.bytes > s.maxLeafBytes && len(s.held.queue) > 1 {
		h := s.held.queue[0]
		s.held.queue, s.held.bytes = s.held.queue[1:], s.held.bytes-h.bytes
		p := &h.doclist.blocks[h.block]
		s.held.unpacked -= p.blockRows.memory()
		if p.blockRows = (blockRows{}); h.block > 0 { // the first block is on a leaf with other terms, and is not read again
			p.data = nil
		}
	}
}

// noDoclist marks a term that a segment does not have; nil means that it was not looked up.
var noDoclist = new(doclist)

// View returns a view of the state that the cache is of.
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

// record returns a cached record, nil when there is none.
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

// putRecord caches a record.
func (s *Cache) putRecord(id int64, b []byte) {
	if len(s.young) >= maxYoungRecords || s.young == nil {
		s.young, s.old = make(map[int64][]byte), s.young
	}
	s.young[id] = b
}

// setDoclist caches the doclist of a term in a segment.
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

// read returns records, from the cache if possible, nil for one that does not exist.
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

// readDistinct reads each record once. Id 0 means none; a missing record is an error.
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
