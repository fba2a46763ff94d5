// Package zipped reads zips that others have written: what they list, and one file after the other. It does not know what the
// files are for.
//
// Its promises: what a zip says of itself is believed only as far as it costs little. The list of its files is read up to a bound, and so
// is memory bounded; what would unpack to far more than it has is refused before anything of it is inflated; of a file no byte is given
// that it does not state to have, and Check says whether all are there, with the checksum that the list has. A name is data: Path is made of it.
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
	mostListed  = 8 << 20 // bytes of the list, of which each file takes 46 and its name; in memory it is about five times that
	longestName = 1 << 10 // bytes
	// What the files of a zip may have together: freely up to freeOutput, and up to maxRatio times what the zip has.
	freeOutput = 64 << 20
	maxRatio   = 200
)

// The errors of Open.
var (
	ErrFormat   = errors.New("it is no zip, or was not loaded to its end")
	ErrTooMany  = errors.New("the list of its files is longer than 8 MiB")
	ErrTooLarge = errors.New("its files would take more than 200 times what it has")
)

// Why a file is left out: see File.Err.
var (
	errEncrypted = errors.New("it is encrypted")
	errName      = errors.New("its name is too long")
	errTwice     = errors.New("another file, or a directory, has its name")
)

// File is a file in a zip. Directories are none.
type File struct {
	Name string // as it is written
	// Path is a path of its own, with slashes, that leads nowhere but down, and to no directory that another file lies in. Names that do not
	// are escaped as in a URL.
	Path    string
	Size    int64     // as it is stated
	ModTime time.Time // as it is stated, zero when that is no time of a file
	Err     error     // why it cannot be read: it is encrypted, or another one has its path
	f       *zip.File
}

// Open lists the files of a zip, in the order of its list. It reads nothing else. The errors are those above, or r's.
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
	in.free = true
	total, all := uint64(0), make([]File, 0, len(list.File))
	for _, f := range list.File {
		if f.UncompressedSize64 == 0 && strings.HasSuffix(f.Name, "/") {
			continue // a directory
		}
		if total += f.UncompressedSize64; total < f.UncompressedSize64 || total > max(freeOutput, maxRatio*uint64(size)) || total > math.MaxInt64 {
			return nil, ErrTooLarge
		}
		file := File{Name: f.Name, Path: pathOf(f.Name), Size: int64(f.UncompressedSize64), f: f}
		if at := f.Modified; at.Year() > 1980 && at.Year() <= 9999 { // where a zip has no time it has the first day of 1980
			file.ModTime = at
		}
		switch {
		case f.Flags&1 != 0:
			file.Err = errEncrypted
		case len(f.Name) > longestName:
			file.Err = errName
		}
		all = append(all, file)
	}
	tellApart(all)
	return all, nil
}

// tellApart leaves files out that another one stands in the way of.
func tellApart(all []File) {
	order := make([]*File, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	// The first of equal ones comes first: the sort is stable.
	slices.SortStableFunc(order, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	for i, f := range order {
		below := f.Path + "/"
		next, _ := slices.BinarySearchFunc(order, below, func(f *File, p string) int { return strings.Compare(f.Path, p) })
		if i > 0 && order[i-1].Path == f.Path || next < len(order) && strings.HasPrefix(order[next].Path, below) {
			f.Err = cmp.Or(f.Err, errTwice)
		}
	}
}

// pathOf makes a path of a name.
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

// bounded gives no more of a zip, before it is open, than a list of files may have.
type bounded struct {
	r    io.ReaderAt
	n    int
	err  error // of r
	free bool  // it is open
}

// most is what else is read of a zip before it is open: its end, in two steps, and what a buffer holds.
const most = mostListed + 128<<10

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, zip.ErrFormat
	}
	n, err := b.r.ReadAt(p, off)
	if err != nil && err != io.EOF {
		b.err = err
	}
	if b.free {
		return n, err
	}
	// The standard library makes room for as many files as the end of a large zip says that there are.
	if end := []byte("PK\x06\x06"); n >= 56 && bytes.HasPrefix(p, end) && binary.LittleEndian.Uint64(p[32:]) > mostListed/46 {
		return 0, ErrTooMany
	}
	if b.n += n; b.n > most {
		return 0, ErrTooMany
	}
	return n, err
}

// Head reads up to most first bytes.
func (f *File) Head(most int64) ([]byte, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	r, err := f.f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, min(most, f.Size)))
}

// Check reads a file to its end. The error says why it cannot be read, or is not what the zip's list says.
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
		err = fmt.Errorf("it has %d bytes where %d are stated", n, f.Size)
	}
	return err
}

// Content gives the bytes of a file that is as its Check says. It is for those who read from its start on: a step back begins
// anew, and nothing is kept. It serves one goroutine.
func (f *File) Content() *Content { return &Content{f: f} }

// Content is the bytes of a file.
type Content struct {
	f  *File
	r  io.ReadCloser
	at int64
}

// ReadAt reads as io.ReaderAt has it.
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

// Close lets go of what ReadAt keeps open.
func (c *Content) Close() {
	if c.r != nil {
		c.r.Close()
		c.r = nil
	}
}
