package chibi

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, Format{}) }

func TestGrowth(t *testing.T) { formattest.Growth(t, Format{}) }

func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleTranscript, ".chibi/contexts/fuzz/transcript/active.jsonl")
}

func FuzzOldest(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleOldest, ".chibi/contexts/fuzz/context.json")
}

func FuzzReadable(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleReadable, ".chibi/contexts/fuzz/transcript.md")
}

func FuzzUsage(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleUsage, ".chibi/contexts/fuzz/response_meta.jsonl")
}

func FuzzInbox(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleInbox, ".chibi/contexts/fuzz/inbox.jsonl")
}

func FuzzStray(f *testing.F) { formattest.Fuzz(f, Format{}, roleStray, "backup/export.jsonl") }
