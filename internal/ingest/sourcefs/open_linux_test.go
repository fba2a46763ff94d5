package sourcefs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestOpeningAllocates bounds the allocations of opening and reading a small file: its path as a C string, and its metadata.
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
	o := Opener{Root: root}
	defer o.Close()
	b := make([]byte, len("inside"))
	read := func() (f File, info fs.FileInfo) {
		f, info, err := o.Open("file")
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
		t.Skip("openat2 is not available")
	}
	f.Close()
	if n := testing.AllocsPerRun(10, func() {
		f, _ := read()
		f.Close()
	}); n > 4 {
		t.Errorf("%v allocations", n)
	}
}
