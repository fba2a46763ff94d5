package blob

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Name is what an original is called.
type Name struct{ Source, Path string }

// Compare orders names by source, then by path.
func (n Name) Compare(other Name) int {
	return cmp.Or(strings.Compare(n.Source, other.Source), strings.Compare(n.Path, other.Path))
}

// Span is a stretch of all originals by their names: those behind After, and up to Until. Nil is no bound. What must know
// something of every original of an archive works through it span by span, so that it holds no more than one at a time.
type Span struct{ After, Until *Name }

// Has says whether a name lies in s.
func (s Span) Has(n Name) bool {
	return (s.After == nil || n.Compare(*s.After) > 0) && (s.Until == nil || n.Compare(*s.Until) <= 0)
}

// Meets says whether a name between first and last may lie in s.
func (s Span) Meets(first, last Name) bool {
	return (s.After == nil || last.Compare(*s.After) > 0) && (s.Until == nil || first.Compare(*s.Until) <= 0)
}

// Cut shortens s, of which there are more than limit chains, so that a good part of them is behind it. Those of one original stay
// together.
func (s Span) Cut(chains iter.Seq[Chain], limit int) Span {
	names := make([]Name, 0, limit)
	for c := range chains {
		names = append(names, c.Name)
	}
	slices.SortFunc(names, Name.Compare)
	return Span{s.After, &names[limit*3/4]}
}

// Next is what follows s. There is something only if s has an end.
func (s Span) Next() (next Span, more bool) { return Span{After: s.Until}, s.Until != nil }
