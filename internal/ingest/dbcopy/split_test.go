package dbcopy

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestParts splits a database in use, whose last rows are in its write-ahead log only.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	live := filepath.Join(dir, "live.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(live))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, query := range []string{
		"PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0",
		"CREATE TABLE note (id text, of text, at integer, data text, raw blob)",
		`INSERT INTO note VALUES ('1', 'a', 5, '{"x":  1}', x'00ff'), ('2', 'b', NULL, 'no json', NULL), ('3', 'a', 7, '["two` + "\n" + `lines"]', NULL), ('4', 'a', 6, NULL, NULL), ('5', 'a', 4, CAST('{"y": [2]}' AS blob), NULL)`,
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(query, err)
		}
	}
	path, err := Snapshot(context.Background(), t.TempDir(), func(suffix string) (*os.File, error) { return os.Open(live + suffix) })
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	parts, err := c.Parts(context.Background(), "SELECT of || '/all', max(at), count(*), of FROM note GROUP BY of ORDER BY of")
	if err != nil {
		t.Fatal(err)
	}
	if want := []Part{{"a/all", 7, 4, "a"}, {"b/all", 0, 1, "b"}}; !slices.Equal(parts, want) {
		t.Fatalf("parts %+v, want %+v", parts, want)
	}
	queries := []Query{{Name: "note", SQL: "SELECT id, data, raw FROM note WHERE of = ?1 ORDER BY id", JSON: []string{"data"}}}
	for i, want := range []string{
		// A string may hold no line feed: that row is no JSON and stays text.
		`{"table":"note","id":"1","data":{"x":1},"raw":"AP8="}` + "\n" +
			`{"table":"note","id":"3","data":"[\"two\nlines\"]","raw":null}` + "\n" +
			`{"table":"note","id":"4","data":null,"raw":null}` + "\n" +
			`{"table":"note","id":"5","data":{"y":[2]},"raw":null}` + "\n",
		`{"table":"note","id":"2","data":"no json","raw":null}` + "\n",
	} {
		var got bytes.Buffer
		if err := c.Write(context.Background(), parts[i], queries, &got); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("part %s:\n got %s\nwant %s", parts[i].Name, got.String(), want)
		}
	}
	if _, err := c.Parts(context.Background(), "SELECT 1, 2, 3, 4 FROM nowhere"); err == nil {
		t.Error("no error for a table that does not exist")
	}
}

// TestPackedRow writes packed columns: what they hold if that is text, else their own bytes, so that none are lost.
func TestPackedRow(t *testing.T) {
	unpack := func(b []byte) ([]byte, error) {
		if !bytes.HasPrefix(b, []byte("z")) {
			return nil, errors.New("not packed")
		}
		return b[1:], nil
	}
	q := Query{Name: "note", JSON: []string{"data"}, Unpack: map[string]func([]byte) ([]byte, error){"data": unpack}}
	for packed, want := range map[string]string{
		`z{"a": 1}`: `{"a":1}`, "zplain": `"plain"`, "z{\"a\": \"\xff\"}": "{\"a\":\"\xff\"}", "z{\xff": `"env/"`, `{"b": 2}`: `{"b":2}`, "torn": `"dG9ybg=="`,
	} {
		var got bytes.Buffer
		out := bufio.NewWriter(&got)
		if err := row(out, q, []string{"data"}, []any{[]byte(packed)}); err != nil {
			t.Fatal(err)
		}
		out.Flush()
		if want = `{"table":"note","data":` + want + "}\n"; got.String() != want {
			t.Errorf("%q: %q, want %q", packed, got.String(), want)
		}
	}
}

// TestInfiniteRow writes numbers that JSON has no name for, as SQLite itself does: one of them must not keep all other rows out of the archive.
func TestInfiniteRow(t *testing.T) {
	var got bytes.Buffer
	out := bufio.NewWriter(&got)
	if err := row(out, Query{Name: "note"}, []string{"at", "ago", "of"}, []any{math.Inf(1), math.Inf(-1), 1.5}); err != nil {
		t.Fatal(err)
	}
	out.Flush()
	if want := `{"table":"note","at":9e999,"ago":-9e999,"of":1.5}` + "\n"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}

