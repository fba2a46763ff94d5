package dbcopy

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
)

// Copy is a copy of a database, open for reading.
type Copy struct{ db *sql.DB }

// Open opens a copy that Snapshot made.
func Open(path string) (*Copy, error) {
	db, err := sql.Open("sqlite", dsn(path, "ro")+"&immutable=1&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	return &Copy{db}, nil
}

// Close closes the copy.
func (c *Copy) Close() error { return c.db.Close() }

// Part is a group of rows that are stored as one original.
type Part struct {
	Name    string // of the part
	Changed int64  // Changed and Rows together change whenever the rows do
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
func (c *Copy) Parts(ctx context.Context, query string) ([]Part, error) {
	rows, err := c.db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("list parts: %w", err)
	}
	defer rows.Close()
	var all []Part
	for rows.Next() {
		var p Part
		var changed, count sql.NullInt64
		if err := rows.Scan(&p.Name, &changed, &count, &p.Key); err != nil {
			return nil, fmt.Errorf("list parts: %w", err)
		}
		p.Changed, p.Rows = changed.Int64, count.Int64
		all = append(all, p)
	}
	return all, rows.Err()
}

// Write writes the rows of one part, one JSON object per line. Parameter ?1 of the queries is its key.
func (c *Copy) Write(ctx context.Context, p Part, queries []Query, w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, q := range queries {
		if err := table(ctx, c.db, q, out, []any{p.Key}); err != nil {
			return fmt.Errorf("read table %s: %w", q.Name, err)
		}
	}
	return out.Flush()
}
