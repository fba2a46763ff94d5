package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestPurgeForgetsWhatRowsShared: texts that rows tell by number, or by a hash, go with the last row that does.
func TestPurgeForgetsWhatRowsShared(t *testing.T) {
	db := newDB(t)
	at := func(name, secret string) indextest.Original {
		o := usageFile(name, &transcript.Usage{Model: "model", Step: secret + "-step", Key: name, Input: transcript.Known(1), Time: indextest.At(0)})
		o.Records = append(o.Records, &transcript.Event{Run: name, Kind: transcript.KindToolCall, Agent: secret + "-agent", Time: indextest.At(0), Origin: indextest.Place(0),
			Parts: []transcript.Part{{Call: &transcript.Call{ID: name, Name: secret + "-tool", Paths: []string{"/" + secret + "/path"}}}}})
		return o
	}
	addUsage(t, db, at("kept", "heron"))
	addUsage(t, db, at("gone", "quokka"))
	bury(t, db, at("gone", "quokka"))
	if _, err := db.Purge(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"-step", "-tool", "-agent", "/path"} {
		if bytes.Contains(file, []byte("quokka"+what)) {
			t.Errorf("the index still has %q", what)
		}
		if !bytes.Contains(file, []byte("heron"+what)) {
			t.Errorf("the index has lost %q of another run", what)
		}
	}
}

// TestVacuumKeepsNothingInMemory: a copy in memory takes twice the size of the index.
func TestVacuumKeepsNothingInMemory(t *testing.T) {
	db := newDB(t)
	w, err := db.vacuumer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for pragma, want := range map[string]string{"temp_store": "1", "temp_store_directory": filepath.Dir(db.path), "cache_size": "-8192",
		"journal_mode": "wal", "secure_delete": "2"} {
		var got string
		if err := w.Get(&got, "PRAGMA "+pragma); err != nil || got != want {
			t.Errorf("%s is %s (%v), not %s", pragma, got, err, want)
		}
	}
}

// TestPurgeWritesAnewWhatHasGrown: the first time, and when the file has grown by half since, but not for less.
func TestPurgeWritesAnewWhatHasGrown(t *testing.T) {
	db := newDB(t)
	if _, err := db.w.Exec("CREATE TABLE filler (x)"); err != nil {
		t.Fatal(err)
	}
	for i, grows := range []struct {
		mb      int
		rebuilt bool
	}{{1, false}, {25, true}, {0, false}, {10, false}, {5, true}, {1, false}} {
		if _, err := db.w.Exec("WITH RECURSIVE n(i) AS (SELECT 1 WHERE ? > 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO filler SELECT zeroblob(1 << 20) FROM n",
			grows.mb, grows.mb); err != nil {
			t.Fatal(err)
		}
		if p, err := db.Purge(t.Context(), false); err != nil || p.Rebuilt != grows.rebuilt {
			t.Errorf("%d: %d MB more, written anew: %v, want %v (%v)", i, grows.mb, p.Rebuilt, grows.rebuilt, err)
		}
	}
}
