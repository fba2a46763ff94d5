package search

import (
	"slices"
	"testing"
)

// Values come by their hits, but days and months as they follow each other.
func TestFacetsSorted(t *testing.T) {
	counts := map[Facet]int64{
		{Field: "tool", Value: "a"}: 1, {Field: "tool", Value: "b"}: 3, {Field: "tool", Value: "c"}: 3,
		{Field: "month", Value: "2026-03"}: 9, {Field: "month", Value: "2025-12"}: 4, {Field: "month", Value: "2026-01"}: 7,
	}
	want := []Facet{{"month", "2025-12", 4}, {"month", "2026-01", 7}, {"month", "2026-03", 9}, {"tool", "b", 3}, {"tool", "c", 3}, {"tool", "a", 1}}
	if got := sorted(counts, []string{"month", "tool"}); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
