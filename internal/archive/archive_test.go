package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
)

func TestCreate(t *testing.T) {
	base := t.TempDir()
	t.Run("missing", func(t *testing.T) {
		dir := filepath.Join(base, "new", "archive")
		for range 2 {
			if err := Create(t.Context(), dir, testOptions()); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the directory has mode %v, %v", info.Mode(), err)
		}
		readme, err := os.ReadFile(filepath.Join(dir, "README.txt"))
		if err != nil || string(readme) != pack.Readme {
			t.Errorf("README.txt: %v", err)
		}
		// A new archive can be read at once.
		openArchive(t, dir, Read, testOptions())
	})
	t.Run("empty and open to others", func(t *testing.T) {
		dir := filepath.Join(base, "empty")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := Create(t.Context(), dir, testOptions()); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	})
	t.Run("other things in it", func(t *testing.T) {
		dir := filepath.Join(base, "full")
		if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := Create(t.Context(), dir, testOptions()); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("%v", err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("now it has %v, %v", entries, err)
		}
	})
}

// TestCreateFaults fails every operation of Create in turn: what is left is an archive or can become one.
func TestCreateFaults(t *testing.T) {
	errFault := errors.New("injected fault")
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), "archive")
		count := 0
		opts := testOptions()
		opts.FS = &disk.FS{Fault: func(string, string) error {
			if count++; count == n {
				return errFault
			}
			return nil
		}}
		err := Create(t.Context(), dir, opts)
		if err == nil {
			if count >= n {
				t.Fatalf("operation %d failed and nobody said so", n)
			}
			return
		}
		if !errors.Is(err, errFault) {
			t.Fatalf("fault %d came out as %v", n, err)
		}
		if err := Create(t.Context(), dir, testOptions()); err != nil {
			t.Fatalf("second try after fault %d: %v", n, err)
		}
		if err := openArchive(t, dir, Write, testOptions()).Close(); err != nil {
			t.Errorf("after fault %d: %v", n, err)
		}
	}
}

func TestOpenWhatIsNoArchive(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Join(dir, "missing")} {
		for _, mode := range []Mode{Read, Write} {
			if _, err := Open(t.Context(), d, mode, testOptions()); !errors.Is(err, ErrNoArchive) {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("looking made %v, %v", entries, err)
	}
}

func TestOneWriter(t *testing.T) {
	w := newWorld(t)
	opts := testOptions()
	opts.Command = "prune"
	_, err := Open(t.Context(), w.dir, Write, opts)
	locked, ok := errors.AsType[*disk.LockedError](err)
	if !errors.Is(err, ErrLocked) || !ok || !strings.Contains(locked.Holder, "(test)") {
		t.Errorf("a second writer: %v", err)
	}
	w.put(file{source: "runs", path: "a", content: "while the writer holds the lock"})
	r := w.open(Read)
	if got := readAll(t, r.Content(t.Context(), onlyVersion(t, r))); string(got) != "while the writer holds the lock" {
		t.Errorf("a reader gets %q", got)
	}
	if err := w.a.Close(); err != nil {
		t.Fatal(err)
	}
	w.open(Write)
}

func onlyVersion(t *testing.T, a *Archive) index.FileVersion {
	t.Helper()
	for v, err := range a.Index().Versions(t.Context(), index.VersionFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Fatal("the index has no version")
	return index.FileVersion{}
}

func TestReadWhereNothingCanBeWritten(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: "content"})
	if err := w.a.Close(); err != nil {
		t.Fatal(err)
	}
	snapshot := list(t, w.dir)
	if os.Geteuid() == 0 {
		t.Log("root can write everywhere, and leaves the empty log of a reader")
	}
	if err := os.Chmod(w.dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(w.dir, 0o700) })
	r, err := Open(t.Context(), w.dir, Read, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, r.Content(t.Context(), onlyVersion(t, r))); string(got) != "content" {
		t.Errorf("got %q", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`.*index-1.db-(wal|shm)\n`).ReplaceAllString(list(t, w.dir), "")
	if got != snapshot {
		t.Errorf("a reader left\n%s\nnot\n%s", got, snapshot)
	}
}

// list names all files of a directory.
func list(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

func TestOpenWithoutIndex(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: "content"})
	if err := w.a.Close(); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(filepath.Join(bare, "packs"), os.DirFS(filepath.Join(w.dir, "packs"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), bare, Read, testOptions()); !errors.Is(err, ErrNoIndex) {
		t.Errorf("reading: %v", err)
	}
	opts := testOptions()
	opts.NoIndex = true
	for _, mode := range []Mode{Read, Write} {
		a := openArchive(t, bare, mode, opts)
		if a.Index() != nil || !errors.Is(a.IndexError(), ErrNoIndex) {
			t.Errorf("mode %d: an index %v, %v", mode, a.Index(), a.IndexError())
		}
		if _, err := a.Raw(t.Context(), index.Place{Origin: w.place(w.open(Read), "runs", "a", 1, 0, 3).Origin}); !errors.Is(err, ErrNoIndex) {
			t.Errorf("mode %d: reading a record: %v", mode, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	a := openArchive(t, bare, Write, testOptions())
	for name, err := range a.Index().Packs(t.Context()) {
		t.Errorf("the new index knows %s, %v", name, err)
	}
	if _, err := os.Stat(filepath.Join(bare, "README.txt")); err != nil {
		t.Error(err)
	}
}

func TestWriterID(t *testing.T) {
	w := newWorld(t)
	id := w.a.WriterID()
	if !regexp.MustCompile(`^[0-9a-z]{8}$`).MatchString(id) || id != w.open(Read).WriterID() {
		t.Errorf("writer id %q", id)
	}
	if host, err := os.Hostname(); err == nil && strings.Contains(id, host) {
		t.Error("the id tells the name of the machine")
	}
}

func TestCleanUp(t *testing.T) {
	w := newWorld(t)
	if err := w.a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tmp-1", "packs/.tmp-2", "index-7.db", "index-7.db-wal", "index-07.db", "index-notes.db"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.open(Write)
	got := list(t, w.dir)
	for name, want := range map[string]bool{
		".tmp-1": false, "packs/.tmp-2": false, "index-7.db": false, "index-7.db-wal": false,
		"index-07.db": true, "index-notes.db": true, "index-1.db": true, "index.db": true,
	} {
		if strings.Contains(got, filepath.Join(w.dir, name)) != want {
			t.Errorf("%s: there should be one: %v", name, want)
		}
	}
}

// TestCleanUpRace has a process without the lock rename its temporary file when it is about to be removed.
func TestCleanUpRace(t *testing.T) {
	w := newWorld(t)
	if err := w.a.Close(); err != nil {
		t.Fatal(err)
	}
	left, met := filepath.Join(w.dir, ".tmp-1"), false
	if err := os.WriteFile(left, []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := testOptions()
	opts.FS = &disk.FS{Fault: func(op, path string) error {
		if op == disk.OpRemove && path == left {
			met = true
			return os.Rename(left, filepath.Join(w.dir, "nightly.json"))
		}
		return nil
	}}
	w.a = openArchive(t, w.dir, Write, opts)
	if !met {
		t.Error("what was left was not removed")
	}
}
