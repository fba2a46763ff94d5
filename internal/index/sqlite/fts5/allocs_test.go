package fts5

import (
	"fmt"
	"testing"
)

// TestBuildingAllocatesNothing fills a Builder that reuses the memory of a segment before.
func TestBuildingAllocatesNothing(t *testing.T) {
	l := newLexicon()
	var numbers []uint32
	for i := range 3000 {
		numbers = append(numbers, l.number(fmt.Sprintf("a-longer-term-%d", i*i%977)), l.number(fmt.Sprintf("t%d", i%97)))
	}
	const rows, each = 200, 30
	b := NewBuilder(1)
	fill := func() {
		b.Reset()
		for row := range rows {
			start := row * each % len(numbers)
			if err := b.Add(int64(row), l, numbers[start:start+each]); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Arrange(); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	if n := testing.AllocsPerRun(5, fill); n > 1 {
		t.Errorf("%v allocations for %d rows", n, rows)
	}
}