// TestPartsOfAnything lists parts whose columns have values of any type: each is listed, and a change of any of them shows.
func TestPartsOfAnything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := &Copy{db}
	odd := []string{"NULL", "7", "-7", "7.5", "1e300", "9e999", "-9e999", "9223372036854775807", "'7'", "''", "'[]'", "x'07'", "x''"}
	seen := map[Part]string{}
	for _, changed := range odd {
		for _, rows := range odd {
			parts, err := c.Parts(t.Context(), "SELECT 'all', "+changed+", "+rows+", 'k'")
			if err != nil || len(parts) != 1 || parts[0].Changed < 0 || parts[0].Changed > maxChanged {
				t.Fatalf("%s, %s: %+v, %v", changed, rows, parts, err)
			}
			if other, ok := seen[parts[0]]; ok && !(changed == "7.5" || rows == "7.5" || other == "7.5") { // decimals are dropped
				t.Errorf("%s, %s is what %s was", changed, rows, other)
			}
			if seen[parts[0]] = changed + ", " + rows; changed == "7.5" || rows == "7.5" {
				seen[parts[0]] = "7.5"
			}
		}
		parts, err := c.Parts(t.Context(), "SELECT "+changed+", 1, 1, "+changed)
		if err != nil || len(parts) != 1 || parts[0].Name != parts[0].Key {
			t.Errorf("%s as a name: %+v, %v", changed, parts, err)
		}
	}
	for query, want := range map[string]bool{"SELECT nothing": true, "SELECT * FROM nowhere": true, "SELECT json_array(x'ff00fe'), 1, 1, 1": true} {
		if _, err := c.Parts(t.Context(), query); ofContent(err) != want {
			t.Errorf("%s: %v", query, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.Parts(stopped, "SELECT 1, 1, 1, 1"); err == nil || ofContent(err) {
		t.Errorf("stopped: %v", err)
	}
}

// TestPartsOfOneName lists rows of the same name and key, as a table has them that lost its index of the ids: they are one part, and a change of
// any of them shows.
func TestPartsOfOneName(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "twice.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := &Copy{db}
	seen := map[Part]string{}
	for _, second := range []string{"5, 1", "5, 2", "9, 1", "NULL, 1"} {
		parts, err := c.Parts(t.Context(), "SELECT 'a', 7, 1, 'k' UNION ALL SELECT 'b', 7, 1, 'l' UNION ALL SELECT 'a', "+second+", 'k' UNION ALL SELECT 'a', 7, 1, 'other'")
		if err != nil || len(parts) != 3 || parts[0].Changed < 7 || parts[0].Key != "k" || parts[1].Key != "l" || parts[2].Key != "other" {
			t.Fatalf("%s: %+v, %v", second, parts, err)
		}
		if other, ok := seen[parts[0]]; ok {
			t.Errorf("%s is what %s was", second, other)
		}
		seen[parts[0]] = second
	}
}

func ofContent(err error) bool {
	_, ok := errors.AsType[*ContentError](err)
	return ok
}

// TestComputed: a view in the place of a table is not read, nor a view through which another would be, nor a virtual table; and no value
// that is made up.
func TestComputed(t *testing.T) {
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'a' AS of, i AS at FROM n"
	for _, schema := range []string{
		"CREATE VIEW note AS " + numbers,
		"CREATE VIEW other AS " + numbers + "; CREATE VIEW Note AS SELECT * FROM other",
		"CREATE VIRTUAL TABLE note USING fts5(of, at)",
		"CREATE TABLE note (of, at AS (zeroblob(200000000 + length(of)))); INSERT INTO note VALUES ('a')",
	} {
		path := filepath.Join(t.TempDir(), "copy.db")
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(schema)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		c, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		parts, err := c.Parts(ctx, "SELECT of, max(octet_length(at || '')), count(*), of FROM note GROUP BY of")
		cancel()
		if _, ok := errors.AsType[*ContentError](err); !ok {
			t.Errorf("%s: %v, %v", schema, parts, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
