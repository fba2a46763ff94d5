package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIsInside asks for directories that exist and do not, by their names and by links.
func TestIsInside(t *testing.T) {
	top, err := RealPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"archive/packs", "archive-2", "other"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "archive", "other/deep": "../archive/packs", "archive/out": "../other", "loop": "loop"} {
		if err := os.Symlink(filepath.FromSlash(to), at(link)); err != nil {
			t.Skip(err) // Windows, without the right to do so
		}
	}
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"archive", "archive", true}, {"archive/packs", "archive", true}, {"archive/new/deep", "archive", true}, {"link/new", "archive", true},
		{"other/deep/new", "archive", true}, {"other/deep", "link", true}, {"archive/x", "link", true},
		{"archive/out/new", "archive", false}, {"archive-2", "archive", false}, {"other/new", "archive", false}, {".", "archive", false}, {"other", "missing", false}, {"link/missing/x", "archive/missing", true},
	} {
		if got, err := IsInside(at(c.path), at(c.dir)); got != c.want || err != nil {
			t.Errorf("%s in %s: %v, %v", c.path, c.dir, got, err)
		}
	}
	if got, err := IsInside(at("loop/x"), at("archive")); got || err == nil {
		t.Errorf("a link to itself: %v, %v", got, err)
	}
	t.Chdir(top)
	if got, err := IsInside("archive/x", "archive"); !got || err != nil {
		t.Errorf("relative names: %v, %v", got, err)
	}
}
