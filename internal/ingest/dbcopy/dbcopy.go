// Package dbcopy reads SQLite databases that other programs own: it makes a consistent copy of one that may be in use, and
// writes rows of tables as JSON lines. It writes nothing next to the source, not even the -wal and -shm files that SQLite
// creates for readers.
package dbcopy

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	driver "modernc.org/sqlite" // "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/disk"
)

// ErrBusy is returned by Snapshot if the database changed during every attempt to copy it.
var ErrBusy = errors.New("database is being written")

// Malformed reports whether an error is SQLite's SQLITE_CORRUPT or SQLITE_NOTADB: the database itself is unreadable.
func Malformed(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

const attempts = 5

// Snapshot copies a database, with its write-ahead log if there is one, into dir and returns the path of a single file that
// has the content of both. open opens a file of the database by its suffix ("", "-wal", "-journal").
//
// A database without a log is copied byte for byte. Snapshot compares sizes and times of the files before and after the copy, and returns
// ErrBusy if they changed in each of five attempts.
func Snapshot(ctx context.Context, dir string, open func(suffix string) (*os.File, error)) (string, error) {
	target := filepath.Join(dir, "copy.db")
	for range attempts {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		before, err := state(open)
		if err != nil {
			return "", err
		}
		if err := copyFile(target, "", open); err != nil {
			return "", err
		}
		wal := before[1].size > 0
		if wal {
			if err := copyFile(target+"-wal", "-wal", open); err != nil {
				return "", err
			}
		}
		after, err := state(open)
		if err != nil {
			return "", err
		}
		if before == after {
			if wal {
				return target, checkpoint(ctx, target)
			}
			return target, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", ErrBusy
}

type stat struct{ size, mtime int64 }

// state returns the sizes and times of the database, its write-ahead log and its rollback journal.
func state(open func(string) (*os.File, error)) (all [3]stat, err error) {
	for i, suffix := range []string{"", "-wal", "-journal"} {
		f, err := open(suffix)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return all, err
		}
		info, err := f.Stat()
		f.Close()
		if err != nil {
			return all, err
		}
		all[i] = stat{info.Size(), info.ModTime().UnixNano()}
	}
	return all, nil
}

func copyFile(target, suffix string, open func(string) (*os.File, error)) error {
	from, err := open(suffix)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(target, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// checkpoint moves the write-ahead log of a copy into its database file.
func checkpoint(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, db.Close())
}

func dsn(path, mode string) string { return disk.URI(path, "mode="+mode) }

// Query is a table to read: each row becomes a JSON object, whose first member is "table" with the Name, followed by the columns.
type Query struct {
	Name, SQL string
	JSON      []string // columns whose text is JSON: written as JSON where it is valid
	// Unpack has functions for columns whose bytes hold text in another form: they are written as that text, or unchanged where
	// the function fails or gives no text.
	Unpack map[string]func([]byte) ([]byte, error)
}

// Rows writes the rows of a copy, one JSON object per line. It returns an error if a table does not exist or the file is no
// database.
func Rows(ctx context.Context, path string, queries []Query, w io.Writer) error {
	db, err := openRead(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	out := bufio.NewWriter(w)
	for _, q := range queries {
		if err := table(ctx, db, q, out, nil); err != nil {
			return fmt.Errorf("read table %s: %w", q.Name, err)
		}
	}
	return out.Flush()
}

// table writes the rows of one query.
func table(ctx context.Context, db *sql.DB, q Query, out *bufio.Writer, args []any) error {
	rows, err := db.QueryContext(ctx, q.SQL, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := row(out, q, columns, values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// row writes one object with its columns in order. A []byte value becomes base64, as in encoding/json.
func row(out *bufio.Writer, q Query, columns []string, values []any) error {
	b, err := json.Marshal(q.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `{"table":%s`, b)
	for i, column := range columns {
		key, err := json.Marshal(column)
		if err != nil {
			return err
		}
		if packed, ok := values[i].([]byte); ok && q.Unpack[column] != nil {
			if text, err := q.Unpack[column](packed); err == nil && (utf8.Valid(text) || json.Valid(text)) {
				values[i] = string(text)
			}
		}
		value, err := cell(values[i], slices.Contains(q.JSON, column))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, ",%s:%s", key, value)
	}
	_, err = out.WriteString("}\n")
	return err
}

// cell returns one value as JSON, on one line. What is infinite is a number that SQLite, too, reads as infinite.
func cell(v any, isJSON bool) ([]byte, error) {
	if isJSON {
		var text []byte
		switch v := v.(type) {
		case string:
			text = []byte(v)
		case []byte: // a column that is not declared as text
			text = v
		}
		var one bytes.Buffer
		if text != nil && json.Compact(&one, text) == nil {
			return one.Bytes(), nil
		}
	}
	switch n, _ := v.(float64); {
	case math.IsInf(n, 1):
		return []byte("9e999"), nil
	case math.IsInf(n, -1):
		return []byte("-9e999"), nil
	}
	return json.Marshal(v)
}
