package fts5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// store keeps segments in memory: pages by segment and id.
type store struct {
	pages      map[int64][]byte
	separators []string
	segment    int
}

func (s *store) Page(id int64, data []byte) error {
	s.pages[PageID(s.segment, id)] = slices.Clone(data)
	return nil
}

func (s *store) Separator(term []byte, page int64) error {
	s.separators = append(s.separators, fmt.Sprintf("%d %q %d", s.segment, term, page))
	return nil
}

func (s *store) Leaves(segment, first, last int) (leaves [][]byte, err error) {
	for i := first; i <= last; i++ {
		leaves = append(leaves, s.pages[PageID(segment, int64(i))])
	}
	return leaves, nil
}

func (s *store) Tombstones(segment, pages int) ([][]byte, error) {
	return s.Leaves(segment+1<<16, 0, pages-1)
}

func texts(r *rand.Rand, i int) []string {
	var b strings.Builder
	for range r.IntN(40) {
		fmt.Fprintf(&b, "w%d ", int(r.ExpFloat64()*300))
	}
	if i%100 == 0 {
		b.WriteString(strings.Repeat("long ", r.IntN(5000)))
	}
	return []string{b.String(), "kind:message"}
}

// lexicon is a list of words.
type lexicon struct {
	numbers map[string]uint32
	words   [][]byte
}

func newLexicon() *lexicon { return &lexicon{numbers: map[string]uint32{}} }

func (l *lexicon) Len() int           { return len(l.words) }
func (l *lexicon) At(n uint32) []byte { return l.words[n] }

func (l *lexicon) number(word string) uint32 {
	n, ok := l.numbers[word]
	if !ok {
		n = uint32(len(l.words))
		l.numbers[word] = n
		l.words = append(l.words, []byte(word))
	}
	return n
}

// add adds a row of words.
func add(b *Builder, l *lexicon, id int64, texts ...string) error {
	columns := make([][]uint32, len(texts))
	for i, text := range texts {
		for word := range strings.FieldsSeq(text) {
			columns[i] = append(columns[i], l.number(word))
		}
	}
	return b.Add(id, l, columns...)
}

// deal distributes random rows over segments with interleaving row ids and tombstones, and builds one segment of the rows that
// are not deleted.
func deal(t testing.TB, r *rand.Rand, parts int) (inputs []Segment, given, want *store) {
	t.Helper()
	given, want = &store{pages: map[int64][]byte{}}, &store{pages: map[int64][]byte{}, segment: 99}
	builders, dead := make([]*Builder, parts), make([][]int64, parts)
	for i := range builders {
		builders[i] = NewBuilder(2)
	}
	all, words := NewBuilder(2), [2]*lexicon{newLexicon(), newLexicon()}
	for id, i := int64(0), 0; i < 3000; id, i = id+1+r.Int64N(1<<r.IntN(20)), i+1 {
		row, part := texts(r, i), r.IntN(parts)
		to := []*Builder{builders[part], all}
		if i == 0 || r.IntN(10) == 0 {
			to, dead[part] = to[:1], append(dead[part], id)
		}
		for _, b := range to {
			if err := add(b, words[i%2], id, row...); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, b := range builders {
		given.segment = i + 1
		g := Segment{ID: i + 1, First: 1, TombstonePages: 1, TombstoneRows: uint64(len(dead[i])), TotalRow: uint64(b.Rows())}
		var err error
		if g.Last, err = b.Write(given); err != nil {
			t.Fatal(err)
		}
		given.pages[PageID(g.ID+1<<16, 0)] = tombstonePage(dead[i])
		inputs = append(inputs, g)
	}
	if _, err := all.Write(want); err != nil {
		t.Fatal(err)
	}
	return inputs, given, want
}

func tombstonePage(ids []int64) []byte {
	page := make([]byte, 8, 8+8*len(ids))
	page[0] = 8
	for _, id := range ids {
		if id == 0 {
			page[1] = 1
		}
		page = binary.BigEndian.AppendUint64(page, uint64(id))
	}
	return page
}

// TestMerge compares a merged segment with one that was built from the same rows.
func TestMerge(t *testing.T) {
	r := seedtest.Rand(t)
	for parts := 1; parts < 6; parts++ {
		inputs, given, want := deal(t, r, parts)
		got := &store{pages: map[int64][]byte{}, segment: 99}
		if _, err := Merge(inputs, given, got); err != nil {
			t.Fatalf("%v", err)
		}
		if !slices.Equal(got.separators, want.separators) {
			t.Fatalf("%d parts: separators %q, want %q", parts, got.separators, want.separators)
		}
		if !maps.EqualFunc(got.pages, want.pages, bytes.Equal) {
			t.Fatalf("%d parts: pages differ", parts)
		}
	}
}

// TestMergeDamaged flips bytes of leaves: a merge may notice that or not, but it must end.
func TestMergeDamaged(t *testing.T) {
	r := seedtest.Rand(t)
	inputs, given, _ := deal(t, r, 2)
	ids := slices.Sorted(maps.Keys(given.pages))
	found := 0
	for range 300 {
		id := ids[r.IntN(len(ids))]
		good := given.pages[id]
		bad := slices.Clone(good)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.Uint32())
		}
		if r.IntN(10) == 0 {
			bad = bad[:r.IntN(len(bad))]
		}
		given.pages[id] = bad
		_, err := Merge(inputs, given, &store{pages: map[int64][]byte{}})
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%v", err)
		}
		if err != nil {
			found++
		}
		given.pages[id] = good
	}
	if found == 0 {
		t.Errorf("no damage was found")
	}
}

