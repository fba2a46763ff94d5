package write

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the schema of new files anew instead of comparing with it")

const schemaFile = "../../../../migrations/sqlite.sql"

// TestSchemaOfNewFiles: the schema that a new file gets at once is the one that the migrations make.
func TestSchemaOfNewFiles(t *testing.T) {
	migrated := fresh(t)
	if err := migrated.upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := script(t, migrated)
	if *update {
		if err := os.WriteFile(schemaFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return // the test has the file as it was when it was compiled
	}
	created := fresh(t)
	if err := created.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := script(t, created); got != want {
		t.Errorf("a new file has another schema than the migrations make; -args -update writes it. It is\n%s", got)
	}
	if file, err := os.ReadFile(schemaFile); err != nil || string(file) != want {
		t.Errorf("%s is not what -args -update would write, %v", schemaFile, err)
	}
}

// TestMigrateNothingApplied: earlier programs left such a file where the first migration found the disk full, or was killed.
func TestMigrateNothingApplied(t *testing.T) {
	w := fresh(t)
	const table = "CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP)"
	for _, statement := range []string{table, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)"} {
		if _, err := w.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := Current(t.Context(), w.DB.DB); err != nil {
		t.Error(err)
	}
}

func fresh(t *testing.T) *Writer {
	w := Open(filepath.Join(t.TempDir(), "index.db"), true, false)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// script returns statements that make the schema of an index in which nothing was stored, and the rows that it has.
func script(t *testing.T, w *Writer) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("-- The schema of a new index. Made from the migrations in sqlite/, which say more about it:\n" +
		"-- go test ./internal/index/sqlite/write -run TestSchemaOfNewFiles -args -update\n")
	rows := func(query string, args ...any) (all []string) {
		if err := w.SelectContext(t.Context(), &all, query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return all
	}
	// Tables that SQLite or a virtual table makes are made again with what they belong to.
	for _, text := range rows(`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
		AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid`) {
		fmt.Fprintf(&b, "\n%s;\n", text)
	}
	b.WriteByte('\n')
	for _, table := range rows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name") {
		columns := rows(`SELECT printf('"%w"', name) FROM pragma_table_info(?) WHERE (?, name) NOT IN (VALUES ('goose_db_version', 'id'), ('goose_db_version', 'tstamp'))`, table, table)
		for _, values := range rows("SELECT concat_ws(', ', quote(" + strings.Join(columns, "), quote(") + ")) FROM " + table + " ORDER BY " + columns[0]) {
			fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (%s);\n", table, strings.Join(columns, ", "), values)
		}
	}
	for _, option := range rows("SELECT concat_ws(', ', quote(k), quote(v)) FROM fts_config WHERE k <> 'version' ORDER BY k") {
		fmt.Fprintf(&b, "INSERT INTO fts (fts, rank) VALUES (%s);\n", option)
	}
	return b.String()
}
