package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var alterations = flag.Int("alterations", 2, "how many changes to the index the test of verify --deep makes")

// TestDeepVerify changes one value of one row of the index, as a flipped bit or a mistake of ours would, and wants
// `verify --deep` to say so: SQLite itself cannot know.
func TestDeepVerify(t *testing.T) {
	t.Logf("-alterations %d", *alterations)
	r := seedtest.Rand(t)
	bin, sound := program(t), filepath.Join(t.TempDir(), "sound")
	expect(t, bin, sound, 0, "ingest", filepath.Join(runs, "awf"), filepath.Join(runs, "leslie"))
	expect(t, bin, sound, 0, "verify", "--deep")
	tables := slices.Sorted(maps.Keys(altered))
	for round := range *alterations {
		among := tables
		if round == 0 {
			among = []string{"transcript_sums"} // that no view shows
		}
		dir := filepath.Join(t.TempDir(), "altered")
		copyArchiveTo(t, sound, dir)
		did := alterIndex(t, r, filepath.Join(dir, "index.db"), among)
		out := expect(t, bin, dir, failure.ExitCorrupt, "verify", "--deep", "--json")
		var report struct {
			OK    bool
			Index string
			List  []struct{ Kind, Reason string }
		}
		if err := json.Unmarshal(out, &report); err != nil || report.OK || report.Index != "unsound" || len(report.List) == 0 {
			t.Errorf("%s: %v, %s", did, err, out)
		}
		must(t, os.RemoveAll(dir))
	}
}

// TestDeepVerifyAfterUpgrade: rows of an older parser differ from those of this one, and are no damage.
func TestDeepVerifyAfterUpgrade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	loaded(t, dir, runs+"/chibi")
	db, err := sql.Open("sqlite", filepath.Join(dir, "index.db"))
	must(t, err)
	_, err = db.Exec("UPDATE versions SET parser = parser - 1 WHERE parser > 0")
	must(t, err)
	_, err = db.Exec("UPDATE conversations SET title = 'as it was'")
	must(t, err)
	must(t, db.Close())
	if says := tx(t, dir, failure.ExitRefused, "verify", "--deep"); says != "" {
		t.Errorf("it says %s", says)
	}
	tx(t, dir, 0, "verify")
	tx(t, dir, 0, "ingest")
	tx(t, dir, 0, "verify", "--deep")
}

// altered are the tables that views and answers come from, without the columns that may be anything: ids of rows, and
// what orders the work of the next commit.
var altered = map[string][]string{
	"runs":            {"run_id", "native_id", "group", "project", "flow", "title", "agent", "status", "outcome", "started", "ended", "stub"},
	"conversations":   {"conversation_id", "title"},
	"events":          {"seq", "verdict", "kind", "role", "type", "time", "offset", "length", "line", "text_bytes"},
	"calls":           {"call_id", "name", "input_bytes"},
	"results":         {"failed", "output_bytes"},
	"usage":           {"input", "output", "verdict"},
	"versions":        {"size", "sha256", "mtime", "mode", "role"},
	"extents":         {"raw", "size", "sha256"},
	"transcript_sums": {"verdict", "events", "rows"},
	"terms":           {"words"},
}

// alterIndex changes one value in one of some tables, and says which.
func alterIndex(t *testing.T, r *rand.Rand, path string, tables []string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	for {
		table := tables[r.IntN(len(tables))]
		column := altered[table][r.IntN(len(altered[table]))]
		var id, value any
		row := db.QueryRow(fmt.Sprintf(`SELECT rowid, %q FROM %s ORDER BY rowid LIMIT 1 OFFSET abs(?) %% max(1, (SELECT count(*) FROM %s))`, column, table, table), r.Int64())
		if err := row.Scan(&id, &value); err != nil {
			continue // an empty table, or one without rowid
		}
		var other any
		switch v := value.(type) {
		case int64:
			other = v ^ 1
		case string:
			other = v + "x"
		case []byte:
			other = append([]byte{v[0] ^ 1}, v[1:]...)
		default:
			continue
		}
		if _, err := db.Exec(fmt.Sprintf(`UPDATE %s SET %q = ? WHERE rowid = ?`, table, column), other, id); err != nil {
			continue // what SQLite itself refuses cannot be
		}
		return strings.TrimSpace(fmt.Sprintf("%s.%s of row %v from %v to %v", table, column, id, value, other))
	}
}

// expect runs a command, wants it to end with that code, and returns what it printed.
func expect(t *testing.T, bin, archive string, code int, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"--archive", archive}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Errorf("%s: %v, not exit %d\n%s%s", strings.Join(args, " "), err, code, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}