func TestStructure(t *testing.T) {
	s := &Structure{cookie: [4]byte{0, 0, 0, 7}, writes: 300}
	for i := range 12 {
		id, err := s.NextID()
		if err != nil || id != i+1 {
			t.Fatalf("id %d, %v", id, err)
		}
		s.Append(Segment{ID: id, First: 1, Last: []int{3, 2000, 40, 200}[i%4], Origin1: s.Origin(), Origin2: s.Origin(), TotalRow: 5})
	}
	again, err := DecodeStructure(s.Encode())
	if err != nil || !reflect.DeepEqual(again.All(), s.All()) || again.writes != 300 || again.cookie != s.cookie {
		t.Fatalf("%+v, %v, want %+v", again, err, s)
	}
	for i := range s.Encode() {
		if _, err := DecodeStructure(s.Encode()[:i]); err == nil {
			t.Errorf("%d bytes are taken for a structure", i)
		}
	}
	for i, g := range s.All() {
		if g.Origin1 != uint64(i+1) {
			t.Errorf("segment %d has origin %d", i, g.Origin1)
		}
	}
	s.Replace(s.All()[2:5], Segment{ID: 20, First: 1, Last: 9, Origin1: 3, Origin2: 5})
	if all := s.All(); len(all) != 10 || all[2].ID != 20 || all[3].Origin1 != 6 || all[1].Origin1 != 2 {
		t.Errorf("%+v", all)
	}
}

func TestVarint(t *testing.T) {
	for shift := range 64 {
		for _, v := range []uint64{1 << shift, 1<<shift - 1, 1<<shift + 1, 3 << shift} {
			b := appendVarint(nil, v)
			if got, n := varint(b); got != v || n != len(b) || n != int(varintLen(v)) {
				t.Errorf("%d: %x is %d in %d bytes", v, b, got, n)
			}
			if _, n := varint(b[:len(b)-1]); n != 0 {
				t.Errorf("%x is taken for whole", b[:len(b)-1])
			}
		}
	}
}

func TestOrder(t *testing.T) {
	b, l := NewBuilder(1), newLexicon()
	for _, bad := range []int64{-1, 5, 4} {
		if bad == 5 {
			if err := add(b, l, 5, "a"); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(b, l, bad, "a"); !errors.Is(err, ErrOrder) {
			t.Errorf("row %d: %v", bad, err)
		}
	}
}
