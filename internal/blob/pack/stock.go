package pack

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// Content is the content of an entry, as the manifest tells it.
type Content struct {
	Raw  int64 // of its first byte
	Size int64
	Sum  ShortSum
}

// ShortSum is half of a SHA-256: enough to tell contents apart where there is one for each of very many.
type ShortSum [16]byte

// Contents are those of one pack, by place, each once.
type Contents []Content

func contentsOf(all []Content) Contents {
	slices.SortStableFunc(all, func(a, b Content) int { return cmp.Compare(a.Raw, b.Raw) })
	return slices.Compact(all)
}

// At finds the first content that begins at a place.
func (c Contents) At(raw int64) (i int, ok bool) {
	return slices.BinarySearchFunc(c, raw, func(c Content, raw int64) int { return cmp.Compare(c.Raw, raw) })
}

// Has says whether a content stands at a place.
func (c Contents) Has(raw, size int64, sum blob.Ref) bool {
	i, _ := c.At(raw)
	for ; i < len(c) && c[i].Raw == raw; i++ {
		if c[i].Size == size && c[i].Sum == ShortSum(sum[:16]) {
			return true
		}
	}
	return false
}

// Stock is what several packs have. It keeps what it is given, and is for one goroutine; the zero value is empty.
type Stock struct {
	packs map[string]Contents
	shelf []stocked // by name, while bySum is made
	bySum []slot    // by their sums, of each the one in the newest pack last; nil until it is needed
}

type stocked struct {
	pack string
	Contents
}

// slot is a content: places in shelf, and in what the pack has. There is one for each extent of an archive.
type slot struct{ pack, at int32 }

// Add adds a pack.
func (s *Stock) Add(pack string, c Contents) {
	if s.packs == nil {
		s.packs = map[string]Contents{}
	}
	s.packs[pack], s.shelf, s.bySum = c, nil, nil
}

// Remove takes a pack away.
func (s *Stock) Remove(pack string) {
	delete(s.packs, pack)
	s.shelf, s.bySum = nil, nil
}

// Find returns where a content stands: where a manifest says, if it does, else where the newest pack has it.
func (s *Stock) Find(said blob.Copy, size int64, sum blob.Ref) (at blob.Copy, ok bool) {
	if s.packs[said.Pack].Has(said.Raw, size, sum) {
		return said, true
	}
	if at, has, ok := s.Newest(sum); ok && has == size {
		return at, true
	}
	return blob.Copy{}, false
}

// Newest returns where the newest pack has a content of that hash, and of which size.
func (s *Stock) Newest(sum blob.Ref) (at blob.Copy, size int64, ok bool) {
	if s.bySum == nil {
		s.sort()
	}
	i, _ := slices.BinarySearchFunc(s.bySum, sum[:16], func(x slot, sum []byte) int { return bytes.Compare(s.content(x).Sum[:], sum) })
	for ; i < len(s.bySum) && s.content(s.bySum[i]).Sum == ShortSum(sum[:16]); i++ {
		c := s.content(s.bySum[i])
		at, size, ok = blob.Copy{Pack: s.shelf[s.bySum[i].pack].pack, Raw: c.Raw}, c.Size, true
	}
	return at, size, ok
}

func (s *Stock) content(x slot) *Content { return &s.shelf[x.pack].Contents[x.at] }

func (s *Stock) sort() {
	n := 0
	for _, name := range slices.Sorted(maps.Keys(s.packs)) {
		s.shelf = append(s.shelf, stocked{name, s.packs[name]})
		n += len(s.packs[name])
	}
	s.bySum = make([]slot, 0, n)
	for i, of := range s.shelf {
		for at := range of.Contents {
			s.bySum = append(s.bySum, slot{int32(i), int32(at)})
		}
	}
	slices.SortFunc(s.bySum, func(a, b slot) int {
		x, y := s.content(a), s.content(b)
		return cmp.Or(bytes.Compare(x.Sum[:], y.Sum[:]), cmp.Compare(a.pack, b.pack))
	})
}
