package dbcopy

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Copy is a copy of a database, open for reading.
type Copy struct{ db *sql.DB }

// Open opens a copy that Snapshot made.
func Open(ctx context.Context, path string) (*Copy, error) {
	db, err := openRead(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Copy{db}, nil
}

// Close closes the copy.
func (c *Copy) Close() error { return c.db.Close() }

// ContentError is an error about what is in a database, which would be the same in any other copy of it: it is unreadable, or a table, a column or a
// value is not as the query expects.
type ContentError struct{ error }

func (e *ContentError) Unwrap() error { return e.error }

// queryError describes an error of a query, as a *ContentError where SQLite says that the content is the reason.
func queryError(what string, err error) error {
	said, ok := errors.AsType[*driver.Error](err)
	if err = fmt.Errorf("%s: %w", what, err); !ok {
		return err
	}
	switch said.Code() & 0xff {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return &ContentError{err}
	case sqlite3.SQLITE_AUTH: // see refuseComputed
		return &ContentError{fmt.Errorf("a view or virtual table instead of a table: %w", err)}
	}
	return err
}

// Part is a group of rows that are stored as one original.
type Part struct {
	Name    string // of the part
	Changed int64  // milliseconds since 1970, 0 for none; Changed and Rows together change whenever the rows do
	Rows    int64
	Key     string // argument ?1 of the queries for its rows
}

// Tables returns the names of the tables and views of a copy.
func (c *Copy) Tables(ctx context.Context) (map[string]bool, error) {
	rows, err := c.db.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	defer rows.Close()
	all := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list tables: %w", err)
		}
		all[name] = true
	}
	return all, rows.Err()
}

// Parts runs a query with the columns name, changed, rows and key, and returns a Part for each row, in order. A null changed or rows is 0.
// Rows of the same name and key are one part, for the key gives the rows of all of them.
func (c *Copy) Parts(ctx context.Context, query string) ([]Part, error) {
	rows, err := c.db.QueryContext(ctx, query)
	if err != nil {
		return nil, queryError("list parts", err)
	}
	defer rows.Close()
	var all []Part
	indexOf := map[[2]string]int{}
	for rows.Next() {
		var name, changed, count, key any
		if err := rows.Scan(&name, &changed, &count, &key); err != nil {
			return nil, queryError("list parts", err)
		}
		p := partOf(name, changed, count, key)
		id := [2]string{p.Name, p.Key}
		if i, ok := indexOf[id]; ok {
			all[i].join(p)
			continue
		}
		indexOf[id] = len(all)
		all = append(all, p)
	}
	if err := rows.Err(); err != nil {
		return nil, queryError("list parts", err)
	}
	return all, nil
}

// join makes another part of the same rows one with p.
func (p *Part) join(other Part) {
	p.Rows = checksum([4]int64{p.Changed, p.Rows, other.Changed, other.Rows})
	p.Changed = max(p.Changed, other.Changed)
}

// maxChanged is the end of the year 9999 in milliseconds.
const maxChanged = 253402300799999

// partOf returns a part of values of any type, for SQLite does not hold a column to its declared one: a single odd value must not hide all
// other parts. What is no time or no number still changes Rows.
func partOf(name, changed, count, key any) Part {
	p := Part{Name: textOf(name), Key: textOf(key)}
	var ok bool
	if p.Changed, ok = wholeNumber(changed); !ok || p.Changed < 0 || p.Changed > maxChanged {
		p.Changed, p.Rows = 0, 3*checksum(changed) // not what the same value as a number of rows gives
	}
	n, ok := wholeNumber(count)
	if !ok {
		n = checksum(count)
	}
	p.Rows += n
	return p
}

// wholeNumber returns a number without its decimals, 0 for NULL, and false for other types and numbers that do not fit.
func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case nil:
		return 0, true
	case int64:
		return v, true
	case float64:
		return int64(v), math.Abs(v) < 1<<53
	}
	return 0, false
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// checksum is a hash of a value and its type, not negative.
func checksum(v any) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%T %v", v, v)
	return int64(h.Sum64() >> 2)
}

// Write writes the rows of one part, one JSON object per line. Parameter ?1 of the queries is its key.
func (c *Copy) Write(ctx context.Context, p Part, queries []Query, w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, q := range queries {
		if err := table(ctx, c.db, q, out, []any{p.Key}); err != nil {
			return queryError("read table "+q.Name, err)
		}
	}
	return out.Flush()
}
