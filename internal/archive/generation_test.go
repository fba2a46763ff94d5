package archive

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// rebuild fills the next generation from the packs and publishes it.
func (w *world) rebuild() {
	w.t.Helper()
	db, publish, abort, err := w.a.NewIndex(w.t.Context())
	w.check(err)
	defer abort()
	w.fill(db)
	w.check(publish())
	if err := publish(); err == nil {
		w.t.Error("published twice")
	}
}

func (w *world) fill(db *sqlite.DB) {
	w.t.Helper()
	infos, err := w.a.list(w.t.Context())
	w.check(err)
	for _, info := range infos {
		r, err := w.a.readManifest(w.t.Context(), info, nil)
		w.check(err)
		w.check(db.Commit(w.t.Context(), batch(r.Manifest(), info.Size)))
	}
}

func count(t *testing.T, a *Archive) int {
	t.Helper()
	n := 0
	for _, err := range a.Index().Versions(t.Context(), index.VersionFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestGenerations(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: "one"})
	old := w.open(Read)
	if target, err := os.Readlink(filepath.Join(w.dir, "index.db")); err != nil || target != "index-1.db" {
		t.Errorf("index.db links to %q, %v", target, err)
	}
	w.pack(file{source: "runs", path: "b", content: "two"}) // only reindexing will know it
	w.rebuild()
	if target, err := os.Readlink(filepath.Join(w.dir, "index.db")); err != nil || target != "index-2.db" {
		t.Errorf("index.db links to %q, %v", target, err)
	}
	if n := count(t, w.a); n != 2 {
		t.Errorf("the writer sees %d files", n)
	}
	if n := count(t, w.open(Read)); n != 2 {
		t.Errorf("a new reader sees %d files", n)
	}
	// The reader of the old generation continues, on several connections.
	for range old.Index().Versions(t.Context(), index.VersionFilter{}) {
		if n := count(t, old); n != 1 {
			t.Errorf("the old reader sees %d files", n)
		}
		if got, err := old.Raw(t.Context(), w.place(old, "runs", "a", 1, 0, 3)); err != nil || string(got) != "one" {
			t.Errorf("the old reader gets %q, %v", got, err)
		}
	}
	// New rows go to the new generation, and the next writer removes the old one.
	w.put(file{source: "runs", path: "c", content: "three"})
	s, err := w.a.Storage(t.Context())
	if err != nil || s.OldIndexBytes == 0 || s.Packs != 3 || s.Total() != s.PackBytes+s.IndexBytes+s.OldIndexBytes {
		t.Errorf("%+v, %v", s, err)
	}
	w.check(w.a.Close())
	w.open(Write)
	if n := count(t, w.a); n != 3 {
		t.Errorf("then %d files", n)
	}
	if strings.Contains(list(t, w.dir), "index-1.db") {
		t.Error("the old generation is still there")
	}
	if n := count(t, old); n != 1 {
		t.Errorf("the old reader sees %d files of a generation that was removed", n)
	}
	if s, err := w.a.Storage(t.Context()); err != nil || s.OldIndexBytes != 0 || s.IndexBytes == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestReindexFromAnything(t *testing.T) {
	for name, spoil := range map[string]func(w *world, path string) error{
		"missing": func(_ *world, path string) error { return os.Remove(path) },
		"no link": func(w *world, _ string) error { return os.Remove(filepath.Join(w.dir, "index.db")) },
		"damaged": func(_ *world, path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("junk ", 9999)), 0o600)
		},
		"plain":    func(w *world, path string) error { return os.Rename(path, filepath.Join(w.dir, "index.db")) },
		"as it is": func(*world, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(file{source: "runs", path: "a", content: "one"})
			path := w.a.Index().Path()
			w.check(w.a.Close())
			w.check(spoil(w, path))
			_, err := Open(t.Context(), w.dir, Read, testOptions())
			if sound := name == "plain" || name == "as it is"; sound != (err == nil) || err != nil && !errors.Is(err, ErrNoIndex) {
				t.Errorf("reading: %v", err)
			}
			opts := testOptions()
			opts.NoIndex = true
			w.a = openArchive(t, w.dir, Write, opts)
			w.rebuild()
			if n := count(t, w.a); n != 1 {
				t.Errorf("the new index has %d files", n)
			}
			w.check(w.a.Close())
			if n := count(t, w.open(Read)); n != 1 {
				t.Errorf("a reader finds %d files", n)
			}
			w.open(Write)
			for _, file := range strings.Split(list(t, w.dir), "\n") {
				base := filepath.Base(file)
				if strings.HasPrefix(base, "index.db-") || parseGeneration(base) > 0 && !strings.HasPrefix(w.a.Index().Path()+"-wal-shm", strings.TrimSuffix(strings.TrimSuffix(file, "-wal"), "-shm")) {
					t.Errorf("left over: %s", file)
				}
			}
		})
	}
}

