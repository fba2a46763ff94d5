// Package zipped reads untrusted zips: their central directory, and one file after the other.
//
// Its promises: the central directory is read up to a bound, which bounds memory as well; a zip that states to unpack to far more than its own
// size is refused before anything is inflated; of a file no more bytes are read than it states; Check verifies its size and CRC-32. A name is
// data and never a path: Path is derived from it.
package zipped

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxDirectory = 8 << 20 // bytes of the central directory, where a file takes 46 and its name; about five times that in memory
	maxName      = 1 << 10 // bytes
	maxElement   = 255     // bytes of one element of a Path: no file can be restored under a longer one
	// The total stated size of the files may be up to freeOutput, or maxRatio times the size of the zip if that is more.
	freeOutput = 64 << 20
	maxRatio   = 200
)

// The errors of Open.
var (
	ErrFormat   = errors.New("not a zip, or not completely downloaded")
	ErrTooMany  = errors.New("the list of its files is longer than 8 MiB")
	ErrTooLarge = errors.New("its files would take more than 200 times its size")
)

// Why a file is skipped: see File.Err.
var (
	errEncrypted = errors.New("it is encrypted")
	errName      = errors.New("its name is too long")
	errTwice     = errors.New("another file or directory has the same name")
)

// File is a file in a zip. Entries of directories are not listed.
type File struct {
	Name string // as written
	// Path is a slash-separated path that is local and unique: no other file without an Err has it or a path below it. A name that is no such
	// path is escaped as in a URL.
	Path    string
	Size    int64     // as stated
	ModTime time.Time // as stated; zero if it is unset or out of range
	Err     error     // why it cannot be read: it is encrypted, its name is too long, or its path collides
	f       *zip.File
}

// Open lists the files of a zip, in the order of its central directory, and reads nothing else. The error is one of the above, or r's.
func Open(r io.ReaderAt, size int64) ([]File, error) {
	in := &bounded{r: r}
	list, err := zip.NewReader(in, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		switch {
		case in.err != nil:
			return nil, in.err
		case errors.Is(err, ErrTooMany):
			return nil, ErrTooMany
		}
		return nil, ErrFormat
	}
	in.open = true
	total, all := uint64(0), make([]File, 0, len(list.File))
	for _, f := range list.File {
		if f.UncompressedSize64 == 0 && strings.HasSuffix(f.Name, "/") {
			continue // a directory
		}
		if total += f.UncompressedSize64; total < f.UncompressedSize64 || total > max(freeOutput, maxRatio*uint64(size)) || total > math.MaxInt64 {
			return nil, ErrTooLarge
		}
		file := File{Name: f.Name, Path: pathOf(f.Name), Size: int64(f.UncompressedSize64), f: f}
		if at := f.Modified; at.Year() > 1980 && at.Year() <= 9999 { // a zip without times has the first day of 1980
			file.ModTime = at
		}
		switch {
		case f.Flags&1 != 0:
			file.Err = errEncrypted
		case len(f.Name) > maxName || slices.ContainsFunc(strings.Split(file.Path, "/"), func(s string) bool { return len(s) > maxElement }):
			file.Err = errName
		}
		all = append(all, file)
	}
	markCollisions(all)
	return all, nil
}

// markCollisions sets Err on a file whose path an earlier file has as well, or another file has as a directory.
func markCollisions(all []File) {
	order := make([]*File, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	// The sort is stable: of equal paths the first in the zip stays usable.
	slices.SortStableFunc(order, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	for i, f := range order {
		below := f.Path + "/"
		next, _ := slices.BinarySearchFunc(order, below, func(f *File, p string) int { return strings.Compare(f.Path, p) })
		if i > 0 && order[i-1].Path == f.Path || next < len(order) && strings.HasPrefix(order[next].Path, below) {
			f.Err = cmp.Or(f.Err, errTwice)
		}
	}
}

// pathOf returns the Path for a name: the name itself if it is a local path, else the name escaped.
func pathOf(name string) string {
	if fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\:\x00") {
		return name
	}
	escaped := strings.ReplaceAll(url.PathEscape(name), ":", "%3A")
	switch escaped {
	case "":
		return "%"
	case ".", "..":
		return strings.ReplaceAll(escaped, ".", "%2E")
	}
	return escaped
}

// bounded limits how much of a zip is read before its central directory is.
type bounded struct {
	r    io.ReaderAt
	n    int   // bytes read
	err  error // of r
	open bool  // the directory is read: no limit any more
}

// maxBeforeOpen adds to the directory what else is read before: the end records, in two steps, and read-ahead of a buffer.
const maxBeforeOpen = maxDirectory + 128<<10

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, zip.ErrFormat
	}
	n, err := b.r.ReadAt(p, off)
	if err != nil && err != io.EOF {
		b.err = err
	}
	if b.open {
		return n, err
	}
	// archive/zip allocates for as many files as the zip64 end record states.
	if end := []byte("PK\x06\x06"); n >= 56 && bytes.HasPrefix(p, end) && binary.LittleEndian.Uint64(p[32:]) > maxDirectory/46 {
		return 0, ErrTooMany
	}
	if b.n += n; b.n > maxBeforeOpen {
		return 0, ErrTooMany
	}
	return n, err
}

// Head returns the first n bytes, or all if there are fewer.
func (f *File) Head(n int64) ([]byte, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	r, err := f.f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, min(n, f.Size)))
}

// Check reads a file to its end. It returns an error if the file cannot be read, or does not have the stated size and checksum.
func (f *File) Check() error {
	if f.Err != nil {
		return f.Err
	}
	r, err := f.f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(r, f.Size+1))
	if err == nil && n != f.Size {
		err = fmt.Errorf("it has %d bytes, not %d as stated", n, f.Size)
	}
	return err
}

// Content returns a reader of a file that Check accepts. It is meant for sequential reads: reading at a lower offset inflates the file from its
// start again. It is for one goroutine.
func (f *File) Content() *Content { return &Content{f: f} }

// Content is the bytes of a file.
type Content struct {
	f  *File
	r  io.ReadCloser
	at int64
}

// ReadAt implements io.ReaderAt.
func (c *Content) ReadAt(p []byte, off int64) (int, error) {
	if c.r == nil || off < c.at {
		c.Close()
		r, err := c.f.f.Open()
		if err != nil {
			return 0, err
		}
		c.r, c.at = r, 0
	}
	n, err := io.CopyN(io.Discard, c.r, min(off, c.f.Size)-c.at)
	if c.at += n; err != nil {
		return 0, err
	}
	short := int64(len(p)) > c.f.Size-c.at
	if short {
		p = p[:c.f.Size-c.at]
	}
	read, err := io.ReadFull(c.r, p)
	if c.at += int64(read); err == nil && short {
		err = io.EOF
	}
	return read, err
}

// Close releases the decompressor.
func (c *Content) Close() {
	if c.r != nil {
		c.r.Close()
		c.r = nil
	}
}
