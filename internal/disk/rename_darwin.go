package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

func renameNew(oldPath, newPath string) error {
	err := unix.RenamexNp(oldPath, newPath, unix.RENAME_EXCL)
	// Not every file system supports it.
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return linkNew(oldPath, newPath)
	}
	return err
}
