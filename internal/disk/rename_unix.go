//go:build !windows

package disk

import (
	"errors"
	"os"
)

// linkNew gives a file its second name, which fails when that is taken, and then removes the first. A crash in
// between leaves a whole file under both; the temporary name is a leftover like any other.
func linkNew(oldPath, newPath string) error {
	if err := os.Link(oldPath, newPath); err != nil {
		return err
	}
	return os.Remove(oldPath)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
