package flowstudio

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, "swarm/runs/run-20261120-100000-abc123/build/llm/fix-coder-claude.jsonl")
}

func FuzzReceipt(f *testing.F) {
	formattest.Fuzz(f, New(), roleReceipt, "swarm/runs/health-check/build/receipts/fix-coder.json")
}

func FuzzTimeline(f *testing.F) {
	formattest.Fuzz(f, New(), roleTimeline, "swarm/runs/health-check/events.jsonl")
}

func FuzzMeta(f *testing.F) {
	formattest.Fuzz(f, New(), roleMeta, "swarm/runs/health-check/meta.json")
}

func FuzzProductLines(f *testing.F) {
	formattest.Fuzz(f, New(), roleLines, "swarm/runs/_corrupt/health-check/build/llm/fix-coder-claude.jsonl")
}
