package grokexport

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzConversations(f *testing.F) {
	formattest.Fuzz(f, New(), roleConversations, "export/prod-grok-backend.json")
}
