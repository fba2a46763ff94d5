package ingest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestOpeningAllocates bounds what opening and reading a small file allocates: its path for the system, and what that says of it.
func TestOpeningAllocates(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	o := opener{root: root}
	defer o.Close()
	b := make([]byte, len("inside"))
	read := func() (f original, info fs.FileInfo) {
		f, info, err := o.open("file")
		if err == nil {
			_, err = f.ReadAt(b, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f, info
	}
	f, _ := read()
	if _, ok := f.(descriptor); !ok {
		t.Skip("the system does not open files at once")
	}
	f.Close()
	if n := testing.AllocsPerRun(10, func() {
		f, _ := read()
		f.Close()
	}); n > 4 {
		t.Errorf("%v allocations", n)
	}
}
