package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
)

// TestSpeakers asks of every version which runs speak of it, and of every run of which versions it speaks: both say the same.
func TestSpeakers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	call(t, dir, "ingest", runs)
	a, err := archive.Open(t.Context(), dir, archive.Read, archive.Options{})
	must(t, err)
	defer a.Close()
	db := a.Index()
	var of, by []string
	for r, err := range db.Runs(t.Context(), index.Selection{}, index.Page{AllVersions: true}) {
		must(t, err)
		for v, err := range db.Versions(t.Context(), index.VersionFilter{Run: r.ID}) {
			must(t, err)
			of = append(of, fmt.Sprintln(v.Source, v.Path, v.Number, r.ID))
		}
	}
	for v, err := range db.Versions(t.Context(), index.VersionFilter{}) {
		must(t, err)
		for run, err := range db.RunsOf(t.Context(), index.VersionKey{Source: v.Source, Path: v.Path, Number: v.Number}, false) {
			must(t, err)
			by = append(by, fmt.Sprintln(v.Source, v.Path, v.Number, run))
		}
	}
	slices.Sort(of)
	slices.Sort(by)
	if len(of) < 50 || !slices.Equal(of, by) {
		t.Errorf("runs speak of %d versions, or %d", len(of), len(by))
	}
}
