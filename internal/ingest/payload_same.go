package ingest

import (
	"reflect"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// bytesAt is bytes of an original.
type bytesAt struct{ from, to int64 }

// differences compares two parses of one original: all but the text of events and how long it is. It gives the records
// that tell something else, as far as that can be told of records.
func differences(a, b *index.Parsed) (bad []bytesAt, same bool) {
	bad = append(bad, compare(a.Rows, b.Rows, func(r *index.Row) transcript.Origin {
		return transcript.Origin{Offset: r.Offset, Length: r.Length}
	}, plainRow)...)
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

// plainRow is a row without its text and how long that is.
func plainRow(r index.Row) index.Row {
	r.T, r.TextBytes = nil, 0
	if r.Result != nil {
		result := *r.Result
		result.Output = 0
		r.Result = &result
	}
	return r
}

// compare finds the places at which two lists of records tell different things.
func compare[T any](a, b []T, origin func(*T) transcript.Origin, plain func(T) T) (bad []bytesAt) {
	type at = map[int64][]T
	group := func(all []T) at {
		m := make(at, len(all))
		for _, r := range all {
			o := origin(&r).Offset
			if plain != nil {
				r = plain(r)
			}
			m[o] = append(m[o], r)
		}
		return m
	}
	was, is := group(a), group(b)
	for _, r := range append(a[:len(a):len(a)], b...) {
		o := origin(&r)
		if x, y := was[o.Offset], is[o.Offset]; x != nil || y != nil {
			if !reflect.DeepEqual(x, y) {
				bad = append(bad, bytesAt{o.Offset, o.End()})
			}
			delete(was, o.Offset)
			delete(is, o.Offset)
		}
	}
	return bad
}

func touches(p [2]int64, bad []bytesAt) bool {
	return slices.ContainsFunc(bad, func(s bytesAt) bool { return p[0] < s.to && p[0]+p[1] > s.from })
}

// without leaves out the places that lie in something.
func without(places [][2]int64, bad []bytesAt) (rest [][2]int64) {
	for _, p := range places {
		if !touches(p, bad) {
			rest = append(rest, p)
		}
	}
	return rest
}

// shorter leaves both ends of the places alone that lie in something.
func shorter(data []byte, places [][2]int64, bad []bytesAt) (all [][2]int64) {
	for _, p := range places {
		if touches(p, bad) {
			all = append(all, middles(data, [][2]int64{p})...)
		} else {
			all = append(all, p)
		}
	}
	return all
}
