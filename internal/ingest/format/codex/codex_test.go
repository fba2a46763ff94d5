package codex

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzRollout(f *testing.F) {
	formattest.Fuzz(f, New(), roleRollout, ".codex/sessions/2026/03/04/rollout-2026-03-04T09-00-00-019c1111-aaaa-7000-8000-000000000001.jsonl")
}

func FuzzPacked(f *testing.F) {
	formattest.Fuzz(f, New(), rolePacked, ".codex/sessions/2026/03/04/rollout-2026-03-04T09-00-00-019c1111-aaaa-7000-8000-000000000001.jsonl.zst")
}

func FuzzStream(f *testing.F) { formattest.Fuzz(f, New(), roleStream, "ci/run.jsonl") }

func FuzzHistory(f *testing.F) { formattest.Fuzz(f, New(), roleHistory, ".codex/history.jsonl") }

// TestPrintedArguments: all of an MCP call's arguments are text, as they are in the session.
func TestPrintedArguments(t *testing.T) {
	const line = `{"type":"item.started","item":{"id":"item_1","type":"mcp_tool_call","server":"git","tool":"view","arguments":{"id":48151,"status":"open"},"status":"in_progress"}}`
	if text, err := New().Text(roleStream, []byte(line), 0); err != nil || text != "git\nview\n48151\nopen" {
		t.Errorf("%q, %v", text, err)
	}
}

func FuzzSummary(f *testing.F) {
	formattest.Fuzz(f, New(), roleSummary, ".codex/memories/rollout_summaries/kiln.md")
}

func FuzzWhole(f *testing.F) {
	formattest.Fuzz(f, New(), roleWhole, ".codex/sessions/rollout-2025-04-20-0ecc1b67-d4c6-4e27-a2ff-40c449d4e1ab.json")
}
