//go:build unix

package sourcefs

import (
	"io/fs"
	"syscall"
)

// openFlags keep an open from following a link in the last path element, and from blocking on a named pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// Inode returns the inode number of a file, 0 if info does not have it.
func Inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
