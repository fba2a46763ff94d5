package layer

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Limits of decompression: any ratio up to freeOutput bytes, then maxRatio times the bytes read, and
// never more than maxOutput. Real transcripts stay below a ratio of 100.
const (
	freeOutput = 64 << 20
	maxRatio   = 1000
	maxOutput  = 64 << 30
)

// isImplausible reports whether so many bytes inflate to more than the ratio allows.
func isImplausible(out, in int64) bool { return out > freeOutput && out/maxRatio > in }

// ErrTooLarge is returned for content that exceeds a limit, or inflates by an implausible ratio.
var ErrTooLarge = errors.New("content is too large")

// ContentError is an error in the content of a layer (not gzip, truncated, bad checksum) and not of the underlying reader:
// a parser reports it as a problem and does not return it.
type ContentError struct {
	Layer string // gzip, zstd or tar
	Err   error
}

func (e *ContentError) Error() string { return e.Layer + ": " + e.Err.Error() }

// Unwrap returns the error of the decoder.
func (e *ContentError) Unwrap() error { return e.Err }

// IsContent reports whether err is about the content of an original (a ContentError or ErrTooLarge) and not
// about reading it.
func IsContent(err error) bool {
	_, content := errors.AsType[*ContentError](err)
	return content || errors.Is(err, ErrTooLarge)
}

// Gunzip returns a reader that inflates gzip of one or several members. It returns a *ContentError for bad content, which an empty r is
// as well, ErrTooLarge for content beyond the limits, and errors of r unchanged.
func Gunzip(r io.Reader) io.Reader {
	return &inflater{layer: "gzip", in: counter{r: r}, open: func(r io.Reader) (io.Reader, error) {
		return gzip.NewReader(bufio.NewReaderSize(r, 32<<10))
	}}
}

// Zstd is like Gunzip, for zstd frames.
func Zstd(r io.Reader) io.Reader {
	return &inflater{layer: "zstd", in: counter{r: r}, open: func(r io.Reader) (io.Reader, error) { return newZstd(r) }}
}

// newZstd returns a decoder. A concurrency of one starts no goroutines, which would have to be closed.
func newZstd(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
}

// counter counts the bytes read and remembers the error of the reader.
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

// inflater reads from a decoder, opened at the first Read, and applies the limits.
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
			z.err = z.wrapError(z.err)
			return 0, z.err
		}
	}
	n, err := z.out.Read(p)
	z.n += int64(n)
	switch {
	case z.n > maxOutput, isImplausible(z.n, z.in.n):
		z.err = fmt.Errorf("%s: %w", z.layer, ErrTooLarge)
	case err == io.EOF && z.in.n == 0:
		z.err = z.wrapError(io.ErrUnexpectedEOF)
	case err == io.EOF:
		z.err = io.EOF
	case err != nil:
		z.err = z.wrapError(err)
	}
	return n, z.err
}

// wrapError returns the error of the underlying reader if there is one, else err as a ContentError.
func (z *inflater) wrapError(err error) error {
	switch {
	case z.in.err != nil:
		return z.in.err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return &ContentError{z.layer, err}
}
