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
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/ingest/msgpack"
	"github.com/txarchive/txarchive/internal/transcript"
)

// recordFunc is called with each record; an error ends the parse.
type recordFunc func(transcript.Record) error

// eachRecord calls fn with each record. The error is that of fn or the reader; bad content is a problem among the records.
func eachRecord(records iter.Seq2[transcript.Record, error], fn recordFunc) error {
	for record, err := range records {
		if err != nil {
			return err
		}
		if err := fn(record); err != nil {
			return err
		}
	}
	return nil
}

// inputOf returns the parser's input for a version; dir is the root of its source, slash-separated.
func inputOf(v *blob.Version, dir string, r io.Reader) format.Input {
	if _, ok := r.(interface{ Len() int }); !ok {
		r = &sizedReader{r, v.Size}
	}
	in := format.Input{Path: path.Join(dir, v.Path), Dir: dir, Role: v.Role, Size: v.Size, Reader: r}
	if v.Claim != "" {
		in.Root = path.Join(dir, v.Claim)
	}
	return in
}

// sizedReader is a reader of known length: format.ReadAll allocates its buffer at once, and rejects what is too large before reading.
type sizedReader struct {
	r    io.Reader
	left int64
}

func (s *sizedReader) Len() int { return int(max(s.left, 0)) }

func (s *sizedReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.left -= int64(n)
	return n, err
}

// rowsLayer begins the name of the layer that has a database's rows as JSON lines: "rows:<format>:<role>".
const rowsLayer = "rows:"

// Layer returns a function that opens the layer of an original which a record's Origin.Inner names: the layers of layer.Open, and the
// rows of databases.
func Layer(formats []format.Format) func(inner string, r io.Reader) (io.Reader, error) {
	return func(inner string, r io.Reader) (io.Reader, error) {
		name, ok := strings.CutPrefix(inner, rowsLayer)
		if !ok {
			return layer.Open(inner, r)
		}
		name, role, _ := strings.Cut(name, ":")
		i := slices.IndexFunc(formats, func(f format.Format) bool { return f.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown format %q", name)
		}
		e, ok := formats[i].(format.Exporter)
		if !ok {
			return nil, fmt.Errorf("format %s does not read databases", name)
		}
		pr, pw := io.Pipe()
		go func() { pw.CloseWithError(exportRows(context.Background(), e, role, r, pw)) }()
		return pr, nil
	}
}

// Compress returns a writer of a layer that Layer opens again: gzip or zstd.
func Compress(inner string, w io.Writer) (io.WriteCloser, error) { return layer.Compress(inner, w) }

// exportRows reads a database from r and writes its rows as JSON lines. An error of the database itself is a databaseError.
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
	return format.ReadAll(layer.Zstd(bytes.NewReader(frame)), format.DocumentLimit)
}

func queriesOf(all []format.Query) (queries []dbcopy.Query) {
	for _, q := range all {
		one := dbcopy.Query{Name: q.Name, SQL: q.SQL, JSON: q.JSON, Unpack: map[string]func([]byte) ([]byte, error){}}
		for _, column := range q.Zstd {
			one.Unpack[column] = unzstd
		}
		for column, message := range q.Protobuf {
			one.JSON, one.Unpack[column] = append(slices.Clip(one.JSON), column), message.JSON
		}
		for column, names := range q.Msgpack {
			one.JSON = append(slices.Clip(one.JSON), column)
			one.Unpack[column] = func(b []byte) ([]byte, error) {
				text, err := msgpack.JSON(b, names...)
				if err != nil {
					return msgpack.Bytes(b), nil
				}
				return text, nil
			}
		}
		queries = append(queries, one)
	}
	return queries
}

// databaseError is an error of SQLite about the content of a database.
type databaseError struct{ error }

func (e *databaseError) Unwrap() error { return e.error }

// parseDatabase parses the rows of the database in in.Reader, as JSON lines. What SQLite cannot read becomes a problem of the original; the
// rows before that count.
func parseDatabase(ctx context.Context, f format.Format, in format.Input, add recordFunc) error {
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
	if err := eachRecord(format.Records(f, in), func(r transcript.Record) error { return add(inLayer(r, layer)) }); err != nil {
		pr.CloseWithError(err)
		<-failed
		return err
	}
	_, drained := io.Copy(io.Discard, pr)
	err := <-failed
	if _, bad := errors.AsType[*databaseError](err); bad && ctx.Err() == nil {
		return add(&transcript.Problem{Kind: "bad database", Reason: "SQLite cannot read it: " + reason(err), Origin: transcript.Origin{Inner: layer}})
	}
	return errors.Join(err, drained, ctx.Err())
}

// inLayer sets the layer of a record's origin.
func inLayer(r transcript.Record, layer string) transcript.Record {
	if o := transcript.OriginOf(r); o != nil {
		o.Inner = layer
	}
	return r
}

// reason returns the text of the innermost error, since the outer ones may quote the path of the temporary copy.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
