package langgraph

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
	formattest.Fuzz(f, New(), roleRows, ".deepagents/.state/sessions.db/019f3a00-0000-7000-8000-000000000001/messages.ndjson")
}

// TestChangedOften: a message that is changed with each step has an event for each change.
func TestChangedOften(t *testing.T) {
	var list strings.Builder
	const changes = 3000
	for n := range changes {
		fmt.Fprintf(&list, `,{"role":"assistant","content":"it is %d wide","id":"chatcmpl-0000000000000001"}`, n)
	}
	row := `{"table":"langgraph write","thread_id":"a","channel":"messages","packed":[` + list.String()[1:] + `],"plain":null}`
	events := 0
	for r := range New().Parse(format.Input{Path: "x.db/a/messages.ndjson", Role: roleRows, Size: int64(len(row)), Reader: strings.NewReader(row)}) {
		if _, ok := r.(*transcript.Event); ok {
			events++
		}
	}
	if events != changes {
		t.Errorf("%d events, want %d", events, changes)
	}
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const checkpoints = "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT, parent_checkpoint_id TEXT)"
	const schema = head + checkpoints + "CREATE TABLE writes (thread_id TEXT NOT NULL, task_id TEXT NOT NULL)"
	likely := format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true, Secret: true}
	certain := likely
	certain.Strength = format.Certain
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".deepagents/.state/sessions.db", schema, certain},
		{"home/ada/.deepagents/sessions.db", schema, certain},
		{"app/checkpoints.sqlite", schema, likely},
		{"app/checkpoints.sqlite", head + checkpoints, format.Claim{}},
		{"app/checkpoints.sqlite", head + "CREATE TABLE checkpoints (thread_id TEXT, thread_ts TEXT)CREATE TABLE writes (thread_id TEXT, task_id TEXT)", format.Claim{}},
		{".deepagents/.state/sessions.db", string(formattest.DatabaseHead(true)), likely},
		{".deepagents/.state/sessions.db", string(formattest.DatabaseHead(false)), format.Claim{}},
		{"sessions.db", string(formattest.DatabaseHead(true)), format.Claim{}},
		{".deepagents/.state/sessions.db", "no database", format.Claim{}},
		{"x.db/customer-7/messages.ndjson", `{"table":"write"}`, format.Claim{}},
	})
}

// TestMessageWithBytes: a message that has a member of the name that stands for bytes in JSON is one.
func TestMessageWithBytes(t *testing.T) {
	row := `{"table":"langgraph write","thread_id":"a","channel":"messages","packed":{"role":"user","content":"how wide","bytes":8},"plain":null}`
	for r := range New().Parse(format.Input{Path: "x.db/a/messages.ndjson", Role: roleRows, Size: int64(len(row)), Reader: strings.NewReader(row)}) {
		if e, ok := r.(*transcript.Event); ok && e.Role == "user" && e.Parts[0].Text == "how wide" {
			return
		}
	}
	t.Error("no message")
}
