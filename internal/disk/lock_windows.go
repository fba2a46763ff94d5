package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// place is the range to lock: one byte far beyond the content. Locks on Windows are mandatory, and other processes must be
// able to read who holds this one.
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
