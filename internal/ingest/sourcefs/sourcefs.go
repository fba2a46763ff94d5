// Package sourcefs opens, lists and stats the files of a source. Paths are confined to the source's root: no symbolic link is
// followed, and nothing is opened that could block, such as a named pipe.
//
// On Linux it uses openat2 and fstatat on directory descriptors, which saves most of the system calls that os.Root and os.Lstat make for
// each directory of a path. Elsewhere, and where the kernel or a sandbox refuses these calls, it falls back to package os.
package sourcefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/txarchive/txarchive/internal/blob"
)

// File is an open file of a source.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Info is the metadata of a file that a scan compares with the last scan's, before it opens any file.
type Info struct {
	Type    fs.FileMode // type bits only; 0 for a regular file
	Size    int64
	ModTime int64 // nanoseconds, see blob.Nano
	Inode   uint64
}

// InfoOf returns the metadata that info states.
func InfoOf(info fs.FileInfo) Info {
	return Info{Type: info.Mode().Type(), Size: info.Size(), ModTime: blob.Nano(info.ModTime()), Inode: Inode(info)}
}

// Opener opens regular files below a root. It is for one goroutine. The zero Opener with Root set is ready.
type Opener struct {
	Root *os.Root
	dir  *os.File // Root as a directory descriptor; nil until a file is opened
}

// Open opens a regular file, named by its slash-separated path below the root, and returns its metadata. It tries a single system call
// first: os.Root opens each directory on the way, a large part of the cost of a small file. If that call fails for any reason, os.Root is
// asked, and its error is returned.
func (o *Opener) Open(p string) (File, fs.FileInfo, error) {
	if o.dir == nil {
		dir, err := o.Root.Open(".")
		if err != nil {
			return nil, nil, err
		}
		o.dir = dir
	}
	if f, info := openBelow(o.dir, p); f != nil {
		return f, info, nil
	}
	return o.OpenFile(p)
}

// OpenFile is Open for callers that need an *os.File.
func (o *Opener) OpenFile(p string) (*os.File, fs.FileInfo, error) {
	f, err := o.Root.OpenFile(p, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("no longer a regular file")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Close closes the directory descriptor. The root stays open.
func (o *Opener) Close() error {
	if o.dir == nil {
		return nil
	}
	return o.dir.Close()
}

// Open opens a single file below a root directory, with the checks of Opener.OpenFile.
func Open(root, p string) (*os.File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	o := Opener{Root: dir}
	f, _, err := o.OpenFile(p)
	return f, errors.Join(err, o.Close(), dir.Close())
}
