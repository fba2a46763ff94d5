package openclaw

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const live = "agents/main/sessions/0a000000-0000-4000-8000-00000000000a.jsonl"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, live) }

func FuzzPacked(f *testing.F) {
	formattest.Fuzz(f, New(), roleCompressed, live+".reset.2026-11-03T11-00-00.000Z.zst")
}

func FuzzCold(f *testing.F) {
	formattest.Fuzz(f, New(), roleCold, "agents/main/sessions/cold/"+strings.Repeat("0", 64)+".jsonl.zst")
}

func FuzzChats(f *testing.F) {
	formattest.Fuzz(f, New(), roleChats, "agents/main/sessions/sessions.json")
}
