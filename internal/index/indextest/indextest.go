package indextest

import (
	"iter"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
)

// Index is what the suite needs of an engine.
type Index interface {
	index.Writer
	index.StateReader
	index.Reader
	index.Lookup
	index.Originals
	index.Statistics
}

// Run runs the suite, each test on a new index of open.
func Run(t *testing.T, open func(t *testing.T) Index) {
	for _, c := range []struct {
		name string
		test func(*testing.T, func(*testing.T) Index)
	}{
		{"Find", testFind},
		{"Runs", testRuns},
		{"Run", testRun},
		{"Show", testShow},
		{"Links", testLinks},
		{"Totals", testTotals},
		{"Locate", testLocate},
		{"Order", testOrder},
		{"Chunks", testChunks},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

func commit(t *testing.T, x Index, batches ...index.Batch) {
	t.Helper()
	for _, b := range batches {
		if err := x.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// all collects a sequence.
func all[T any](t *testing.T, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var list []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}
