package devflow

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, ".devflow/runs/fuzz/transcript.json")
}

func FuzzMetadata(f *testing.F) {
	formattest.Fuzz(f, New(), roleMetadata, ".devflow/runs/fuzz/metadata.json")
}

func FuzzArchive(f *testing.F) {
	formattest.Fuzz(f, New(), roleArchive, ".devflow/archive/2026-10/fuzz.tar.gz")
}
