package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// opener opens the files of a source: inside its root, no link, nothing that could block. It serves one goroutine.
type opener struct {
	root *os.Root
	dir  *os.File // the same; nil until a file is opened
}

// original is a file of a source that is open.
type original interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// open returns a regular file, and what it is. It opens it at once where the system can: the root opens each directory on the way, which is
// much of what a small file costs; it is asked whenever something is in the way, and says what.
func (o *opener) open(p string) (original, fs.FileInfo, error) {
	if o.dir == nil {
		dir, err := o.root.Open(".")
		if err != nil {
			return nil, nil, err
		}
		o.dir = dir
	}
	if f, info := openBelow(o.dir, p); f != nil {
		return f, info, nil
	}
	return o.openFile(p)
}

// openFile is open for those who need what only an os.File has.
func (o *opener) openFile(p string) (*os.File, fs.FileInfo, error) {
	f, err := o.root.OpenFile(p, os.O_RDONLY|openFlags, 0)
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

// Close closes what is kept open, not the root.
func (o *opener) Close() error {
	if o.dir == nil {
		return nil
	}
	return o.dir.Close()
}

// OpenOriginal opens a file of a source as a scan does.
func OpenOriginal(root, p string) (*os.File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	o := opener{root: dir}
	f, _, err := o.openFile(p)
	return f, errors.Join(err, o.Close(), dir.Close())
}
