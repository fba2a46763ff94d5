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
	bury := blob.NewTombstone(&grown, "")
	commit("2026/11/b", grown, index.FactRow{Fact: bury.Fact(at), Pack: "2026/11/b"})
	state, err := db.Newest(t.Context(), "s", "log")
	if err != nil || state.Size != 100 || !state.Tombstoned {
		t.Errorf("%d bytes, buried %v, %v", state.Size, state.Tombstoned, err)
	}
}

// TestCameBack: gc puts what an undo has brought back into a pack that is younger than the tombstone and its end. Who knows both
// by their ledger, as one that reads the packs in their order does, finds the bytes only then.
func TestCameBack(t *testing.T) {
	db := newDB(t)
	at := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	text := strings.Repeat("line\n", 20)
	version := func(from, to int) *blob.Version {
		return &blob.Version{Source: "s", Path: "log", Number: 1, Root: blob.RefOf([]byte(text[:50])), Size: int64(to), SHA256: blob.RefOf([]byte(text[:to])),
			ModTime: at, Mode: 0o600, Format: "awf", Role: "transcript",
			Extents: []blob.Extent{{Offset: int64(from), Size: int64(to - from), SHA256: blob.RefOf([]byte(text[from:to])), Raw: 512}}}
	}
	commit := func(name string, v *blob.Version, facts ...blob.Fact) {
		t.Helper()
		row := &index.PackRow{Name: name, Size: 1000, Created: at, Writer: "test"}
		if v != nil {
			row.Versions = []blob.Version{*v}
		}
		batch := index.Batch{Pack: row}
		for _, f := range facts {
			batch.Facts = append(batch.Facts, index.FactRow{Fact: f, Pack: name})
		}
		if err := db.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	whole := version(0, 100)
	ledger, err := (&index.Ledger{Version: *whole, Tombstoned: true, Runs: []index.LedgerRun{{Format: "awf", NativeID: "run", Action: index.LedgerPrune}}}).Fact(at)
	if err != nil {
		t.Fatal(err)
	}
	stone := blob.NewTombstone(whole, "")
	later := at.Add(time.Minute)
	commit("2026/11/a", nil, stone.Fact(at), ledger)
	commit("2026/11/b", nil, stone.Retract(later), blob.Fact{Kind: ledger.Kind, Key: ledger.Key, Time: later, Value: []byte("null")})
	for _, part := range []struct {
		name   string
		v      *blob.Version
		buried bool
	}{{"2026/11/c", version(0, 50), true}, {"2026/11/d", version(50, 100), false}} {
		commit(part.name, part.v)
		state, err := db.Newest(t.Context(), "s", "log")
		if err != nil || state.Tombstoned != part.buried {
			t.Errorf("with %s: buried %v, %v, want %v", part.name, state.Tombstoned, err, part.buried)
		}
	}
}
