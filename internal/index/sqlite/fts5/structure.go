package fts5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Row ids in %_data of the two records that are not pages.
const (
	AveragesID  = 1
	StructureID = 10
)

// ErrMalformed is returned for a record that this package cannot decode.
var ErrMalformed = errors.New("fts5: malformed record")

// ErrFull is returned when no segment id is free.
var ErrFull = errors.New("fts5: too many segments")

const (
	maxSegments = 2000
	maxLevels   = 64
)

// Structure is the structure record, which lists all segments. Levels are ordered from the newest to the oldest, the
// segments in a level from the oldest to the newest; across all of them, origins rise with age from old to new.
type Structure struct {
	cookie [4]byte // configuration that FTS5 last loaded
	writes uint64
	Levels []Level
}

// Level is a group of segments that FTS5 merges together.
type Level struct {
	Merging  int // segments of this level, from the oldest, that FTS5 is merging into the last of the next level
	Segments []Segment
}

// Segment describes one segment. A row belongs to it when the origin in the row's %_docsize entry is in its range.
type Segment struct {
	ID                      int
	First, Last             int // leaf pages
	Origin1, Origin2        uint64
	TombstonePages          int
	TombstoneRows, TotalRow uint64
}

// Pages returns the number of leaf pages.
func (s Segment) Pages() int { return s.Last - s.First + 1 }

var version2 = []byte{0xff, 0, 0, 1}

// DecodeStructure reads the record of a contentless_delete table.
func DecodeStructure(b []byte) (*Structure, error) {
	if len(b) < 8 || string(b[4:8]) != string(version2) {
		return nil, fmt.Errorf("%w: structure of another version", ErrMalformed)
	}
	s := &Structure{cookie: [4]byte(b[:4])}
	r := reader{b: b[8:]}
	levels, segments := r.int(maxLevels), r.int(maxSegments)
	s.writes = r.uint()
	for range levels {
		l := Level{Merging: r.int(maxSegments)}
		n := r.int(maxSegments)
		if l.Merging > n {
			r.err = ErrMalformed
		}
		for i := 0; i < n && r.err == nil; i++ {
			l.Segments = append(l.Segments, Segment{
				ID: r.int(1 << 16), First: r.int(1 << 31), Last: r.int(1 << 31), Origin1: r.uint(), Origin2: r.uint(),
				TombstonePages: r.int(1 << 31), TombstoneRows: r.uint(), TotalRow: r.uint()})
		}
		segments -= n
		s.Levels = append(s.Levels, l)
	}
	if r.err != nil || segments != 0 {
		return nil, fmt.Errorf("%w: structure", ErrMalformed)
	}
	return s, nil
}

// Encode returns the record.
func (s *Structure) Encode() []byte {
	b := append(s.cookie[:len(s.cookie):len(s.cookie)], version2...)
	b = appendVarint(b, uint64(len(s.Levels)))
	b = appendVarint(b, uint64(len(s.All())))
	b = appendVarint(b, s.writes)
	for _, l := range s.Levels {
		b = appendVarint(b, uint64(l.Merging))
		b = appendVarint(b, uint64(len(l.Segments)))
		for _, g := range l.Segments {
			for _, v := range []uint64{uint64(g.ID), uint64(g.First), uint64(g.Last), g.Origin1, g.Origin2,
				uint64(g.TombstonePages), g.TombstoneRows, g.TotalRow} {
				b = appendVarint(b, v)
			}
		}
	}
	return b
}

// All returns the segments from the oldest to the newest.
func (s *Structure) All() []Segment {
	var all []Segment
	for _, l := range slices.Backward(s.Levels) {
		all = append(all, l.Segments...)
	}
	return all
}

// Merging reports whether FTS5 is in the middle of a merge.
func (s *Structure) Merging() bool {
	return slices.ContainsFunc(s.Levels, func(l Level) bool { return l.Merging > 0 })
}

// Origin returns the origin of the next segment.
func (s *Structure) Origin() uint64 {
	last := uint64(0)
	for _, g := range s.All() {
		last = max(last, g.Origin2)
	}
	return last + 1
}

