package chatgpt

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzConversations(f *testing.F) {
	formattest.Fuzz(f, New(), roleConversations, "export/conversations.json")
}

// TestArguments: of JSON that the model writes to a tool, numbers are text; of what it says to the user, JSON is text as it stands.
func TestArguments(t *testing.T) {
	const message = `{"author":{"role":"assistant"},"content":{"content_type":"code","language":"json","size":9,"text":"{\"issue\":48151}"},"recipient":`
	for recipient, want := range map[string]string{`"github.view"}`: "48151", `"all"}`: `{"issue":48151}`} {
		if text, err := New().Text(roleConversations, []byte(message+recipient), 0); err != nil || text != want {
			t.Errorf("to %s: %q, %v, want %q", recipient, text, err, want)
		}
	}
}
