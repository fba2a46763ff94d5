package claudeai

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzConversations(f *testing.F) {
	formattest.Fuzz(f, New(), roleConversations, "export/conversations.json")
}

func FuzzDesign(f *testing.F) {
	formattest.Fuzz(f, New(), roleDesign, "export/design_chats/0d000000-0000-4000-8000-000000000001.json")
}
