package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

func renameNew(oldPath, newPath string) error {
	err := unix.Renameat2(unix.AT_FDCWD, oldPath, unix.AT_FDCWD, newPath, unix.RENAME_NOREPLACE)
	// Some file systems (NFS among them) and old kernels do not know the flag.
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return linkNew(oldPath, newPath)
	}
	return err
}
