//go:build !unix

package ingest

import "io/fs"

const openFlags = 0

// inode is not known here: size and time must do.
func inode(fs.FileInfo) uint64 { return 0 }
