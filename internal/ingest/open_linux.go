package ingest

import (
	"os"

	"golang.org/x/sys/unix"
)

// openBelow opens a file below a directory by one call, which follows no link and never leaves the directory. nil when that
// fails, for whatever reason: older systems do not have it, and some sandboxes forbid it.
func openBelow(dir *os.File, p string) *os.File {
	fd, err := unix.Openat2(int(dir.Fd()), p, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | openFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), p)
}
