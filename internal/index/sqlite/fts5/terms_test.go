package fts5

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTerms iterates over interleaving segments and wants the terms of all of them, in order.
func TestTerms(t *testing.T) {
	inputs, given, _ := deal(t, rand.New(rand.NewPCG(2, 1)), 4)
	want := map[string]bool{}
	for _, in := range inputs {
		c, err := newCursor(given, in)
		if err != nil {
			t.Fatal(err)
		}
		for ; len(c.term) > 0; c.advance() {
			want[string(c.term[1:])] = true
		}
	}
	terms, err := NewTerms(inputs, given)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for term := terms.Next(); term != nil; term = terms.Next() {
		got = append(got, string(term))
	}
	if sorted := slices.Sorted(maps.Keys(want)); terms.Err() != nil || len(got) < 500 || !slices.Equal(got, sorted) {
		t.Errorf("%d terms, %v; want %d", len(got), terms.Err(), len(sorted))
	}
}
