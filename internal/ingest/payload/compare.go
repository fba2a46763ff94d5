package payload

import (
	"reflect"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// span is the bytes [from, to) of an original.
type span struct{ from, to int64 }

// differences compares two parses of one original in everything but the text of events and its length. bad has the records that differ, as
// far as a difference belongs to a record; same is false for any difference.
func differences(a, b *index.Parsed) (bad []span, same bool) {
	bad = append(bad, compare(a.Rows, b.Rows, func(r *index.Row) transcript.Origin {
		return transcript.Origin{Offset: r.Offset, Length: r.Length}
	}, withoutText)...)
	bad = append(bad, compare(a.Usage, b.Usage, func(r **transcript.Usage) transcript.Origin { return (*r).Origin }, nil)...)
	bad = append(bad, compare(a.Receipts, b.Receipts, func(r **transcript.Receipt) transcript.Origin { return (*r).Origin }, nil)...)
	bad = append(bad, compare(a.Links, b.Links, func(r **transcript.Link) transcript.Origin { return (*r).Origin }, nil)...)
	bad = append(bad, compare(a.Hints, b.Hints, func(r **transcript.Hint) transcript.Origin { return (*r).Origin }, nil)...)
	bad = append(bad, compare(a.Problems, b.Problems, func(r **transcript.Problem) transcript.Origin { return (*r).Origin }, nil)...)
	if len(bad) > 0 {
		return bad, false
	}
	runs := map[string]*transcript.Run{}
	for _, r := range a.Runs {
		runs[r.ID] = r
	}
	if len(a.Runs) != len(b.Runs) || slices.ContainsFunc(b.Runs, func(r *transcript.Run) bool { return !reflect.DeepEqual(runs[r.ID], r) }) {
		return nil, false
	}
	return nil, a.Until == b.Until && reflect.DeepEqual(a.Conversations, b.Conversations) && reflect.DeepEqual(a.Steps, b.Steps)
}

// withoutText returns a row without its terms and text lengths.
func withoutText(r index.Row) index.Row {
	r.T, r.TextBytes = nil, 0
	if r.Result != nil {
		result := *r.Result
		result.Output = 0
		r.Result = &result
	}
	return r
}

// compare returns the spans at which two lists of records differ. Records are grouped by offset; strip, if any, removes what is not to be
// compared.
func compare[T any](a, b []T, origin func(*T) transcript.Origin, strip func(T) T) (bad []span) {
	type at = map[int64][]T
	group := func(all []T) at {
		m := make(at, len(all))
		for _, r := range all {
			o := origin(&r).Offset
			if strip != nil {
				r = strip(r)
			}
			m[o] = append(m[o], r)
		}
		return m
	}
	inA, inB := group(a), group(b)
	for _, r := range append(a[:len(a):len(a)], b...) {
		o := origin(&r)
		if x, y := inA[o.Offset], inB[o.Offset]; x != nil || y != nil {
			if !reflect.DeepEqual(x, y) {
				bad = append(bad, span{o.Offset, o.End()})
			}
			delete(inA, o.Offset)
			delete(inB, o.Offset)
		}
	}
	return bad
}

// touches reports whether a place has bytes in one of the spans.
func touches(p [2]int64, bad []span) bool {
	return slices.ContainsFunc(bad, func(s span) bool { return p[0] < s.to && p[0]+p[1] > s.from })
}

// dropPlaces returns the places that touch none of the spans.
func dropPlaces(places [][2]int64, bad []span) (rest [][2]int64) {
	for _, p := range places {
		if !touches(p, bad) {
			rest = append(rest, p)
		}
	}
	return rest
}

// shortenPlaces takes both ends off the places that touch one of the spans.
func shortenPlaces(data []byte, places [][2]int64, bad []span) (all [][2]int64) {
	for _, p := range places {
		if touches(p, bad) {
			all = append(all, middles(data, [][2]int64{p})...)
		} else {
			all = append(all, p)
		}
	}
	return all
}