func TestReindexAborted(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: "one"})
	db, publish, abort, err := w.a.NewIndex(t.Context())
	w.check(err)
	w.fill(db)
	abort()
	abort()
	if err := publish(); err == nil {
		t.Error("published what was aborted")
	}
	if strings.Contains(list(t, w.dir), "index-2.db") {
		t.Error("the aborted generation is there")
	}
	// The next writer removes the generation of a reindex that died.
	db, _, _, err = w.a.NewIndex(t.Context())
	w.check(err)
	w.fill(db)
	w.check(db.Close())
	w.check(w.a.Close())
	w.open(Write)
	if strings.Contains(list(t, w.dir), "index-2.db") || count(t, w.a) != 1 {
		t.Error("the generation that nobody finished is there")
	}
	if _, _, _, err := w.open(Read).NewIndex(t.Context()); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a reader begins an index: %v", err)
	}
}

// TestPublishTorn: an index in which a transaction failed contains a part of it, and must not be published.
func TestPublishTorn(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: "one"})
	db, publish, _, err := w.a.NewIndex(t.Context())
	w.check(err)
	w.fill(db)
	raw, err := sql.Open("sqlite", db.Path())
	w.check(err)
	_, err = raw.Exec("CREATE TRIGGER stop BEFORE INSERT ON files BEGIN SELECT RAISE(FAIL, 'no more'); END")
	w.check(errors.Join(err, raw.Close()))
	w.put(file{source: "runs", path: "b", content: "two"})
	if infos, err := w.a.list(t.Context()); err != nil || len(infos) != 2 {
		t.Fatalf("%d packs, %v", len(infos), err)
	} else if r, err := w.a.readManifest(t.Context(), infos[1], nil); err != nil {
		t.Fatal(err)
	} else if err := db.Commit(t.Context(), batch(r.Manifest(), infos[1].Size)); err == nil {
		t.Fatal("the trigger did not stop it")
	}
	if err := publish(); !errors.Is(err, index.ErrTorn) {
		t.Errorf("published: %v", err)
	}
	if strings.Contains(list(t, w.dir), "index-2.db") || count(t, w.a) != 2 {
		t.Errorf("what was torn is there, or the present index is not: %s", list(t, w.dir))
	}
}

// TestPublishFaults fails every operation of publishing in turn: the index must be the old or the new one, and work.
func TestPublishFaults(t *testing.T) {
	errFault := errors.New("injected fault")
	for n := 1; ; n++ {
		w := newWorld(t)
		w.put(file{source: "runs", path: "a", content: "one"})
		count1 := 0
		armed := false
		w.check(w.a.Close())
		opts := testOptions()
		opts.FS = &disk.FS{Fault: func(string, string) error {
			if !armed {
				return nil
			}
			if count1++; count1 == n {
				return errFault
			}
			return nil
		}}
		w.a = openArchive(t, w.dir, Write, opts)
		db, publish, _, err := w.a.NewIndex(t.Context())
		w.check(err)
		w.fill(db)
		armed = true
		err = publish()
		armed = false
		if err != nil && !errors.Is(err, errFault) {
			t.Fatalf("fault %d came out as %v", n, err)
		}
		if got := count(t, w.a); got != 1 {
			t.Errorf("after fault %d the index has %d files", n, got)
		}
		if got := count(t, w.open(Read)); got != 1 {
			t.Errorf("after fault %d a reader finds %d files", n, got)
		}
		if err == nil {
			return
		}
	}
}

func TestTooNew(t *testing.T) {
	w := newWorld(t)
	path := w.a.Index().Path()
	w.check(w.a.Close())
	raiseSchema(t, path)
	for _, mode := range []Mode{Read, Write} {
		if _, err := Open(t.Context(), w.dir, mode, testOptions()); !errors.Is(err, ErrTooNew) {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
	opts := testOptions()
	opts.NoIndex = true
	if _, err := Open(t.Context(), w.dir, Write, opts); !errors.Is(err, ErrTooNew) {
		t.Errorf("an old program would replace a new index: %v", err)
	}
	openArchive(t, w.dir, Read, opts)
}

// raiseSchema sets the schema version of the index to one of a later program.
func raiseSchema(t *testing.T, path string) {
	t.Helper()
	alter(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)")
}

// alter changes an index directly, not through package sqlite, whose engine has registered the driver.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
