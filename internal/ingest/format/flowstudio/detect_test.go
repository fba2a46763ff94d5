package flowstudio

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

// TestDetectUnreadable has transcripts outside swarm/ of which the first bytes show no timestamp: the engine in the name is
// enough if nothing there can be read, but not if it is another program's.
func TestDetectUnreadable(t *testing.T) {
	long := strings.Repeat("x", format.HeadSize)
	for _, tt := range []struct {
		name, content string
		want          format.Strength
	}{
		{"fix-coder-claude.jsonl", "", format.Weak},
		{"fix-coder-claude.jsonl", "\n\r\n", format.Weak},
		{"fix-coder-claude.jsonl", "no object\n", format.Weak},
		{"fix-coder-claude.jsonl", `{"type":"message","role":"assistant","content":"torn`, format.Weak},
		{"fix-coder-claude.jsonl", "no object\n" + `{"type":"message","content":"` + long, format.Weak},
		{"fix-coder-claude.jsonl", long + "\n" + `{"type":"message","timestamp":"2026-11-20T10:00:02Z"}`, format.Weak},
		{"fix-coder-claude.jsonl", `{"prompt":"` + long, format.None},
		{"fix-coder-claude.jsonl", "no object\n" + `{"prompt":"x"}` + "\n", format.None},
		{"fix-coder.jsonl", "no object\n", format.None},
	} {
		claim := formattest.Detect(New(), "copy/old-run/build/llm/"+tt.name, []byte(tt.content))
		if claim.Strength != tt.want {
			t.Errorf("%s of %d bytes, %.40q: strength %d, want %d", tt.name, len(tt.content), tt.content, claim.Strength, tt.want)
		}
	}
}
