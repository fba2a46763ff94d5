package local

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/disk"
)

func TestStore(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return New(nil, filepath.Join(t.TempDir(), "packs")) })
}

var errFault = errors.New("injected fault")

// TestNthFailure fails every operation of Create, Write and Commit in turn.
func TestNthFailure(t *testing.T) {
	const name = "2026/11/pack"
	data := bytes.Repeat([]byte("some bytes of a pack "), 100)
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), "archive", "packs")
		count := 0
		store := New(&disk.FS{Fault: func(op, _ string) error {
			if count++; count != n {
				return nil
			}
			if op == disk.OpWrite {
				return &disk.ShortWrite{N: 7, Err: errFault}
			}
			return errFault
		}}, dir)
		err := write(store, name, data)
		if err == nil {
			if count >= n {
				t.Fatalf("operation %d failed and nobody said so", n)
			}
			checkTree(t, dir)
			return
		}
		if !errors.Is(err, errFault) {
			t.Fatalf("fault %d came out as %v", n, err)
		}
		if names := blobtest.Names(t, store); len(names) != 0 {
			t.Errorf("after fault %d there is %q", n, names)
		}
		blobtest.Put(t, store, name, data)
		if !bytes.Equal(blobtest.Read(t, store, name), data) {
			t.Errorf("second try after fault %d came back different", n)
		}
		if _, err := store.RemoveLeftovers(context.Background()); err != nil {
			t.Error(err)
		}
		checkTree(t, dir)
	}
}

func write(store *Store, name string, data []byte) error {
	up, err := store.Create(context.Background())
	if err != nil {
		return err
	}
	// Commit in spite of a write error, which the store must refuse.
	_, werr := up.Write(data[:1000])
	_, werr2 := up.Write(data[1000:])
	err = up.Commit(context.Background(), name)
	if (werr != nil || werr2 != nil) && err == nil {
		return errors.New("committed a pack that lacks bytes")
	}
	return err
}

// checkTree checks that modes are private and no temporary files are left.
func checkTree(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
		}
		if strings.HasPrefix(d.Name(), disk.TempPrefix) {
			t.Errorf("leftover %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRemoveLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "packs")
	store := New(nil, dir)
	if n, err := store.RemoveLeftovers(context.Background()); n != 0 || err != nil {
		t.Errorf("of no directory: %d, %v", n, err)
	}
	blobtest.Put(t, store, "2026/11/a", []byte("x"))
	for range 3 { // writers that die
		if _, err := store.Create(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if names := blobtest.Names(t, store); len(names) != 1 {
		t.Errorf("listed %q", names)
	}
	if n, err := store.RemoveLeftovers(context.Background()); n != 3 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Errorf("a foreign file is gone: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "2026", "11", "a.tar.gz")); err != nil {
		t.Errorf("the pack does not lie where the design says: %v", err)
	}
}
