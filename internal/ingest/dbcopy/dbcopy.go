// Package dbcopy reads SQLite databases that other programs own: a consistent copy of one that may be in use, and
// rows of tables as JSON lines. It writes nothing beside the source, not even the files that SQLite itself would
// put there for readers.
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
	"os"
	"path/filepath"
	"slices"
	"time"

	driver "modernc.org/sqlite" // "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/disk"
)

// ErrBusy says that a database did not stand still long enough to be copied.
var ErrBusy = errors.New("database is being written")

// Malformed says of an error that SQLite cannot make sense of the database itself.
func Malformed(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

const attempts = 5

// Snapshot copies the database open as db, with its write-ahead log where there is one, into dir and returns the
// path of a single file that holds both. open opens a file beside the database by its suffix ("", "-wal").
//
// A database without a log is copied byte for byte. ErrBusy when it changed during every attempt.
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

// state is the size and time of the database, its log and its rollback journal.
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

// checkpoint moves the log of a copy into its database.
func checkpoint(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, db.Close())
}

func dsn(path, mode string) string { return disk.URI(path, "mode="+mode) }

// Query is one table to read: each row becomes a JSON object with "table" first and then the columns.
type Query struct {
	Name, SQL string
	JSON      []string // columns whose text is JSON, and is written as such where it is valid
	Packed    []string // columns whose bytes are written as the text that Unpack makes of them, where it can
	Unpack    func([]byte) ([]byte, error)
}

// Rows writes the rows of a copy, one JSON object a line. A table that does not exist gives an error; what is no
// database at all does, too.
func Rows(ctx context.Context, path string, queries []Query, w io.Writer) error {
	db, err := sql.Open("sqlite", dsn(path, "ro")+"&immutable=1&_pragma=query_only(1)")
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

// row writes one object with its columns in order. Bytes that are no text become base64, as encoding/json does.
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
		if packed, ok := values[i].([]byte); ok && slices.Contains(q.Packed, column) {
			if text, err := q.Unpack(packed); err == nil {
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

// cell is one value as JSON, on one line.
func cell(v any, isJSON bool) ([]byte, error) {
	if isJSON {
		var text []byte
		switch v := v.(type) {
		case string:
			text = []byte(v)
		case []byte: // where the column has another type
			text = v
		}
		var one bytes.Buffer
		if text != nil && json.Compact(&one, text) == nil {
			return one.Bytes(), nil
		}
	}
	return json.Marshal(v)
}
