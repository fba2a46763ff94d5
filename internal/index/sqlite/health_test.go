package sqlite

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestNotes keeps notes and finds them by their prefix, whatever stands in it.
func TestNotes(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	if err := db.SaveLocal(ctx, nil); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"scanned/a": "1", "scanned/数据%_": "2", "other/a": "3", "scanned": "4"}
	if err := db.SaveLocal(ctx, all); err != nil {
		t.Fatal(err)
	}
	if err := db.SaveLocal(ctx, map[string]string{"scanned/a": "5"}); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]map[string]string{
		"scanned/":   {"scanned/a": "5", "scanned/数据%_": "2"},
		"scanned/数":  {"scanned/数据%_": "2"},
		"scanned/_":  {},
		"nothing of": {},
	} {
		if got, err := db.LoadLocal(ctx, prefix); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", prefix, got, err, want)
		}
	}
}

// TestGapsOfHostileNumbers has originals with gaps, and with numbers whose differences are none.
func TestGapsOfHostileNumbers(t *testing.T) {
	db := newDB(t)
	for name, numbers := range map[string][]int64{"gap": {1, 2, 5}, "hostile": {math.MinInt64, 1, 4, math.MaxInt64}, "none": {math.MinInt64 + 1, math.MaxInt64 - 1}} {
		o := indextest.Original{Source: "src", Path: name, Format: "awf", Claim: ".", Size: 1000,
			Records: []transcript.Record{&transcript.Run{ID: name}, &transcript.Conversation{Run: name}}}
		for i, n := range numbers {
			o.Records = append(o.Records, &transcript.Event{Run: name, Conversation: name, Kind: transcript.KindMessage, Seq: transcript.Known(n),
				Origin: indextest.Place(i), Parts: []transcript.Part{{Text: "basket"}}})
		}
		addUsage(t, db, o)
	}
	var got []string
	for g, err := range db.Gaps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(g.Key.Path, " ", g.Missing))
	}
	if want := []string{"gap 2", "hostile 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHealthOfNothing asks an empty index: nothing is stored, unknown or missing.
func TestHealthOfNothing(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	for s, err := range db.SourceStats(ctx) {
		t.Errorf("%v, %v", s, err)
	}
	for u, err := range db.Unknown(ctx) {
		t.Errorf("%v, %v", u, err)
	}
	for g, err := range db.Gaps(ctx) {
		t.Errorf("%v, %v", g, err)
	}
}
