package chatjsonl

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

// TestGrowth excepts files whose first lines do not yet identify them.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "history.jsonl", "odd.jsonl") }

func FuzzLog(f *testing.F) { formattest.Fuzz(f, New(), roleLog, "logs/fuzz.jsonl") }
