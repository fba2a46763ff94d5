package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/ingest/dbcopy"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// taker takes one record after the other; its error ends the parse.
type taker func(transcript.Record) error

// takeAll hands records to a taker. The error is its own or the reader's; what is wrong with the content is a problem among the records.
func takeAll(records iter.Seq2[transcript.Record, error], take taker) error {
	for record, err := range records {
		if err != nil {
			return err
		}
		if err := take(record); err != nil {
			return err
		}
	}
	return nil
}

// inputOf is a version for its parser, dir the root of its source.
func inputOf(v *blob.Version, dir string, r io.Reader) format.Input {
	if _, ok := r.(interface{ Len() int }); !ok {
		r = &sized{r, v.Size}
	}
	in := format.Input{Path: path.Join(dir, v.Path), Dir: dir, Role: v.Role, Size: v.Size, Reader: r}
	if v.Claim != "" {
		in.Root = path.Join(dir, v.Claim)
	}
	return in
}

// sized says how much there is to read: whoever reads all of it makes room for that at once, and what is too large is not begun.
type sized struct {
	r    io.Reader
	left int64
}

func (s *sized) Len() int { return int(max(s.left, 0)) }

func (s *sized) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.left -= int64(n)
	return n, err
}

// rowsLayer is the name of the layer that the rows of a database make: "rows:<format>:<role>".
const rowsLayer = "rows:"

// Layer opens the layer of an original that a record's Origin names: those of package format, and the rows of
// databases.
func Layer(formats []format.Format) func(inner string, r io.Reader) (io.Reader, error) {
	return func(inner string, r io.Reader) (io.Reader, error) {
		name, ok := strings.CutPrefix(inner, rowsLayer)
		if !ok {
			return format.Layer(inner, r)
		}
		name, role, _ := strings.Cut(name, ":")
		i := slices.IndexFunc(formats, func(f format.Format) bool { return f.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("no format is called %q", name)
		}
		e, ok := formats[i].(format.Exporter)
		if !ok {
			return nil, fmt.Errorf("format %s reads no databases", name)
		}
		pr, pw := io.Pipe()
		go func() { pw.CloseWithError(exportRows(context.Background(), e, role, r, pw)) }()
		return pr, nil
	}
}

// Compress writes a layer of an original that Layer opens again: gzip or zstd.
func Compress(inner string, w io.Writer) (io.WriteCloser, error) { return format.Compress(inner, w) }

// exportRows writes the rows of the database that r holds as JSON lines.
func exportRows(ctx context.Context, e format.Exporter, role string, r io.Reader, w io.Writer) error {
	dir, remove, err := disk.Scratch("db")
	if err != nil {
		return err
	}
	defer remove()
	name := filepath.Join(dir, "copy.db")
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := dbcopy.Rows(ctx, name, queriesOf(e.Export(role)), w); err != nil {
		return &databaseError{err}
	}
	return nil
}

func unzstd(frame []byte) ([]byte, error) {
	return format.ReadAll(format.Zstd(bytes.NewReader(frame)), format.DocumentLimit)
}

func queriesOf(all []format.Query) (queries []dbcopy.Query) {
	for _, q := range all {
		queries = append(queries, dbcopy.Query{Name: q.Name, SQL: q.SQL, JSON: q.JSON, Packed: q.Zstd, Unpack: unzstd})
	}
	return queries
}

// databaseError is what SQLite says of a database's content.
type databaseError struct{ error }

func (e *databaseError) Unwrap() error { return e.error }

// parseDatabase gives the parser the rows of a database as JSON lines. in.Reader has the database itself. What SQLite
// cannot read is a problem of the original; the rows before it count.
func parseDatabase(ctx context.Context, f format.Format, in format.Input, take taker) error {
	e, ok := f.(format.Exporter)
	if !ok {
		return nil
	}
	pr, pw := io.Pipe()
	failed := make(chan error, 1)
	database := in.Reader
	go func() {
		failed <- exportRows(ctx, e, in.Role, database, pw)
		pw.Close()
	}()
	in.Reader = pr
	layer := rowsLayer + f.Name() + ":" + in.Role
	if err := takeAll(f.Parse(in), func(r transcript.Record) error { return take(inLayer(r, layer)) }); err != nil {
		pr.CloseWithError(err)
		<-failed
		return err
	}
	_, drained := io.Copy(io.Discard, pr)
	err := <-failed
	var bad *databaseError
	if errors.As(err, &bad) && ctx.Err() == nil {
		return take(&transcript.Problem{Kind: "bad database", Reason: "SQLite cannot read it: " + reason(err), Origin: transcript.Origin{Inner: layer}})
	}
	return errors.Join(err, drained, ctx.Err())
}

// inLayer says of a record that its place is in a layer of the original.
func inLayer(r transcript.Record, layer string) transcript.Record {
	if o := originOf(r); o != nil {
		o.Inner = layer
	}
	return r
}

// reason is the text of an error without what it may quote from a path below the temporary directory.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
