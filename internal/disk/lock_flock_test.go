//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReleaseBesideAChild releases the lock while another descriptor of the open file exists, as in a child process that another
// goroutine is about to start: until exec, the child has all open files of this process.
func TestReleaseBesideAChild(t *testing.T) {
	fsys, path := &FS{}, filepath.Join(t.TempDir(), "lock")
	first, err := fsys.Lock(path, holder("first"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := unix.Dup(int(first.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(child)
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second, err := fsys.Lock(path, holder("second"))
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}
