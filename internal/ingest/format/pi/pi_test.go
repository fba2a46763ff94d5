package pi

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

// TestGrowth leaves out a file with lines before its first header. Without the header it is not claimed.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "all") }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, "--home-ada-shop--/2026-11-03T10-00-00-000Z_019a0000-0000-7000-8000-00000000000a.jsonl")
}

func FuzzOutput(f *testing.F) { formattest.Fuzz(f, New(), roleOutput, "ci/fuzz.log") }
