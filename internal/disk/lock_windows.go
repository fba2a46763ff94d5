package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// What is locked is one byte far behind the content: a lock on Windows is mandatory, and others must be able to read
// who holds it.
func place() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

func unlock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, place())
}

func tryLock(file *os.File) error {
	err := windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, place())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
