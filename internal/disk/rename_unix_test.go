//go:build !windows

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestLinkNew(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, path := range []string{a, b} {
		if err := os.WriteFile(path, []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := linkNew(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing name: %v", err)
	}
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	if err := linkNew(a, b); err != nil || mustRead(t, b) != a {
		t.Errorf("to a free name: %v", err)
	}
	if _, err := os.Stat(a); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name is still there: %v", err)
	}
}
