package awf

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, "storage/transcripts/0a0a0a0a-0000-4000-8000-000000000001.jsonl")
}

func FuzzState(f *testing.F) {
	formattest.Fuzz(f, New(), roleState, "storage/states/0a0a0a0a-0000-4000-8000-000000000001.json")
}

func FuzzAudit(f *testing.F) { formattest.Fuzz(f, New(), roleAudit, "awf/audit.jsonl") }

func FuzzHistory(f *testing.F) { formattest.Fuzz(f, New(), roleHistory, "awf/history.db") }
