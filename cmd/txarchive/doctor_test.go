package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/doctor"
	"github.com/txarchive/txarchive/internal/failure"
)

// TestDoctorDamagedIndex damages one table of the index: only the checks that read it cannot tell.
func TestDoctorDamagedIndex(t *testing.T) {
	dir := filled(t)
	file, err := filepath.EvalSymlinks(filepath.Join(dir, "index.db"))
	must(t, err)
	db, err := sql.Open("sqlite", file)
	must(t, err)
	var page, size int
	must(t, db.QueryRow("SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'problems'").Scan(&page, &size))
	must(t, db.Close())
	b, err := os.ReadFile(file)
	must(t, err)
	copy(b[(page-1)*size:], bytes.Repeat([]byte{0xff}, 100))
	written(t, file, b)
	code, stdout, stderr := inside(t.Context(), dir, "", "doctor", "--secrets", "--json")
	if code != failure.ExitCorrupt || stdout == "" {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, c := range decode[struct{ Checks []doctor.Check }](t, stdout).Checks {
		if damaged := c.State == doctor.Damage; damaged != (c.Name == "problems") || damaged && (c.Hint == nil || len(c.Items) != 1) {
			t.Errorf("%+v", c)
		}
	}
}
