package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Root is a directory into which files are restored. Nothing outside of it is touched, whatever the names of files and
// whatever symbolic links there are.
type Root struct {
	fs   *FS
	root *os.Root
}

// OpenRoot opens a directory to restore into, and makes it if it does not exist.
func (f *FS) OpenRoot(dir string) (*Root, error) {
	if err := f.MkdirAll(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Root{fs: f, root: root}, nil
}

// Close closes the directory.
func (r *Root) Close() error { return r.root.Close() }

// Attributes are the metadata of a restored file, and how to create it.
type Attributes struct {
	Mode      fs.FileMode // permission bits; set-id and sticky bits are never restored
	ModTime   time.Time
	Overwrite bool // replace a file of that name instead of returning fs.ErrExist
}

// Create creates the file name (slash-separated) with the content that body writes, and its parent directories (0700).
// The file gets its name only after body has returned nil and everything is written. It is not fsynced.
func (r *Root) Create(name string, attr Attributes, body func(io.Writer) error) error {
	// Not filepath.Localize: it refuses names that are not UTF-8.
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) || path.Clean(name) != name || name == "." || strings.ContainsRune(name, 0) {
		return &fs.PathError{Op: OpCreate, Path: name, Err: errors.New("not a name below a directory")}
	}
	dir := filepath.Dir(local)
	if err := r.mkdirAll(dir); err != nil {
		return err
	}
	temp := filepath.Join(dir, TempPrefix+rand.Text())
	if err := r.write(temp, body); err != nil {
		return errors.Join(err, r.remove(temp))
	}
	if err := r.finish(temp, local, attr); err != nil {
		return errors.Join(fmt.Errorf("restore %s: %w", name, err), r.remove(temp))
	}
	return nil
}

func (r *Root) mkdirAll(dir string) error {
	if dir == "." {
		return nil
	}
	if err := r.fs.fault(OpMkdir, dir); err != nil {
		return err
	}
	return r.root.MkdirAll(dir, dirMode)
}

func (r *Root) write(temp string, body func(io.Writer) error) error {
	if err := r.fs.fault(OpCreate, temp); err != nil {
		return err
	}
	file, err := r.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	w := &File{fs: r.fs, f: file}
	err = body(w)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}

func (r *Root) finish(temp, name string, attr Attributes) error {
	if err := r.fs.fault(OpChmod, name); err != nil {
		return err
	}
	if err := r.root.Chmod(temp, attr.Mode.Perm()); err != nil {
		return err
	}
	if err := r.root.Chtimes(temp, attr.ModTime, attr.ModTime); err != nil {
		return err
	}
	if err := r.fs.fault(OpRename, name); err != nil {
		return err
	}
	if attr.Overwrite {
		return r.root.Rename(temp, name)
	}
	err := r.root.Link(temp, name)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err == nil {
		return r.root.Remove(temp)
	}
	// The file system has no hard links. In a race, another restore of the same file may be overwritten.
	if _, err := r.root.Lstat(name); err == nil {
		return &fs.PathError{Op: OpRename, Path: name, Err: fs.ErrExist}
	}
	return r.root.Rename(temp, name)
}

// remove removes a temporary file that may or may not exist.
func (r *Root) remove(temp string) error {
	if err := r.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
