package ingest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/dbcopy"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parseInto hands the records of one original to a collector. The error is the reader's; what is wrong with the
// content is a problem among the records.
func (g *Ingester) parseInto(ctx context.Context, c *index.Collector, f format.Format, in format.Input, database bool) error {
	if database {
		return g.parseDatabase(ctx, c, f, in)
	}
	for record, err := range f.Parse(in) {
		if err != nil {
			return err
		}
		c.Add(record)
	}
	return nil
}

// parseDatabase gives the parser the rows of a database as JSON lines. in.Reader has the database itself.
func (g *Ingester) parseDatabase(ctx context.Context, c *index.Collector, f format.Format, in format.Input) error {
	exporter, ok := f.(format.Exporter)
	if !ok {
		return nil
	}
	dir, err := os.MkdirTemp("", "txarchive-db-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "copy.db")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, in.Reader)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	var queries []dbcopy.Query
	for _, q := range exporter.Export(in.Role) {
		queries = append(queries, dbcopy.Query{Name: q.Name, SQL: q.SQL})
	}
	pr, pw := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		err := dbcopy.Rows(ctx, path, queries, pw)
		failed <- err
		pw.Close() // what was read is parsed, whatever came after
	}()
	in.Reader = pr
	for record, err := range f.Parse(in) {
		if err != nil {
			pr.Close()
			return err
		}
		c.Add(record)
	}
	pr.Close()
	if err := <-failed; err != nil && ctx.Err() == nil && !errors.Is(err, io.ErrClosedPipe) {
		c.Add(&transcript.Problem{Kind: "bad database", Reason: "SQLite could not read it: " + reason(err)})
	}
	return ctx.Err()
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
