package leslie

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, Format{}) }

func TestGrowth(t *testing.T) { formattest.Growth(t, Format{}) }

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleTranscript, ".leslie/threads/thread-aaaa0001/.meta/transcripts/x.txt")
}

func FuzzRelations(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleRelations, ".leslie/thread_relations.json")
}

func FuzzWorker(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleWorker, ".leslie/logs/workers/thread-aaaa0001.ndjson")
}
