package format

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// DocumentLimit is the largest document, in bytes, that a parser should read whole: with what is noted of it, and what it says, it takes
// three times that.
const DocumentLimit = 128 << 20

// What a compressed original may grow to: freely up to freeOutput, then up to maxRatio times what was read, and
// never beyond maxOutput. Real transcripts stay under a ratio of 100.
const (
	freeOutput = 64 << 20
	maxRatio   = 1000
	maxOutput  = 64 << 30
)

// ErrTooLarge says that content is larger than a limit, or grows by more than any honest compression.
var ErrTooLarge = errors.New("content is too large")

// ContentError is an error of a layer's content (not gzip, cut off, bad checksum) and not of the reader below it:
// for a parser it is a problem to report, not an error to return.
type ContentError struct {
	Layer string // gzip, zstd or tar
	Err   error
}

func (e *ContentError) Error() string { return e.Layer + ": " + e.Err.Error() }

// Unwrap gives the error of the decoder.
func (e *ContentError) Unwrap() error { return e.Err }

// IsContent reports whether err is about the content of an original (a ContentError or ErrTooLarge) and not
// about reading it.
func IsContent(err error) bool {
	if err == nil {
		return false
	}
	var c *ContentError
	return errors.As(err, &c) || errors.Is(err, ErrTooLarge)
}

// Gunzip inflates gzip of one or several members. Bad content gives a *ContentError, also when r is empty; content
// that inflates without measure gives ErrTooLarge; errors of r come as they are.
func Gunzip(r io.Reader) io.Reader {
	return &inflater{layer: "gzip", in: counter{r: r}, open: func(r io.Reader) (io.Reader, error) {
		return gzip.NewReader(bufio.NewReaderSize(r, 32<<10))
	}}
}

// Zstd is Gunzip for zstd frames.
func Zstd(r io.Reader) io.Reader {
	return &inflater{layer: "zstd", in: counter{r: r}, open: func(r io.Reader) (io.Reader, error) {
		// One at a time: no goroutines that would have to be ended.
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	}}
}

// counter counts what is read and keeps the reader's own error.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

type inflater struct {
	layer string
	in    counter
	open  func(io.Reader) (io.Reader, error)
	out   io.Reader
	n     int64
	err   error
}

func (z *inflater) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	if z.out == nil {
		if z.out, z.err = z.open(&z.in); z.err != nil {
			z.err = z.blame(z.err)
			return 0, z.err
		}
	}
	n, err := z.out.Read(p)
	z.n += int64(n)
	switch {
	case z.n > maxOutput || z.n > freeOutput && z.n/maxRatio > z.in.n:
		z.err = fmt.Errorf("%s: %w", z.layer, ErrTooLarge)
	case err == io.EOF && z.in.n == 0:
		z.err = z.blame(io.ErrUnexpectedEOF)
	case err == io.EOF:
		z.err = io.EOF
	case err != nil:
		z.err = z.blame(err)
	}
	return n, z.err
}

// blame tells an error of the source from one of the content.
func (z *inflater) blame(err error) error {
	switch {
	case z.in.err != nil:
		return z.in.err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return &ContentError{z.layer, err}
}

// ReadAll reads r to its end, or gives ErrTooLarge when that lies beyond limit bytes. With any other error comes what was read before it.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	if known, ok := r.(interface{ Len() int }); ok { // in memory: no room need be found step by step
		if int64(known.Len()) > limit {
			return nil, ErrTooLarge
		}
		b := make([]byte, known.Len())
		_, err := io.ReadFull(r, b)
		return b, err
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return b, err
	}
	if int64(len(b)) > limit {
		return nil, ErrTooLarge
	}
	return b, nil
}

// TarFile is one regular file of a tar archive.
type TarFile struct {
	Name   string    // as written: data, never a path to open
	Reader io.Reader // valid until the next file
}

// TarFiles yields the regular files of a tar archive. An error that IsContent is about the archive, others are
// r's; either ends the sequence.
func TarFiles(r io.Reader) iter.Seq2[TarFile, error] {
	return func(yield func(TarFile, error) bool) {
		in := &counter{r: r}
		files := tar.NewReader(in)
		for {
			header, err := files.Next()
			if err == io.EOF && in.n > 0 {
				// A layer below has its checksum behind the last file.
				if _, err := io.Copy(io.Discard, in); err != nil {
					yield(TarFile{}, blameTar(in, err))
				}
				return
			}
			if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
				yield(TarFile{}, blameTar(in, err))
				return
			}
			if header.Typeflag != tar.TypeReg {
				continue
			}
			if !yield(TarFile{header.Name, &tarContent{in, files}}, nil) {
				return
			}
		}
	}
}

type tarContent struct {
	in    *counter
	files *tar.Reader
}

func (c *tarContent) Read(p []byte) (int, error) {
	n, err := c.files.Read(p)
	if err != nil && err != io.EOF {
		err = blameTar(c.in, err)
	}
	return n, err
}

func blameTar(in *counter, err error) error {
	switch {
	case in.err != nil:
		return in.err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return &ContentError{"tar", err}
}
