package sqlite

import (
	"maps"
	"testing"
)

// TestNotes keeps notes and finds them by their prefix, whatever stands in it.
func TestNotes(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	if err := db.Note(ctx, nil); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"scanned/a": "1", "scanned/数据%_": "2", "other/a": "3", "scanned": "4"}
	if err := db.Note(ctx, all); err != nil {
		t.Fatal(err)
	}
	if err := db.Note(ctx, map[string]string{"scanned/a": "5"}); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]map[string]string{
		"scanned/":   {"scanned/a": "5", "scanned/数据%_": "2"},
		"scanned/数":  {"scanned/数据%_": "2"},
		"scanned/_":  {},
		"nothing of": {},
	} {
		if got, err := db.Noted(ctx, prefix); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", prefix, got, err, want)
		}
	}
}

// TestHealthOfNothing asks an empty index: nothing is stored, unknown or missing.
func TestHealthOfNothing(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	for s, err := range db.Stocks(ctx) {
		t.Errorf("%v, %v", s, err)
	}
	for u, err := range db.Unknown(ctx) {
		t.Errorf("%v, %v", u, err)
	}
	for g, err := range db.Gaps(ctx) {
		t.Errorf("%v, %v", g, err)
	}
}
