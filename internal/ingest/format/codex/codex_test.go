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
