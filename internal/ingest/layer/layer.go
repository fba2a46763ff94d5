// Package layer opens what is inside an original: gzip, zstd, tar and zip, one in another. What it reads is data of others: it bounds how
// far that inflates, opens no path, and tells bad content from an error of the reader.
package layer

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrUnknown is returned for an unknown layer, or a member that a tar does not have.
var ErrUnknown = errors.New("no such layer")

// Open opens the layer of a stored original that an Origin's Inner names: "" is the original itself, "gzip" and "zstd"
// its inflated content, "tar:<member>" the first member of that name, "tar+gzip:<member>" that member inflated, "zip@<offset>:<name>" the file of a zip that
// begins there, "zip" all of its files, "strings:<member>.<member>" what Strings returns. A prefix "gzip+" or "zstd+" inflates the original first, as
// in "gzip+tar:<member>" and "gzip+tar+gzip:<member>". Offsets of the Origin count in the returned content. r is at its start; what it is asked to seek is an offset from there.
func Open(inner string, r io.Reader) (io.Reader, error) {
	rest := inner
	for rest != "" {
		if member, ok := strings.CutPrefix(rest, "tar:"); ok {
			return tarMember(r, member)
		}
		if member, ok := strings.CutPrefix(rest, "tar+gzip:"); ok {
			file, err := tarMember(r, member)
			if err != nil {
				return nil, err
			}
			return Gunzip(file), nil
		}
		if strings.HasPrefix(rest, zipFileLayer) {
			return zipMember(r, rest)
		}
		if path, ok := strings.CutPrefix(rest, stringsLayer); ok {
			return Strings(r, path), nil
		}
		name, more, _ := strings.Cut(rest, "+")
		switch name {
		case "gzip":
			r = Gunzip(r)
		case "zstd":
			r = Zstd(r)
		case "zip":
			r = zipContents(r)
		default:
			return nil, fmt.Errorf("open layer %q: %w", inner, ErrUnknown)
		}
		rest = more
	}
	return r, nil
}

// Compress returns a writer of a layer that Open opens: gzip or zstd.
func Compress(inner string, w io.Writer) (io.WriteCloser, error) {
	switch inner {
	case "gzip":
		return gzip.NewWriter(w), nil
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nil, fmt.Errorf("compress layer %q: %w", inner, ErrUnknown)
}

// tarMember returns the content of the first member of a name.
func tarMember(r io.Reader, name string) (io.Reader, error) {
	for file, err := range TarFiles(r) {
		if err != nil {
			return nil, err
		}
		if file.Name == name {
			return file.Reader, nil
		}
	}
	return nil, fmt.Errorf("open member %q: %w", name, ErrUnknown)
}
