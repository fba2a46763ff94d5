package formattest

import (
	"io/fs"
	"os"
	"testing"
)

// Files returns the regular files below a directory, by their slash-separated paths.
func Files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files, tree := map[string][]byte{}, os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(tree, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
