package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/console"
)

// asked runs a statement and prints its rows as text.
func asked(ctx context.Context, db *DB, q index.Question) (columns []string, rows []string, err error) {
	err = db.Query(ctx, q, func(c []string) error { columns = c; return nil }, func(v []any) error {
		rows = append(rows, strings.TrimSuffix(fmt.Sprintln(v...), "\n"))
		return nil
	})
	return columns, rows, err
}

func TestConsoleReads(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct{ sql, columns, rows string }{
		{"SELECT 1 AS a, 'x;y' AS b; -- done", "a b", "1 x;y"},
		{"/* ; */ SELECT count(*) n FROM v_runs WHERE 1=0 ;;", "n", "0"},
		{"SELECT 1 AS a WHERE 0", "a", ""},
		{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3) SELECT i FROM n", "i", "1|2|3"},
		{"SELECT name FROM pragma_table_info('verdicts')", "name", "id|name"},
		{"PRAGMA user_version", "user_version", "0"},
		{"SELECT count(*) AS n FROM fts WHERE fts MATCH 'nothing'", "n", "0"},
		{"SELECT value FROM json_each('[1,2]')", "value", "1|2"},
		{"SELECT x'00ff' AS b, 1.5 AS f, NULL AS n", "b f n", "[0 255] 1.5 <nil>"},
	} {
		columns, rows, err := asked(t.Context(), db, index.Question{SQL: c.sql})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
		}
		if got := strings.Join(columns, " "); got != c.columns {
			t.Errorf("%s: columns %s, want %s", c.sql, got, c.columns)
		}
		if got := strings.Join(rows, "|"); got != c.rows {
			t.Errorf("%s: rows %s, want %s", c.sql, got, c.rows)
		}
	}
}

func TestConsoleRefuses(t *testing.T) {
	db := newDB(t)
	out := filepath.Join(t.TempDir(), "out")
	before := schemaOf(t, db)
	for _, sql := range []string{
		"INSERT INTO terms (words) VALUES (x'00')", "UPDATE names SET name = 'x'", "DELETE FROM verdicts", "DROP TABLE packs", "DROP VIEW v_runs",
		"CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)", "CREATE TEMP VIEW t AS SELECT 1", "CREATE VIRTUAL TABLE t USING fts5(a)",
		"ALTER TABLE packs RENAME TO p", "REINDEX", "ANALYZE", "VACUUM", "VACUUM INTO '" + out + "'",
		"ATTACH '" + out + "' AS o", "ATTACH ':memory:' AS o", "DETACH main", "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT s",
		"PRAGMA journal_mode = DELETE", "PRAGMA query_only = 0", "PRAGMA user_version = 7", "PRAGMA writable_schema = 1", "PRAGMA journal_mode",
		"PRAGMA temp_store_directory = '/'", "PRAGMA mmap_size = 0", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA hard_heap_limit = 1", "PRAGMA trusted_schema = 1",
		"SELECT * FROM pragma_journal_mode", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('" + out + "', 'x')", "SELECT edit('x')",
		"SELECT * FROM sqlite_dbpage", "SELECT * FROM main.\"SQLITE_DBPAGE\"", "SELECT * FROM dbstat", "SELECT * FROM sqlite_stmt",
		"SELECT fts3_tokenizer('x')", "INSERT INTO fts (fts) VALUES ('optimize')", "EXPLAIN DELETE FROM packs",
		"SELECT 1; SELECT 2", "SELECT 1; DROP TABLE packs", "", " -- nothing\n;",
	} {
		_, rows, err := asked(t.Context(), db, index.Question{SQL: sql})
		var e *index.SQLError
		if !errors.As(err, &e) || e.Message == "" {
			t.Errorf("%q gave %v and %v", sql, rows, err)
		}
		if testing.Verbose() {
			t.Logf("%s: %v", sql, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a statement wrote a file")
	}
	if after := schemaOf(t, db); after != before {
		t.Errorf("the index has changed:\n%s\nwas\n%s", after, before)
	}
}

func schemaOf(t *testing.T, db *DB) string {
	t.Helper()
	var b strings.Builder
	var names []string
	if err := db.r.Select(&names, "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1"); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, names)
	for _, table := range []string{"verdicts", "names", "terms", "packs"} {
		var n int
		if err := db.r.Get(&n, "SELECT count(*) FROM "+table); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, table, n)
	}
	return b.String()
}

