package disk

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errFault = errors.New("injected fault")

// failNth returns a file system whose n-th operation fails, and a count of the operations so far.
func failNth(n int) (*FS, *int) {
	count := new(int)
	return &FS{Fault: func(op, _ string) error {
		*count++
		if *count != n {
			return nil
		}
		if op == OpWrite {
			return &ShortWrite{N: 3, Err: errFault}
		}
		return errFault
	}}, count
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPublishIsWholeOrAbsentWhateverFails(t *testing.T) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		fsys, count := failNth(n)
		path := filepath.Join(dir, "a", "b", "file")
		err := publish(fsys, dir, path, "content of the file")
		if err == nil {
			if *count >= n {
				t.Fatalf("operation %d of %d failed and nobody said so", n, *count)
			}
			if got := mustRead(t, path); got != "content of the file" {
				t.Errorf("published %q", got)
			}
			checkModes(t, dir)
			return
		}
		if !errors.Is(err, errFault) {
			t.Fatalf("fault %d came out as %v", n, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after fault %d the file stands under its name (%v)", n, err)
		}
		if err := publish(&FS{}, dir, path, "second try"); err != nil || mustRead(t, path) != "second try" {
			t.Errorf("second try after fault %d: %v", n, err)
		}
	}
}

func publish(fsys *FS, dir, path, content string) error {
	file, err := fsys.CreateTemp(dir)
	if err != nil {
		return err
	}
	if _, err := file.Write([]byte(content)); err != nil {
		return errors.Join(err, file.Close())
	}
	return fsys.Publish(file, path)
}

// checkModes checks that below dir files are 0600 and directories 0700, and that there are no leftovers.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fileMode
		if d.IsDir() {
			want = dirMode
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
		}
		if strings.HasPrefix(d.Name(), TempPrefix) {
			t.Errorf("leftover %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPublishNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	fsys := &FS{}
	if err := publish(fsys, dir, path, "first"); err != nil {
		t.Fatal(err)
	}
	if err := publish(fsys, dir, path, "second"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing name: %v", err)
	}
	if got := mustRead(t, path); got != "first" {
		t.Errorf("now it holds %q", got)
	}
	checkModes(t, dir)
}

func TestWriteFileKeepsOldOrHasNew(t *testing.T) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		if err := (&FS{}).WriteFile(path, []byte("old")); err != nil {
			t.Fatal(err)
		}
		fsys, _ := failNth(n)
		err := fsys.WriteFile(path, []byte("brand new"))
		got := mustRead(t, path)
		if err == nil {
			if got != "brand new" {
				t.Errorf("wrote %q", got)
			}
			checkModes(t, dir)
			return
		}
		if got != "old" && got != "brand new" {
			t.Errorf("after fault %d the file holds %q", n, got)
		}
		checkModes(t, dir)
	}
}

// TestReplaceLink fails each operation in turn, with and without support for symbolic links.
func TestReplaceLink(t *testing.T) {
	replaceLink(t, nil)
	replaceLink(t, func(op, _ string) error {
		if op == OpLink {
			return errors.ErrUnsupported
		}
		return nil
	})
}

func replaceLink(t *testing.T, lacks func(op, path string) error) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "link")
		if err := (&FS{Fault: lacks}).ReplaceLink("one", path); err != nil {
			t.Fatal(err)
		}
		fsys, _ := failNth(n)
		if fails := fsys.Fault; lacks != nil {
			fsys.Fault = func(op, path string) error { return cmp.Or(fails(op, path), lacks(op, path)) }
		}
		err := fsys.ReplaceLink("two", path)
		got, rerr := ReadLink(path)
		if rerr != nil {
			t.Fatal(rerr)
		}
		if err == nil {
			if got != "two" {
				t.Errorf("links to %q", got)
			}
			return
		}
		if got != "one" && got != "two" {
			t.Errorf("after fault %d it links to %q", n, got)
		}
	}
}

func TestMkdirAllOnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&FS{}).MkdirAll(path); err == nil {
		t.Error("a file is taken for a directory")
	}
	if err := (&FS{}).MkdirAll(filepath.Join(path, "below")); err == nil {
		t.Error("a directory below a file")
	}
}

// TestReadLink distinguishes links from other files, among them an empty database and one of SQLite.
func TestReadLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	if _, err := ReadLink(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	for content, want := range map[string]string{"": "", "index-7.db": "index-7.db", "../elsewhere.db": "", strings.Repeat("x", 512): ""} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadLink(path); got != want || err != nil {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
}

func TestURI(t *testing.T) {
	if got := URI("/tmp/a b?/i%20#.db", "mode=ro"); got != "file:///tmp/a%20b%3F/i%2520%23.db?mode=ro" {
		t.Error(got)
	}
}
