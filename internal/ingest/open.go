package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// opener opens the files of a source: inside its root, no link, nothing that could block. The root follows a path component by
// component, so directories are kept open for the files to come. It serves one goroutine.
type opener struct {
	root *os.Root
	dirs map[string]*os.Root
}

// openDirs is how many directories are kept open: when there are more, all are closed.
const openDirs = 32

// open returns a regular file, and what it is.
func (o *opener) open(p string) (*os.File, fs.FileInfo, error) {
	dir, err := o.directory(path.Dir(p))
	if err != nil {
		return nil, nil, err
	}
	f, err := dir.OpenFile(path.Base(p), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("not a regular file any more")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func (o *opener) directory(at string) (*os.Root, error) {
	if at == "." {
		return o.root, nil
	}
	if dir := o.dirs[at]; dir != nil {
		return dir, nil
	}
	if len(o.dirs) == openDirs {
		if err := o.Close(); err != nil {
			return nil, err
		}
	}
	dir, err := o.root.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	if o.dirs == nil {
		o.dirs = map[string]*os.Root{}
	}
	o.dirs[at] = dir
	return dir, nil
}

// Close closes what is kept open, not the root.
func (o *opener) Close() error {
	var errs []error
	for at, dir := range o.dirs {
		errs = append(errs, dir.Close())
		delete(o.dirs, at)
	}
	return errors.Join(errs...)
}

// OpenOriginal opens a file of a source as a scan does.
func OpenOriginal(root, p string) (*os.File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	o := opener{root: dir}
	f, _, err := o.open(p)
	return f, errors.Join(err, o.Close(), dir.Close())
}
