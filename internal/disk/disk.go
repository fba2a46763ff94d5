// Package disk is the only package through which files are written. It defines how data becomes durable
// (written under a temporary name, fsynced, renamed, its directory fsynced), who may write (Lock), and how a
// restore stays below its target directory (Root).
//
// It promises that files are 0600 and directories 0700 whatever the umask, that Publish never overwrites anything,
// and that a test can make every single operation fail (FS.Fault). It does not interpret the bytes.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// The operations before which Fault is called.
const (
	OpCreate   = "create"
	OpChmod    = "chmod"
	OpWrite    = "write"
	OpSync     = "sync"
	OpClose    = "close"
	OpRename   = "rename"
	OpLink     = "link"
	OpMkdir    = "mkdir"
	OpSyncDir  = "syncdir"
	OpRemove   = "remove"
	OpTruncate = "truncate"
)

// FS is the file system as writers see it. The zero value is ready to use; all methods are safe for concurrent use.
type FS struct {
	// Fault, if not nil, is called before each operation; if it returns an error, the operation fails with it instead of
	// being done. A *ShortWrite lets the first bytes of a write through. Fault must be safe for concurrent use if FS is
	// used concurrently.
	Fault func(op, path string) error

	// mkdirMu is held while directories are made, so that nobody relies on one that is not durable yet.
	mkdirMu sync.Mutex
}

// ShortWrite is a fault that happens in the middle of a write.
type ShortWrite struct {
	N   int // bytes that are still written
	Err error
}

func (s *ShortWrite) Error() string { return fmt.Sprintf("short write: %v", s.Err) }

func (s *ShortWrite) Unwrap() error { return s.Err }

func (f *FS) fault(op, path string) error {
	if f == nil || f.Fault == nil {
		return nil
	}
	if err := f.Fault(op, path); err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

// File is a file being written.
type File struct {
	fs *FS
	f  *os.File
}

// CreateTemp creates a new file in dir, whose name is TempPrefix and a random string.
func (f *FS) CreateTemp(dir string) (*File, error) {
	const pattern = TempPrefix + "*"
	if err := f.fault(OpCreate, filepath.Join(dir, pattern)); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	// CreateTemp asks for 0600 too, but the umask may have cleared bits.
	err = f.fault(OpChmod, file.Name())
	if err == nil {
		err = file.Chmod(fileMode)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return &File{fs: f, f: file}, nil
}

// Name returns the path of the file.
func (f *File) Name() string { return f.f.Name() }

// Write writes all of p, or returns an error.
func (f *File) Write(p []byte) (int, error) {
	if err := f.fs.fault(OpWrite, f.Name()); err != nil {
		if short, ok := errors.AsType[*ShortWrite](err); ok {
			n, werr := f.f.Write(p[:min(short.N, len(p))])
			return n, errors.Join(err, werr)
		}
		return 0, err
	}
	return f.f.Write(p)
}

// Sync makes what was written durable. After an error its state is unknown: it must be written again to another file.
func (f *File) Sync() error {
	if err := f.fs.fault(OpSync, f.Name()); err != nil {
		return err
	}
	return f.f.Sync()
}

// Close closes the file without making it durable.
func (f *File) Close() error {
	if err := f.fs.fault(OpClose, f.Name()); err != nil {
		return errors.Join(err, f.f.Close())
	}
	return f.f.Close()
}

// Sync makes a file durable that was not written through FS.
func (f *FS) Sync(path string) error {
	if err := f.fault(OpSync, path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Remove deletes a file or an empty directory.
func (f *FS) Remove(path string) error {
	if err := f.fault(OpRemove, path); err != nil {
		return err
	}
	return os.Remove(path)
}

// SyncDir makes the entries of a directory durable.
func (f *FS) SyncDir(dir string) error {
	if err := f.fault(OpSyncDir, dir); err != nil {
		return err
	}
	return syncDir(dir)
}

// MkdirAll makes dir and its missing parents, each 0700 and durable in its parent. Directories that exist are
// left as they are.
func (f *FS) MkdirAll(dir string) error {
	f.mkdirMu.Lock()
	defer f.mkdirMu.Unlock()
	return f.mkdirAll(filepath.Clean(dir))
}

func (f *FS) mkdirAll(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		return &fs.PathError{Op: OpMkdir, Path: dir, Err: syscall.ENOTDIR}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := f.mkdirAll(parent); err != nil {
			return err
		}
	}
	if err := f.mkdir(dir); err != nil {
		return err
	}
	if err := f.SyncDir(parent); err != nil {
		// Otherwise the next caller would find the directory and assume that it is durable.
		return errors.Join(err, f.Remove(dir))
	}
	return nil
}

// mkdir makes one directory. It is no error if another process makes it first.
func (f *FS) mkdir(dir string) error {
	if err := f.fault(OpMkdir, dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(dir, dirMode)
}
