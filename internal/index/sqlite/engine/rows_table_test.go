package engine

import (
	"bytes"
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	driver "modernc.org/sqlite"
)

// tableConn opens a connection with the virtual table of ExecRows.
func tableConn(t *testing.T) *CachingConn {
	t.Helper()
	c, err := cachingConnector{TableConnector(new(driver.Driver), filepath.Join(t.TempDir(), "given.db")), 8}.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cached := c.(*CachingConn)
	t.Cleanup(func() {
		if err := cached.Close(); err != nil {
			t.Error(err)
		}
	})
	return cached
}

func valuesOf(t *testing.T, all ...any) (values []Value) {
	t.Helper()
	for _, v := range all {
		value, ok := ValueOf(v)
		if !ok {
			t.Fatalf("%T is no value", v)
		}
		values = append(values, value)
	}
	return values
}

func run(t *testing.T, c *CachingConn, text string) {
	t.Helper()
	if err := c.Run(t.Context(), text, nil); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func next(rows sqldriver.Rows, to []any) error {
	values := make([]sqldriver.Value, len(to))
	err := rows.Next(values)
	for i, v := range values {
		to[i] = v
	}
	return err
}

// TestExecRows inserts rows of values of every kind and length on two connections in turn, and compares them with rows that
// were inserted with bound values.
func TestExecRows(t *testing.T) {
	long := strings.Repeat("long ", 200_000)
	rows := [][]any{
		{int64(1), "text", []byte("bytes"), 1.5},
		{int64(2), nil, nil, nil},
		{int64(3), "", []byte{}, 0.0},
		{int64(4), long, []byte(long), -1.0},
		{int64(5), "a\x00b\xff", []byte{0, 1, 2}, 1e300},
		{int64(6), []byte(nil), long[:maxKeptBuffer], int64(-1 << 63)},
	}
	var connections [2]*CachingConn
	for i := range connections {
		connections[i] = tableConn(t)
		run(t, connections[i], "CREATE TABLE x (a INTEGER PRIMARY KEY, b, c, d)")
		run(t, connections[i], "CREATE INDEX x_b ON x (b, c)")
	}
	for slab := range 3 {
		for i, c := range connections {
			var values []Value
			for _, r := range rows {
				values = append(values, valuesOf(t, r[0].(int64)+int64(100*slab+1000*i), r[1], r[2], r[3])...)
			}
			if err := c.ExecRows(t.Context(), "INSERT INTO x (a, d, c, b) SELECT c0, c3, c2, c1 FROM given(?)", 4, values); err != nil {
				t.Fatal(err)
			}
			if c.rows.size > maxKeptBuffer {
				t.Errorf("%d bytes are kept", c.rows.size)
			}
		}
	}
	for i, c := range connections {
		got, err := c.QueryContext(t.Context(), "SELECT a, b, c, d FROM x ORDER BY a", nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 * len(rows) {
			want := rows[n%len(rows)]
			have := make([]any, 4)
			if err := next(got, have); err != nil {
				t.Fatal(err)
			}
			if id := want[0].(int64) + int64(100*(n/len(rows))+1000*i); have[0] != id {
				t.Fatalf("row %v, want %d", have[0], id)
			}
			for k := 1; k < 4; k++ {
				if b, ok := want[k].([]byte); ok && b != nil {
					if g, ok := have[k].([]byte); !ok || !bytes.Equal(g, b) {
						t.Errorf("row %v, column %d: %T of %d bytes", have[0], k, have[k], len(g))
					}
				} else if ok {
					want[k] = nil
				}
				if _, ok := want[k].([]byte); !ok && have[k] != want[k] {
					t.Errorf("row %v, column %d: %.40v, want %.40v", have[0], k, have[k], want[k])
				}
			}
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
		run(t, c, "PRAGMA integrity_check")
	}
}

// TestExecRowsFails fails in the middle of a row, and reads the table outside of ExecRows.
func TestExecRowsFails(t *testing.T) {
	c := tableConn(t)
	run(t, c, "CREATE TABLE x (a INTEGER PRIMARY KEY, b TEXT NOT NULL) STRICT")
	insert := "INSERT OR FAIL INTO x (a, b) SELECT c0, c1 FROM given(?)"
	for _, bad := range []any{nil, []byte("bytes")} {
		if err := c.ExecRows(t.Context(), insert, 2, valuesOf(t, 1, "a", 2, bad, int64(3), "c")); Code(err) != 19 {
			t.Errorf("%v in a column of texts: %v", bad, err)
		}
		run(t, c, "DELETE FROM x")
	}
	if err := c.ExecRows(t.Context(), insert, 2, valuesOf(t, 1, "a", int64(2), "b")); err != nil {
		t.Error(err)
	}
	for _, statement := range []string{
		"INSERT INTO x SELECT c0, c1 FROM given(4711)", "INSERT INTO x SELECT c0, c1 FROM given", "SELECT c0 FROM given(NULL)", "CREATE VIRTUAL TABLE y USING given"} {
		if err := c.Run(context.Background(), statement, nil); err == nil {
			t.Errorf("%s: no error", statement)
		}
	}
	// Outside of ExecRows the table is empty, even for a known number.
	rows, err := c.QueryContext(t.Context(), fmt.Sprintf("SELECT c0 FROM given(%d)", c.rows.number), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if err := next(rows, make([]any, 1)); err == nil {
		t.Error("rows that were given before")
	}
}
