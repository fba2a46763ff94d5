package amp

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzThread(f *testing.F) {
	formattest.Fuzz(f, New(), roleThread, "threads/T-a0000000-0000-4000-8000-000000000001.json")
}