// NextID returns a free segment id: one above all others as long as there is one, since pages at the end of %_data are the
// cheapest to write.
func (s *Structure) NextID() (int, error) {
	all, last := s.All(), 0
	for _, g := range all {
		last = max(last, g.ID)
	}
	if last < maxSegments {
		return last + 1, nil
	}
	for id := 1; id <= maxSegments; id++ {
		if !slices.ContainsFunc(all, func(g Segment) bool { return g.ID == id }) {
			return id, nil
		}
	}
	return 0, ErrFull
}

// Append adds a segment that is newer than all others.
func (s *Structure) Append(g Segment) {
	if len(s.Levels) == 0 {
		s.Levels = append(s.Levels, Level{})
	}
	s.Levels[0].Segments = append(s.Levels[0].Segments, g)
	if s.Merging() {
		return
	}
	s.arrange(s.All())
}

// Replace replaces consecutive segments by one, or by none when its number of pages is 0.
func (s *Structure) Replace(old []Segment, g Segment) {
	all := s.All()
	i := slices.IndexFunc(all, func(a Segment) bool { return a.ID == old[0].ID })
	var with []Segment
	if g.Pages() > 0 {
		with = []Segment{g}
	}
	s.arrange(slices.Replace(all, i, i+len(old), with...))
}

// levelSizes are the sizes in pages from which on a segment is put on level 1 and level 2. FTS5 itself merges whole levels,
// and a small commit must not make it merge large segments.
var levelSizes = []int{128, 1024}

// arrange distributes segments, oldest first, over levels. No segment is on a newer level than a younger segment.
func (s *Structure) arrange(all []Segment) {
	s.Levels = make([]Level, len(levelSizes)+1)
	level := 0
	for _, g := range slices.Backward(all) {
		for level < len(levelSizes) && g.Pages() >= levelSizes[level] {
			level++
		}
		l := &s.Levels[level]
		l.Segments = slices.Insert(l.Segments, 0, g)
	}
}

// Averages is the averages record: the number of rows, and the number of tokens in each column.
type Averages struct {
	Rows   int64
	Tokens []int64
}

// DecodeAverages decodes the record of a table with that many columns. An empty record counts nothing.
func DecodeAverages(b []byte, columns int) (Averages, error) {
	a := Averages{Tokens: make([]int64, columns)}
	if len(b) == 0 {
		return a, nil
	}
	r := reader{b: b}
	a.Rows = int64(r.uint())
	for i := range a.Tokens {
		a.Tokens[i] = int64(r.uint())
	}
	if r.err != nil {
		return a, fmt.Errorf("%w: averages", ErrMalformed)
	}
	return a, nil
}

// Add adds the counts of b.
func (a *Averages) Add(b Averages) {
	a.Rows += b.Rows
	for i, n := range b.Tokens {
		a.Tokens[i] += n
	}
}

// Encode returns the record.
func (a Averages) Encode() []byte {
	b := appendVarint(nil, uint64(a.Rows))
	for _, n := range a.Tokens {
		b = appendVarint(b, uint64(n))
	}
	return b
}

// reader decodes varints and remembers an error: one that is truncated or too large.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uint() uint64 {
	v, n := varint(r.b)
	if n == 0 {
		r.err = errVarint
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int(limit uint64) int {
	v := r.uint()
	if v > limit {
		r.err = errVarint
		return 0
	}
	return int(v)
}

// tombstones returns the row ids on a tombstone page.
func tombstones(page []byte) ([]int64, error) {
	if len(page) < 8 || page[0] != 4 && page[0] != 8 {
		return nil, fmt.Errorf("%w: tombstones", ErrMalformed)
	}
	var ids []int64
	if page[1] != 0 {
		ids = append(ids, 0)
	}
	width := int(page[0])
	for b := page[8:]; len(b) >= width; b = b[width:] {
		id := int64(binary.BigEndian.Uint32(b))
		if width == 8 {
			id = int64(binary.BigEndian.Uint64(b))
		}
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
