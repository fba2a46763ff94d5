package formattest

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// linear repeats what an original has, as in a long chat whose program numbers nothing, and what some lists in it have. It fails if parsing four
// times as much allocates much more than four times as often, or as many bytes.
func linear(tb testing.TB, f format.Format, o *Original, content []byte, rng *rand.Rand) {
	tb.Helper()
	const small, factor = 24 << 10, 4
	if len(content) > small {
		return
	}
	compare := func(what string, repeat func(times int) []byte, size int) {
		times := 1 + small/max(size, 1)
		less, more := measure(tb, f, o.Input(repeat(times))), measure(tb, f, o.Input(repeat(factor*times)))
		if more.allocs > 1.6*factor*(less.allocs+1000) || more.bytes > 1.6*factor*(less.bytes+small) {
			tb.Errorf("%s: %.0f allocations and %.0f bytes for %s %d times, %.0f and %.0f for it %d times", o.Path, less.allocs, less.bytes, what, times, more.allocs, more.bytes, factor*times)
		}
	}
	if repeat(content, 1) != nil {
		compare("it", func(times int) []byte { return repeat(content, times) }, len(content))
	}
	lists := slices.DeleteFunc(spans(content), func(s span) bool { return content[s.from] != '[' || s.to-s.from == len("[]") })
	for range min(len(lists), max(1, *mutations/8)) {
		s := lists[rng.IntN(len(lists))]
		compare("a list in it", func(times int) []byte { return repeatItems(content, s, times) }, s.to-s.from)
	}
}

// memory is what a parse allocates.
type memory struct{ allocs, bytes float64 }

func measure(tb testing.TB, f format.Format, in Input) (m memory) {
	tb.Helper()
	var before, after runtime.MemStats
	m.allocs = testing.AllocsPerRun(1, func() { // the second of two runs
		runtime.ReadMemStats(&before)
		parse(tb, f, in, bytes.NewReader(in.Bytes), -1)
		runtime.ReadMemStats(&after)
	})
	m.bytes = float64(after.TotalAlloc - before.TotalAlloc)
	return m
}

// repeat returns a log several times, or a document with the elements of its longest array several times; nil if it has none.
func repeat(content []byte, times int) []byte {
	v, err := jsontext.Parse(content)
	if err != nil {
		return bytes.Repeat(append(bytes.TrimRight(content, "\n"), '\n'), times)
	}
	list := longestArray(v)
	if !list.HasItems() {
		return nil
	}
	return repeatItems(content, span{int(list.Offset()), int(list.Offset()) + list.Len()}, times)
}

// repeatItems returns content with the elements of the array at s several times.
func repeatItems(content []byte, s span, times int) []byte {
	all := bytes.Repeat(append(bytes.Clone(content[s.from+1:s.to-1]), ','), times)
	return slices.Concat(content[:s.from+1], all[:len(all)-1], content[s.to-1:])
}

// longestArray returns the array in a value with the most elements, an absent value if there is none.
func longestArray(v jsontext.Value) (longest jsontext.Value) {
	most := 0
	if v.IsArray() {
		for range v.Items() {
			most++
		}
		longest = v
	}
	take := func(inner jsontext.Value) {
		n := 0
		for range inner.Items() {
			n++
		}
		if n > most {
			longest, most = inner, n
		}
	}
	for _, member := range v.Fields() {
		take(longestArray(member))
	}
	for item := range v.Items() {
		take(longestArray(item))
	}
	return longest
}
