package fts5

import (
	"fmt"
	"testing"
)

// TestBuildingAllocatesNothing fills a builder that has its memory from the segment before.
func TestBuildingAllocatesNothing(t *testing.T) {
	var terms [][]byte
	for i := range 3000 {
		terms = append(terms, fmt.Appendf(nil, "a-longer-term-%d", i*i%977), fmt.Appendf(nil, "t%d", i%97))
	}
	const rows, each = 200, 30
	b := NewBuilder(1)
	numbers := make([]uint32, 0, each)
	fill := func() {
		b.Reset()
		for row := range rows {
			start := row * each % len(terms)
			var err error
			if numbers, err = b.Terms(numbers[:0], terms[start:start+each]); err != nil {
				t.Fatal(err)
			}
			if err := b.Add(int64(row), numbers); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill()
	if n := testing.AllocsPerRun(5, fill); n > 1 {
		t.Errorf("%v allocations for %d rows", n, rows)
	}
}
