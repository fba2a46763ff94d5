package googleadk

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, ".adk/session.db/app/ada/a0000000-0000-4000-8000-00000000000a/events.ndjson")
}

func FuzzSaved(f *testing.F) {
	formattest.Fuzz(f, New(), roleSaved, "shop/basket_agent/mine.session.json")
}

func TestDetectSaved(t *testing.T) {
	const session = `{"id": "a", "appName": "shop", "userId": "ada", "state": {"events": "`
	saved := format.Claim{Strength: format.Certain, Role: roleSaved}
	exported := format.Claim{Strength: format.Likely, Role: roleSaved}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"shop/mine.session.json", session, saved},
		{"shop/mine.session.json", `{"id":"a","app_name":"shop","user_id":"ada","events":[`, saved},
		{"Downloads/session-a.json", session, exported},
		{"shop/mine.session.txt", session, format.Claim{}},
		{"shop/mine.session.json", `{"id":"a","app_name":"shop","user_id":"ada"}`, format.Claim{}},
		{"shop/mine.session.json", `{"id":7,"app_name":"shop","user_id":"ada","events":[]}`, format.Claim{}},
		{"shop/mine.session.json", `[` + session, format.Claim{}},
		{"shop/mine.session.json", `{"session":` + session, format.Claim{}},
		{"shop/a.evalset.json", `{"evalSetId":"a","evalCases":[{"sessionInput":{"appName":"shop","userId":"ada","state":{}}}]}`, format.Claim{}},
	})
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const states = "CREATE TABLE app_states (app_name TEXT)CREATE TABLE user_states (app_name TEXT, user_id TEXT)CREATE TABLE sessions (app_name TEXT)"
	const schema = head + states + "CREATE TABLE events (id TEXT, app_name TEXT, session_id TEXT, invocation_id TEXT)"
	likely := format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true, Secret: true}
	certain := likely
	certain.Strength = format.Certain
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"shop/.adk/session.db", schema, certain},
		{"shop/sessions.db", schema, likely},
		{"shop/sessions.db", head + states + "CREATE TABLE events (id TEXT, app_name TEXT, session_id TEXT)", format.Claim{}},
		{"shop/sessions.db", head + "CREATE TABLE sessions (id)CREATE TABLE events (id, app_name, session_id, invocation_id)", format.Claim{}},
		{"shop/.adk/session.db", string(formattest.DatabaseHead(true)), likely},
		{"shop/.adk/session.db", string(formattest.DatabaseHead(false)), format.Claim{}},
		{"shop/session.db", string(formattest.DatabaseHead(true)), format.Claim{}},
		{"shop/.adk/session.db", "no database", format.Claim{}},
		{"x.db/app/events.ndjson", `{"table":"event"}`, format.Claim{}},
	})
}

// TestLongID: an id of a megabyte is not copied to each part of its event.
func TestLongID(t *testing.T) {
	file := `{"id":"` + strings.Repeat("s", 1<<20) + `","app_name":"a","user_id":"u","events":[{"id":"` + strings.Repeat("e", 1<<20) +
		`","timestamp":1780000000.5,"content":{"parts":[{"text":"one"},{"text":"two"}]}}]}`
	var ids []string
	for r := range New().Parse(format.Input{Path: "x.session.json", Role: roleSaved, Size: int64(len(file)), Reader: strings.NewReader(file)}) {
		if e, ok := r.(*transcript.Event); ok {
			ids = append(ids, e.ID, e.Run)
		}
	}
	if len(ids) != 4 || ids[0] == ids[2] || len(strings.Join(ids, "")) > 1000 {
		t.Errorf("%d ids of %d bytes", len(ids), len(strings.Join(ids, "")))
	}
}
