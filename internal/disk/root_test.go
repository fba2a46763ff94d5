package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func body(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func openRoot(t *testing.T, fsys *FS, dir string) *Root {
	t.Helper()
	root, err := fsys.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestRootCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "target")
	root := openRoot(t, &FS{}, dir)
	mtime := time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)
	for _, name := range []string{"plain", "a/b/c.jsonl", "a/b/not utf-8 \xff\xfe", "..dots../x", "new\nline"} {
		if err := root.Create(name, Attributes{Mode: 0o640, ModTime: mtime}, body(name)); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(path)
		if err != nil || mustRead(t, path) != name {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if info.Mode().Perm() != 0o640 || !info.ModTime().Equal(mtime) {
			t.Errorf("%q has mode %v and time %v", name, info.Mode(), info.ModTime())
		}
	}
}

func TestRootRefusesEscapes(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "victim"), []byte("untouched"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "victim"), filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	root := openRoot(t, &FS{}, dir)
	for _, name := range []string{
		"", ".", "..", "../x", "/etc/x", "a/../../x", "a/../x", "a//b", "a/./b", "a/", "nul\x00", "link/x", "link/victim",
	} {
		for _, overwrite := range []bool{false, true} {
			err := root.Create(name, Attributes{Mode: 0o600, ModTime: time.Unix(0, 0), Overwrite: overwrite}, body("x"))
			if err == nil {
				t.Errorf("%q was created", name)
			}
		}
	}
	// A link in the file's own place is replaced, not followed.
	if err := root.Create("file", Attributes{Mode: 0o600, ModTime: time.Unix(0, 0), Overwrite: true}, body("new")); err != nil {
		t.Error(err)
	}
	if got := mustRead(t, filepath.Join(outside, "victim")); got != "untouched" {
		t.Errorf("a restore wrote outside: %q", got)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there are now %v, %v", entries, err)
	}
}

func TestRootOverwrite(t *testing.T) {
	dir := t.TempDir()
	root := openRoot(t, &FS{}, dir)
	attr := Attributes{Mode: 0o400, ModTime: time.Unix(1, 0)}
	if err := root.Create("x", attr, body("one")); err != nil {
		t.Fatal(err)
	}
	if err := root.Create("x", attr, body("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing file: %v", err)
	}
	attr.Overwrite = true
	if err := root.Create("x", attr, body("three")); err != nil || mustRead(t, filepath.Join(dir, "x")) != "three" {
		t.Errorf("with Overwrite: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("leftovers: %v, %v", entries, err)
	}
}

func TestRootFaults(t *testing.T) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		fsys, count := failNth(-1)
		root := openRoot(t, fsys, dir)
		broken, _ := failNth(n)
		root.fs = broken
		err := root.Create("a/file", Attributes{Mode: 0o600, ModTime: time.Unix(1, 0)}, body("content"))
		if err == nil {
			if got := mustRead(t, filepath.Join(dir, "a", "file")); got != "content" {
				t.Errorf("restored %q", got)
			}
			return
		}
		if _, serr := os.Stat(filepath.Join(dir, "a", "file")); !errors.Is(serr, fs.ErrNotExist) || !errors.Is(err, errFault) {
			t.Errorf("after fault %d of %d: %v, %v", n, *count, err, serr)
		}
	}
}
