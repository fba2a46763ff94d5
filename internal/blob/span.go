package blob

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Name identifies an original: its source and its path there.
type Name struct{ Source, Path string }

// Compare orders names by source, then by path.
func (n Name) Compare(other Name) int {
	return cmp.Or(strings.Compare(n.Source, other.Source), strings.Compare(n.Path, other.Path))
}

// Span is a range of names of originals: those greater than After, up to and including Until. Nil is no bound. Code that needs
// information about every original of an archive works span by span, so that only one span is in memory at a time.
type Span struct{ After, Until *Name }

// Has reports whether a name lies in s.
func (s Span) Has(n Name) bool {
	return (s.After == nil || n.Compare(*s.After) > 0) && (s.Until == nil || n.Compare(*s.Until) <= 0)
}

// Overlaps reports whether a name from first to last may lie in s.
func (s Span) Overlaps(first, last Name) bool {
	return (s.After == nil || last.Compare(*s.After) > 0) && (s.Until == nil || first.Compare(*s.Until) <= 0)
}

// Cut shortens s, which contains more than limit chains, to end at the name of the chain at three quarters of limit. All
// chains of an original stay on one side.
func (s Span) Cut(chains iter.Seq[Chain], limit int) Span {
	names := make([]Name, 0, limit)
	for c := range chains {
		names = append(names, c.Name)
	}
	slices.SortFunc(names, Name.Compare)
	return Span{s.After, &names[limit*3/4]}
}

// Next returns the span that follows s. There is one only if s has an end.
func (s Span) Next() (next Span, more bool) { return Span{After: s.Until}, s.Until != nil }
