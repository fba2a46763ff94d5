package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestScratch leaves directories behind as killed processes do. The next process must remove those, but none that is in use or was
// just made, and nothing that is not ours.
func TestScratch(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	old := time.Now().Add(-time.Hour)
	age := func(dir string) {
		t.Helper()
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	lay := func(name string, files ...string) string {
		t.Helper()
		dir := filepath.Join(tmp, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), []byte("private"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dead, young := lay("txarchive-db-1", scratchLock, "copy.db"), lay("txarchive-db-2", scratchLock)
	foreign, other := lay("txarchive-corpora", "kept"), lay("other-1", scratchLock)
	used, removeUsed, err := Scratch("db")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dead, foreign, other, used} {
		age(dir)
	}
	dir, remove, err := Scratch("dry-run")
	if err != nil {
		t.Fatal(err)
	}
	sweep(tmp, time.Now().Add(-scratchAge)) // as the first of another process does
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info, err)
	}
	for _, dir := range []string{young, foreign, other, used, dir} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	for _, remove := range []func() error{remove, removeUsed} {
		if err := remove(); err != nil {
			t.Error(err)
		}
	}
	for _, dir := range []string{used, dir} {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}
