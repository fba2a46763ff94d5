package disk

import (
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
	file, err := fsys.CreateTemp(dir, TempPrefix+"*")
	if err != nil {
		return err
	}
	if _, err := file.Write([]byte(content)); err != nil {
		return errors.Join(err, file.Close())
	}
	return fsys.Publish(file, path)
}

// checkModes wants files 0600 and directories 0700 below dir, and no leftovers.
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

func TestReplaceLink(t *testing.T) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "link")
		if err := (&FS{}).ReplaceLink("one", path); err != nil {
			t.Fatal(err)
		}
		fsys, _ := failNth(n)
		err := fsys.ReplaceLink("two", path)
		got, rerr := os.Readlink(path)
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
