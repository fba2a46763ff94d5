//go:build unix

package sourcefs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpenStaysInside opens paths that lead outside of the root, through links, or to something other than a regular file: all fail, and
// none blocks.
func TestOpenStaysInside(t *testing.T) {
	top := t.TempDir()
	at := func(p string) string { return filepath.Join(top, p) }
	err := errors.Join(os.MkdirAll(at("root/a/b"), 0o700), os.WriteFile(at("root/a/b/file"), []byte("inside"), 0o600), os.WriteFile(at("file"), nil, 0o600),
		os.Symlink(top, at("root/up")), os.Symlink(at("file"), at("root/a/link")), syscall.Mkfifo(at("root/a/pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(at("root"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	o := Opener{Root: root}
	defer o.Close()
	for _, p := range []string{"up/file", "../file", "a/../../file", "a/link", "a/pipe", "a", "a/none"} {
		if _, info, err := o.Open(p); err == nil {
			t.Errorf("%s was opened as %v", p, info)
		}
	}
	f, info, err := o.Open("a/b/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := os.Stat(at("root/a/b/file"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() != int64(len("inside")) || !info.ModTime().Equal(want.ModTime()) || info.Mode() != want.Mode() || Inode(info) != Inode(want) {
		t.Errorf("%d bytes, of %v, %v, %d", info.Size(), info.ModTime(), info.Mode(), Inode(info))
	}
	b := make([]byte, 9)
	if n, err := f.ReadAt(b, 2); string(b[:n]) != "side" || err != io.EOF {
		t.Errorf("%q, %v", b[:n], err)
	}
	if n, err := f.ReadAt(b[:3], 1); string(b[:n]) != "nsi" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
}
