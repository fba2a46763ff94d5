package ibmbob

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, ".bob/db/bob.db/b0b00000000000000000000000000001/messages.ndjson")
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE tasks (id TEXT, project_id TEXT, first_message TEXT, costs TEXT) CREATE TABLE messages (id TEXT, task_id TEXT)"
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".bob/db/bob.db", head, database},
		{".bob/db/bob.db", string(long), database},
		{".bob/db/bob.db", string(other), format.Claim{}},
		{"work/bob.db", string(long), format.Claim{}},
		{"work/bob.db", schema, database},
		{"work/backup.db", schema, likely},
		{".bob/db/bob.db", "no database", format.Claim{}},
		{".bob/db/bob.db-wal", "", format.Claim{}},
		{"bob.db/x/messages.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}

// TestLongIDs has ids of a size that must not be in each event and usage.
func TestLongIDs(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	const row = `{"table":"ibm-bob message","task_id":%[1]q,"id":%[1]q,"role":"tool","data":{"_meta":{"subagentId":"%[1]sy"},"messages":[
		{"role":"assistant","id":"a","content":"looked","_meta":{"spend":{"input":5,"output":1}}},{"role":"user","id":"%[1]sz","content":"more"}]}}`
	n := 0
	for r, err := range New().Parse(format.Input{Role: roleRows, Reader: strings.NewReader(strings.ReplaceAll(fmt.Sprintf(row, long), "\n", " "))}) {
		if err != nil {
			t.Fatal(err)
		}
		switch r := r.(type) {
		case *transcript.Event:
			n++
			if len(r.ID) == 0 || len(r.ID)+len(r.Run) > 600 {
				t.Errorf("id of %d bytes, run's of %d", len(r.ID), len(r.Run))
			}
		case *transcript.Usage:
			n++
			if len(r.Key)+len(r.Run) > 600 {
				t.Errorf("key of %d bytes, run's of %d", len(r.Key), len(r.Run))
			}
		}
	}
	if n != 4 {
		t.Errorf("%d events and usage", n)
	}
}

func TestDirOf(t *testing.T) {
	for _, c := range [][2]string{{"file:/home/ada/my%20shop", "/home/ada/my shop"}, {"file:///home/ada", "/home/ada"}, {"file:C:/shop", "C:/shop"}, {"file:///C:/shop", "C:/shop"},
		{`C:\shop`, `C:\shop`}, {"/home/ada", "/home/ada"}, {"vscode-remote://box/srv", ""}, {"", ""}} {
		if got := dirOf(c[0]); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}
