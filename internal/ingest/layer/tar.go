package layer

import (
	"archive/tar"
	"errors"
	"io"
	"iter"
)

// TarFile is one regular file of a tar archive.
type TarFile struct {
	Name   string    // as written; it is data, never a path to open
	Reader io.Reader // valid until the next file
}

// TarFiles yields the regular files of a tar archive. An error is about the archive if IsContent reports so, else it is
// r's; either ends the sequence.
func TarFiles(r io.Reader) iter.Seq2[TarFile, error] {
	return func(yield func(TarFile, error) bool) {
		in := &counter{r: r}
		files := tar.NewReader(in)
		for {
			header, err := files.Next()
			if err == io.EOF && in.n > 0 {
				// Read on: a compressed layer below has its checksum at the end.
				if _, err := io.Copy(io.Discard, in); err != nil {
					yield(TarFile{}, tarError(in, err))
				}
				return
			}
			if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
				yield(TarFile{}, tarError(in, err))
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

// tarContent reads the content of one file.
type tarContent struct {
	in    *counter
	files *tar.Reader
}

func (c *tarContent) Read(p []byte) (int, error) {
	n, err := c.files.Read(p)
	if err != nil && err != io.EOF {
		err = tarError(c.in, err)
	}
	return n, err
}

func tarError(in *counter, err error) error {
	switch {
	case in.err != nil:
		return in.err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return &ContentError{"tar", err}
}
