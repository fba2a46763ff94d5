package chibi

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, ".chibi/contexts/fuzz/transcript/active.jsonl")
}

func FuzzOldest(f *testing.F) {
	formattest.Fuzz(f, New(), roleOldest, ".chibi/contexts/fuzz/context.json")
}

func FuzzReadable(f *testing.F) {
	formattest.Fuzz(f, New(), roleReadable, ".chibi/contexts/fuzz/transcript.md")
}

func FuzzUsage(f *testing.F) {
	formattest.Fuzz(f, New(), roleUsage, ".chibi/contexts/fuzz/response_meta.jsonl")
}

func FuzzInbox(f *testing.F) {
	formattest.Fuzz(f, New(), roleInbox, ".chibi/contexts/fuzz/inbox.jsonl")
}

func FuzzStray(f *testing.F) { formattest.Fuzz(f, New(), roleStray, "backup/export.jsonl") }
