package disk

import (
	"strings"
	"syscall"
)

// localFlag is MNT_LOCAL: the file system is stored on this machine.
const localFlag = 0x1000

// FileSystem returns the kind of file system that a directory is on, "" if that cannot be told. network reports whether another machine
// serves it.
func FileSystem(dir string) (kind string, network bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", false
	}
	var name strings.Builder
	for _, c := range s.Fstypename {
		if c == 0 {
			break
		}
		name.WriteByte(byte(c))
	}
	return name.String(), s.Flags&localFlag == 0
}

// FreeBytes returns how many bytes this user can still write to the file system of a directory, -1 if that is not known.
func FreeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
