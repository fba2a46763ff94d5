package aider

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func FuzzChat(f *testing.F)   { formattest.Fuzz(f, New(), roleChat, "shop/.aider.chat.history.md") }
func FuzzInput(f *testing.F)  { formattest.Fuzz(f, New(), roleInput, "shop/.aider.input.history") }
func FuzzModel(f *testing.F)  { formattest.Fuzz(f, New(), roleModel, "shop/.aider.llm.history") }

func TestDetect(t *testing.T) {
	const begins = "\n# aider chat started at 2026-05-06 10:11:12\n"
	claim := func(s format.Strength, role string) format.Claim {
		return format.Claim{Strength: s, Role: role, Log: true}
	}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"a/.aider.chat.history.md", "", claim(format.Certain, roleChat)},
		{"a/.aider.input.history", "", claim(format.Certain, roleInput)},
		{"a/.aider.llm.history", "", claim(format.Certain, roleModel)},
		{"a/chat.md", begins, claim(format.Likely, roleChat)},
		{"a/chat.txt", begins, format.Claim{}},
		{"a/README.md", "# aider chat started at noon\n", format.Claim{}},
		{"a/README.md", "Say\n# aider chat started at 2026-05-06 10:11:12\n", format.Claim{}},
		{"a/llm.history.md", "TO LLM 2026-05-06T10:11:41\n", claim(format.Likely, roleModel)},
		{"a/notes.md", "TO LLM 2026-05-06T10:11:41\n", format.Claim{}},
		{"a/.aider.conf.yml", begins, format.Claim{}},
	})
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]transcript.Count{
		"312": transcript.Known(312), "1,234": transcript.Known(1234), "4.2k": transcript.Known(4200), "18k": transcript.Known(18000), "1.5M": transcript.Known(1500000),
		"": {}, "k": {}, "9999999999999999": {},
	} {
		if got := parseCount(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
