package ingest

import (
	"io/fs"
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

// openDir opens a directory to be listed. os.Open would have it watched for more to come, four calls for each of many small
// directories; it is asked whenever something is in the way, and says what.
func openDir(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return os.Open(dir)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// lookAt returns what stands in a directory under a name. The system goes from the directory, and not from the root: half of
// what a second scan took was to find the same directory again for each file in it.
func lookAt(dir *os.File, e fs.DirEntry) (metadata, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
		return metadata{size: st.Size, mtime: st.Mtim.Nano(), inode: st.Ino}, nil
	}
	info, err := e.Info()
	if err != nil {
		return metadata{}, err
	}
	return metadataOf(info), nil
}
