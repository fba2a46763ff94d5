//go:build !unix

package sourcefs

import "io/fs"

const openFlags = 0

// Inode returns 0: inode numbers are not available on this system, and a scan compares sizes and times alone.
func Inode(fs.FileInfo) uint64 { return 0 }
