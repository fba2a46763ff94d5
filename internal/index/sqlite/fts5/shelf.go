package fts5

// Shelf keeps what views of one and the same state have read, the last of it: most questions ask for words that were asked
// for just before, by another page or another count. It serves one goroutine at a time.
type Shelf struct {
	segments []*part
	pages    map[string][]int64 // by term: of its separators in all segments
	near     map[int64][]byte   // records, the last used ones
	far      map[int64][]byte   // those before them
}

// The measures of a shelf: it keeps up to twice as much, 4 MB of records.
const (
	shelvedRecords = 512
	shelvedTerms   = 512
)

// record returns a record that was read before, nil when none was.
func (s *Shelf) record(id int64) []byte {
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
func (s *Shelf) put(id int64, b []byte) {
	if len(s.near) >= shelvedRecords || s.near == nil {
		s.near, s.far = make(map[int64][]byte), s.near
	}
	s.near[id] = b
}

// separators keeps where a term must stand.
func (s *Shelf) separators(term string, pages []int64) {
	if len(s.pages) >= shelvedTerms || s.pages == nil {
		s.pages = make(map[string][]int64)
	}
	s.pages[term] = pages
}
