package sqlite

import (
	"strings"
	"testing"
)

// TestTables compares rows with those that are counted, and sizes with the file.
func TestTables(t *testing.T) {
	db := smallDB(t, asIs)
	all, err := db.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, last := int64(0), int64(0)
	for i, table := range all {
		name := table.Name
		if name == "fts" {
			name = "fts_docsize"
		}
		var rows int64
		if err := db.r.Get(&rows, `SELECT count(*) FROM "`+name+`"`); err != nil || rows != table.Rows {
			t.Errorf("%s: %d rows, %v, want %d", name, table.Rows, err, rows)
		}
		n := table.Bytes + table.IndexBytes
		if sum += n; i > 0 && n > last {
			t.Errorf("%s is larger than %s", name, all[i-1].Name)
		}
		last = n
	}
	var file int64
	// The second page of the file, and each 820th behind it, says what points to those that follow it: so that they can be moved.
	if err := db.r.Get(&file, "SELECT (page_count - freelist_count - s.pages - (page_count + 818) / 820) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size, (SELECT count(*) AS pages FROM dbstat WHERE name = 'sqlite_schema') s"); err != nil || file != sum {
		t.Errorf("tables take %d bytes, %v, the file has %d for them", sum, err, file)
	}
	var names []string
	if err := db.r.Select(&names, "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'fts%'"); err != nil || len(names)+1 != len(all) {
		t.Errorf("%d tables, %v, want %s and fts", len(all), err, strings.Join(names, ", "))
	}
}
