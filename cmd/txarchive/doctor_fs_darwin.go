package main

import (
	"strings"
	"syscall"
)

// localFlag is what statfs says of a file system that is stored on this machine.
const localFlag = 0x1000

// fileSystem names the kind of file system that a directory lies on, and says whether other machines serve it.
func fileSystem(dir string) (kind string, network bool) {
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

// freeBytes is how much room the file system of a directory has for this user, -1 when that is not known.
func freeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
