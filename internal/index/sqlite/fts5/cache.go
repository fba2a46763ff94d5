package fts5

import (
	"fmt"
	"slices"
)

// Cache keeps what views of one and the same state have read, the last of it: most questions ask for words that were asked
// for just before, by another page or another count. It serves one goroutine at a time.
type Cache struct {
	store    Store
	segments []*part
	lists    map[string][]*list // by term: those of all segments
	listed   int                // bytes of them that stay, about
	held     held               // those that may go
	leaves   int                // bytes that may
	view     int                // number of the present one
	tails    int                // that walk lists for it
	near     map[int64][]byte   // records, the last used ones
	far      map[int64][]byte   // those before them
}

// The measures of a shelf beside those of its views: it keeps up to twice as many records, 4 MB, and from one question to the
// next so much of the beginnings of lists.
const (
	shelvedRecords = 512
	shelvedLists   = 4 << 20
	listSize       = 256 // of one without its rows
)

// held is what lists hold of leaves, in the order in which it was read.
type held struct {
	of       []holding
	bytes    int
	unpacked int // bytes of rows beside that
}

type holding struct {
	list         *list
	piece, bytes int
}

// hold notes what a list holds of a leaf, which can be read again, and lets go of what was read first when that is too much.
// However many lists a question walks, and however long they are, no more is held.
func (s *Cache) hold(l *list, piece, bytes int) {
	s.held.of, s.held.bytes = append(s.held.of, holding{l, piece, bytes}), s.held.bytes+bytes
	for s.held.bytes > s.leaves && len(s.held.of) > 1 {
		h := s.held.of[0]
		s.held.of, s.held.bytes = s.held.of[1:], s.held.bytes-h.bytes
		p := &h.list.pieces[h.piece]
		s.held.unpacked -= p.rows.size()
		if p.rows = (rows{}); h.piece > 0 { // the first stands on a leaf with other terms, and is not read again
			p.data = nil
		}
	}
}

// absent is the list of a term that a segment does not have; one that was not looked for is nil.
var absent = new(list)

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
			s.segments = append(s.segments, &part{Segment: g, number: i, known: g.TombstonePages == 0})
		}
	}
	if s.listed > shelvedLists || s.lists == nil {
		s.lists, s.listed, s.held = map[string][]*list{}, 0, held{}
	}
	s.view, s.tails, s.leaves = s.view+1, 0, usual.Leaves
	return &View{s, s.segments, usual}, nil
}

// record returns a record that was read before, nil when none was.
func (s *Cache) record(id int64) []byte {
	if b := s.near[id]; b != nil {
		return b
	}
	b := s.far[id]
	if b != nil {
		s.put(id, b)
	}
	return b
}

// put keeps a record.
func (s *Cache) put(id int64, b []byte) {
	if len(s.near) >= shelvedRecords || s.near == nil {
		s.near, s.far = make(map[int64][]byte), s.near
	}
	s.near[id] = b
}

// list keeps the list of a term in a segment.
func (s *Cache) list(term string, segment int, l *list) {
	all := s.lists[term]
	if all == nil {
		all = make([]*list, len(s.segments))
		s.lists[term] = all
		s.listed += listSize
	}
	if all[segment] = l; l != absent {
		s.listed += listSize
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
			s.put(ids[i], records[i])
		}
	}
	return records, nil
}

// each reads each record once; id 0 is none.
func each(read func([]int64) ([][]byte, error), ids []int64) ([][]byte, error) {
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
