package sqlite

import (
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// TestGrownUnderTombstone: gc may put the state to which a file has grown and the tombstone that buries it into one
// pack. Who knows only the earlier state must not dig it up.
func TestGrownUnderTombstone(t *testing.T) {
	db := newDB(t)
	at := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	text := strings.Repeat("line\n", 20)
	version := func(from, to int) blob.Version {
		return blob.Version{Source: "s", Path: "log", Number: 1, Root: blob.RefOf([]byte(text[:50])), Size: int64(to), SHA256: blob.RefOf([]byte(text[:to])),
			ModTime: at, Mode: 0o600, Format: "awf", Role: "transcript",
			Extents: []blob.Extent{{Offset: int64(from), Size: int64(to - from), SHA256: blob.RefOf([]byte(text[from:to])), Raw: 512}}}
	}
	commit := func(name string, v blob.Version, facts ...index.FactRow) {
		t.Helper()
		row := &index.PackRow{Name: name, Size: 1000, Created: at, Writer: "test", Versions: []blob.Version{v}}
		if err := db.Commit(t.Context(), index.Batch{Pack: row, Facts: facts}); err != nil {
			t.Fatal(err)
		}
	}
	commit("2026/11/a", version(0, 50))
	grown := version(50, 100)
	bury := blob.Bury(&grown, "")
	commit("2026/11/b", grown, index.FactRow{Fact: bury.Fact(at), Pack: "2026/11/b"})
	state, err := db.Newest(t.Context(), "s", "log")
	if err != nil || state.Size != 100 || !state.Buried {
		t.Errorf("%d bytes, buried %v, %v", state.Size, state.Buried, err)
	}
}
