package formattest

import (
	"bytes"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// linear repeats what an original has, as in a long chat whose program numbers nothing, and fails if parsing four times as much allocates much more than
// four times as often.
func linear(tb testing.TB, f format.Format, o *Original, content []byte) {
	tb.Helper()
	const small, factor = 24 << 10, 4
	times := 1 + small/max(len(content), 1)
	if len(content) > small || repeat(content, times) == nil {
		return
	}
	allocs := func(content []byte) float64 {
		return testing.AllocsPerRun(1, func() { parse(tb, f, o.Input(content), bytes.NewReader(content), -1) })
	}
	less, more := allocs(repeat(content, times)), allocs(repeat(content, factor*times))
	if more > 1.6*factor*(less+1000) {
		tb.Errorf("%s: %v allocations for it %d times, %v for it %d times", o.Path, less, times, more, factor*times)
	}
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
	from, to := int(list.Offset())+len("["), int(list.Offset())+list.Len()-len("]")
	all := bytes.Repeat(append(bytes.Clone(content[from:to]), ','), times)
	return bytes.Join([][]byte{content[:from], bytes.TrimSuffix(all, []byte(",")), content[to:]}, nil)
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