func TestConsoleErrorsHaveAPlace(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct {
		sql          string
		line, column int
		says         string
	}{
		{"SELECT 1 FORM x", 1, 15, "syntax error"},
		{"SELECT\n  'ü', nope\nFROM v_runs", 2, 8, "no such column: nope"},
		{"SELECT * FROM nowhere", 0, 0, "no such table: nowhere"},
		{"SELECT nofun(1)", 1, 8, "no such function: nofun"},
		{"SELECT 1; SELECT 2", 1, 11, "one statement"},
		{"SELECT \"quoted\"", 1, 8, "no such column"},
	} {
		_, _, err := asked(t.Context(), db, index.Question{SQL: c.sql})
		var e *index.SQLError
		if !errors.As(err, &e) || e.Line != c.line || e.Column != c.column || !strings.Contains(e.Message, c.says) {
			t.Errorf("%q: %v", c.sql, err)
		}
	}
}

func TestConsoleLimits(t *testing.T) {
	db := newDB(t)
	const forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT "
	for _, c := range []struct {
		q    index.Question
		rows int
	}{
		{index.Question{SQL: forever + "i FROM n", Rows: 10}, 10},
		{index.Question{SQL: forever + "count(*) FROM n", Time: 50 * time.Millisecond}, 0},
		{index.Question{SQL: "SELECT length(zeroblob(17000000))"}, 0},
		{index.Question{SQL: "SELECT length(printf('%.*c', 17000000, 'x'))"}, 0},
		{index.Question{SQL: forever + "length(group_concat(printf('%.*c', 100000, 'x'))) FROM (SELECT 1 FROM n LIMIT 1000)"}, 0},
		{index.Question{SQL: "SELECT '" + strings.Repeat("x", 2<<20) + "'"}, 0},
		{index.Question{SQL: "SELECT instr(printf('%.*c', 4000000, 'x'), printf('%.*c', 4000, 'x') || 'y')", Time: 50 * time.Millisecond}, 0}, // one step
		{index.Question{SQL: forever + "i FROM n", Rows: 10}, 10},
	} {
		start := time.Now()
		_, rows, err := asked(t.Context(), db, c.q)
		if !errors.Is(err, index.ErrLimit) || len(rows) != c.rows {
			t.Errorf("%.80s: %d rows, %v", c.q.SQL, len(rows), err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%.80s took %v", c.q.SQL, d)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(30*time.Millisecond, cancel)
	start := time.Now()
	if _, _, err := asked(ctx, db, index.Question{SQL: forever + "count(*) FROM n"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled query: %v", err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %v to stop", d)
	}
	if _, rows, err := asked(t.Context(), db, index.Question{SQL: "SELECT 1"}); err != nil || len(rows) != 1 {
		t.Errorf("after a cancelled query: %v %v", rows, err)
	}
	stop := errors.New("stop")
	if err := db.Query(t.Context(), index.Question{SQL: "SELECT 1"}, func([]string) error { return stop }, nil); err != stop {
		t.Errorf("a consumer that stops: %v", err)
	}
}

// TestConsoleMemory: what aggregates collect, and a row of many long values, is bounded before it is a value.
func TestConsoleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SQLite has an allocator of its own")
	}
	db := newDB(t)
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 100) SELECT "
	for _, sql := range []string{
		numbers + "json_group_array(hex(zeroblob(4000000))) FROM n",
		numbers + "jsonb_group_array(hex(zeroblob(4000000))) FROM n",
		numbers + "json_group_object(i, hex(zeroblob(4000000))) FROM n",
		"SELECT " + strings.Repeat("hex(zeroblob(8000000)), ", 99) + "1",
	} {
		_, rows, err := asked(t.Context(), db, index.Question{SQL: sql})
		if !errors.Is(err, index.ErrLimit) || !strings.Contains(err.Error(), "128 MiB") || len(rows) > 0 {
			t.Errorf("%.120s: %d rows, %v", sql, len(rows), err)
		}
	}
	for range 70 { // what one has taken, 2 MB, is not missed by the next
		_, rows, err := asked(t.Context(), db, index.Question{SQL: "SELECT length(json_group_array(value)) FROM (SELECT hex(zeroblob(1000000)) AS value UNION ALL SELECT 1)"})
		if err != nil || fmt.Sprint(rows) != "[2000006]" {
			t.Fatal(rows, err)
		}
	}
}

