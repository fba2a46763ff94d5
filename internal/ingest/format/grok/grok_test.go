package grok

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

// TestGrowth leaves out updates.jsonl, whose last lines may be parts of a message.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "updates.jsonl") }

const session = ".grok/sessions/%2Fhome%2Fada%2Fshop/019f9000-0000-7000-8000-000000000001/"

func FuzzUpdates(f *testing.F) { formattest.Fuzz(f, New(), roleUpdates, session+"updates.jsonl") }

func FuzzHistory(f *testing.F) { formattest.Fuzz(f, New(), roleHistory, session+"chat_history.jsonl") }

func FuzzBeside(f *testing.F) { formattest.Fuzz(f, New(), roleBeside, session+"btw_history.jsonl") }

func FuzzSummary(f *testing.F) { formattest.Fuzz(f, New(), roleSummary, session+"summary.json") }

func FuzzSubagent(f *testing.F) {
	formattest.Fuzz(f, New(), roleSubagent, session+"subagents/019f9000-0000-7000-8000-000000000011/meta.json")
}

// TestDetect claims files by their places and content.
func TestDetect(t *testing.T) {
	const (
		said    = `{"timestamp":1,"method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"plan"}}}`
		item    = `{"type":"user","content":[]}`
		summary = `{"info":{},"session_summary":"","current_model_id":"m"}`
		meta    = `{"parent_session_id":"a","child_session_id":"b"}`
		other   = "x/019f9000-0000-7000-8000-000000000001/"
	)
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{session + "updates.jsonl", said, format.Claim{Strength: format.Certain, Role: roleUpdates, Root: ".grok/sessions", Log: true}},
		{session + "updates.jsonl", "", format.Claim{Strength: format.Certain, Role: roleUpdates, Root: ".grok/sessions", Log: true}},
		{session + "updates.jsonl", `{"type":"user"}`, format.Claim{}},
		{session + "chat_history.jsonl", item, format.Claim{Strength: format.Certain, Role: roleHistory, Root: ".grok/sessions", Log: true}},
		{session + "events.jsonl", `{"ts":"","type":"turn_started"}`, format.Claim{}},
		{session + "summary.json", summary, format.Claim{Strength: format.Certain, Role: roleSummary, Root: ".grok/sessions"}},
		{session + "summary.json", `{"info":{}}`, format.Claim{}},
		{session + "summary.json.lock", "", skip},
		{session + "summary.json.1.tmp", "", skip},
		{".grok/sessions/session_search.sqlite-wal", "", skip},
		{session + "subagents/b/meta.json", meta, format.Claim{Strength: format.Certain, Role: roleSubagent, Root: ".grok/sessions"}},
		{other + "updates.jsonl", said, format.Claim{Strength: format.Certain, Role: roleUpdates, Root: "x/019f9000-0000-7000-8000-000000000001", Log: true}},
		{other + "updates.jsonl", "", format.Claim{Strength: format.Likely, Role: roleUpdates, Root: "x/019f9000-0000-7000-8000-000000000001", Log: true}},
		{other + "subagents/b/meta.json", meta, format.Claim{Strength: format.Certain, Role: roleSubagent, Root: "x/019f9000-0000-7000-8000-000000000001"}},
		{other + "summary.json.lock", "", format.Claim{}},
		{"x/run/updates.jsonl", said, format.Claim{}},
	})
}
