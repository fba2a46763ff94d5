package lechat

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzChat(f *testing.F) {
	formattest.Fuzz(f, New(), roleChat, "export/chat-0d000000-0000-4000-8000-000000000001.json")
}