func TestConsoleFunctions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db, err := Open(t.Context(), path, Options{Text: func(ctx context.Context, kind, id string) (string, error) {
		switch id {
		case "missing":
			return "", fmt.Errorf("event %s: %w", id, index.ErrNotFound)
		case "panic":
			panic("at the disco")
		case "error":
			return "", errors.New("pack is gone")
		case "slow":
			<-ctx.Done()
			return "", ctx.Err()
		case "big":
			return strings.Repeat("x", console.MaxValue+1), nil
		}
		return kind + " of " + id, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct{ sql, rows, err string }{
		{"SELECT event_text('c:1'), event_json('c:1'), receipt_json('r'), call_input('c:1'), call_output('c:1')",
			"event_text of c:1 event_json of c:1 receipt_json of r call_input of c:1 call_output of c:1", ""},
		{"SELECT event_text(NULL), event_text('missing')", "<nil> <nil>", ""},
		{"SELECT event_text('panic')", "", "internal error"},
		{"SELECT event_text('error')", "", "pack is gone"},
		{"SELECT event_text('big')", "", "over"},
		{"SELECT event_text(1)", "", "an id must be text"},
		{"SELECT event_text('slow')", "", "limit reached"},
	} {
		limit := time.Minute
		if c.err == "limit reached" {
			limit = 200 * time.Millisecond
		}
		_, rows, err := asked(t.Context(), db, index.Question{SQL: c.sql, Time: limit})
		if strings.Join(rows, "|") != c.rows || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", c.sql, rows, err)
		}
	}
	var n int
	if err := db.r.Get(&n, "SELECT event_text('c:1')"); err == nil {
		t.Error("the function is registered outside of the console")
	}
}

// Whatever is asked, nothing is written: the file keeps every byte, and no other appears.
func FuzzConsole(f *testing.F) {
	for _, sql := range []string{
		"SELECT * FROM v_runs", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n", "DELETE FROM packs", "ATTACH 'x' AS y",
		"PRAGMA query_only=0", "SELECT zeroblob(1e9), printf('%.*c', 1e9, 'x')", "INSERT INTO fts(fts) VALUES('delete-all')", "/*", "SELECT ?1, :a, @b",
		"SELECT event_text('x'), load_extension('y')", "EXPLAIN QUERY PLAN SELECT 1", "VACUUM INTO 'z'", "SELECT * FROM fts WHERE fts MATCH '\"'", "\x00",
	} {
		f.Add(sql)
	}
	db := newDB(f)
	dir := filepath.Dir(db.Path())
	was := filesOf(f, dir)
	f.Fuzz(func(t *testing.T, sql string) {
		_, _, err := asked(t.Context(), db, index.Question{SQL: sql, Rows: 100, Time: 2 * time.Second})
		var e *index.SQLError
		if err != nil && !errors.As(err, &e) && !errors.Is(err, index.ErrLimit) {
			t.Errorf("%q: an error of no kind: %v", sql, err)
		}
		if now := filesOf(t, dir); now != was {
			t.Fatalf("%q has changed files:\n%s\nwere\n%s", sql, now, was)
		}
	})
}

// filesOf says what lies in a directory, with the content of the database. The memory that connections share may change.
func filesOf(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), "-shm") {
			data = nil
		}
		fmt.Fprintf(&b, "%s %x\n", e.Name(), sha256.Sum256(data))
	}
	return b.String()
}

// TestConsoleSpare: a value that a statement does not ask for is most likely one that was meant for another name.
func TestConsoleSpare(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct{ sql, rows, wrong string }{
		{"SELECT :name, @name, $name", "x x x", ""},
		{"SELECT '(:name)', :größe_2", "", `no parameter "name"`},
		{"SELECT 1 /* :name */ -- :name", "", `no parameter "name"`},
		{"SELECT :Name", "", `no parameter "name"`},
		{"SELECT 'it''s', \"seq\" = :name FROM (SELECT 'x' AS seq)", "it's 1", ""},
	} {
		given := map[string]any{"name": "x"}
		_, rows, err := asked(t.Context(), db, index.Question{SQL: c.sql, Params: given})
		var wrong *index.SQLError
		if got := strings.Join(rows, "|"); got != c.rows || (c.wrong == "") != (err == nil) || err != nil && (!errors.As(err, &wrong) || !strings.Contains(wrong.Message, c.wrong)) {
			t.Errorf("%s: %s, %v", c.sql, got, err)
		}
	}
	if _, rows, err := asked(t.Context(), db, index.Question{SQL: "SELECT 1", Params: map[string]any{"name": "x"}, AllowUnused: true}); err != nil || len(rows) != 1 {
		t.Errorf("with a value to spare: %v, %v", rows, err)
	}
}
