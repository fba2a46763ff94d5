package blob

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// TestSpans walks names in spans of a few, and checks that each is visited once, in order.
func TestSpans(t *testing.T) {
	var names []Name
	for i := range 20 {
		names = append(names, Name{fmt.Sprint("s", i/12), fmt.Sprintf("%02d", i)})
	}
	var met []Name
	spans := 0
	for span, more := (Span{}), true; more; span, more = span.Next() {
		var in []Name
		chains := map[Chain]bool{}
		for i := len(names) - 1; i >= 0; i-- {
			if span.Has(names[i]) {
				in, chains[Chain{Name: names[i]}] = append(in, names[i]), true
			}
		}
		if len(in) > 3 {
			slices.SortFunc(in, Name.Compare)
			span = span.Cut(maps.Keys(chains), 3)
			in = in[:3]
		}
		for _, n := range in {
			if !span.Has(n) || !span.Overlaps(n, n) || !span.Overlaps(names[0], names[19]) {
				t.Errorf("%v is not in %v", n, span)
			}
		}
		for _, n := range met {
			if span.Has(n) || span.Overlaps(names[0], n) {
				t.Errorf("%v is in %v, too", n, span)
			}
		}
		met, spans = append(met, in...), spans+1
	}
	got := map[Name]bool{}
	for _, n := range met {
		got[n] = true
	}
	if len(got) != len(names) || len(met) != len(names) || spans != 7 {
		t.Errorf("%d names met, %d different ones of %d, in %d spans", len(met), len(got), len(names), spans)
	}
}
