//go:build !windows

package disk

import (
	"errors"
	"os"
)

// linkNew renames a file by a hard link, which fails if newPath exists, and then removes oldPath. A crash in
// between leaves a whole file under both names; the temporary name is then a leftover like any other.
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
