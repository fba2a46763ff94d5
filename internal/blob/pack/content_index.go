package pack

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// Content is the place, size and hash of the content of an entry, as the manifest states them.
type Content struct {
	Raw  int64 // offset of its first byte in the tar stream
	Size int64
	Sum  ShortSum
}

// ShortSum is the first half of a SHA-256. It still identifies a content, and saves memory where there are very many.
type ShortSum [16]byte

// Contents are the contents of one pack, sorted by Raw, without duplicates.
type Contents []Content

func contentsOf(all []Content) Contents {
	slices.SortStableFunc(all, func(a, b Content) int { return cmp.Compare(a.Raw, b.Raw) })
	return slices.Compact(all)
}

// At returns the index of the first content that begins at raw, as slices.BinarySearch does.
func (c Contents) At(raw int64) (i int, ok bool) {
	return slices.BinarySearchFunc(c, raw, func(c Content, raw int64) int { return cmp.Compare(c.Raw, raw) })
}

// Has reports whether a content of that size and hash begins at raw.
func (c Contents) Has(raw, size int64, sum blob.Ref) bool {
	i, _ := c.At(raw)
	for ; i < len(c) && c[i].Raw == raw; i++ {
		if c[i].Size == size && c[i].Sum == ShortSum(sum[:16]) {
			return true
		}
	}
	return false
}

// ContentIndex finds contents by hash across several packs. It keeps the slices that it is given, and is not safe for concurrent
// use. The zero value is empty.
type ContentIndex struct {
	packs   map[string]Contents
	ordered []packContents // the packs that bySum refers to, by name
	bySum   []contentRef   // sorted by sum, then by pack, the newest last; nil until it is needed
}

type packContents struct {
	pack string
	Contents
}

// contentRef refers to a content: pack is an index in ordered, at an index in that pack's Contents. It is small because there is
// one for each extent of an archive.
type contentRef struct{ pack, at int32 }

// Add adds a pack.
func (s *ContentIndex) Add(pack string, c Contents) {
	if s.packs == nil {
		s.packs = map[string]Contents{}
	}
	s.packs[pack], s.ordered, s.bySum = c, nil, nil
}

// Remove removes a pack.
func (s *ContentIndex) Remove(pack string) {
	delete(s.packs, pack)
	s.ordered, s.bySum = nil, nil
}

// Find returns where a content is: at recorded, the place that a manifest states, if it is there, else in the newest pack
// that has it.
func (s *ContentIndex) Find(recorded blob.Copy, size int64, sum blob.Ref) (at blob.Copy, ok bool) {
	if s.packs[recorded.Pack].Has(recorded.Raw, size, sum) {
		return recorded, true
	}
	if at, has, ok := s.Newest(sum); ok && has == size {
		return at, true
	}
	return blob.Copy{}, false
}

// Newest returns the place of a content in the newest pack that has it, and its size.
func (s *ContentIndex) Newest(sum blob.Ref) (at blob.Copy, size int64, ok bool) {
	if s.bySum == nil {
		s.sort()
	}
	i, _ := slices.BinarySearchFunc(s.bySum, sum[:16], func(x contentRef, sum []byte) int { return bytes.Compare(s.content(x).Sum[:], sum) })
	for ; i < len(s.bySum) && s.content(s.bySum[i]).Sum == ShortSum(sum[:16]); i++ {
		c := s.content(s.bySum[i])
		at, size, ok = blob.Copy{Pack: s.ordered[s.bySum[i].pack].pack, Raw: c.Raw}, c.Size, true
	}
	return at, size, ok
}

func (s *ContentIndex) content(x contentRef) *Content { return &s.ordered[x.pack].Contents[x.at] }

func (s *ContentIndex) sort() {
	n := 0
	for _, name := range slices.Sorted(maps.Keys(s.packs)) {
		s.ordered = append(s.ordered, packContents{name, s.packs[name]})
		n += len(s.packs[name])
	}
	s.bySum = make([]contentRef, 0, n)
	for i, of := range s.ordered {
		for at := range of.Contents {
			s.bySum = append(s.bySum, contentRef{int32(i), int32(at)})
		}
	}
	slices.SortFunc(s.bySum, func(a, b contentRef) int {
		x, y := s.content(a), s.content(b)
		return cmp.Or(bytes.Compare(x.Sum[:], y.Sum[:]), cmp.Compare(a.pack, b.pack))
	})
}
