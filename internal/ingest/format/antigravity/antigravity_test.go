package antigravity

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

const (
	logs  = ".gemini/antigravity/brain/a0000000-0000-4000-8000-00000000000a/.system_generated/logs/"
	short = logs + "transcript.jsonl"
)

func FuzzTranscript(f *testing.F) { formattest.Fuzz(f, New(), roleShort, short) }

// TestDetect claims transcripts by their place, and by their lines where the place is not the program's own.
func TestDetect(t *testing.T) {
	const (
		step  = `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","created_at":"2026-10-01T08:00:00Z","content":"x"}`
		other = `{"role":"user","content":"x"}` + "\n"
	)
	claim := format.Claim{Strength: format.Certain, Role: roleShort, Root: ".gemini/antigravity/brain", Log: true}
	full, overview, copied := claim, claim, claim
	full.Role, overview.Role, copied.Root = roleFull, roleOverview, ""
	formattest.CheckClaims(t, New(), formattest.Claims{
		{short, step, claim},
		{short, "", claim},
		{short, other, format.Claim{}},
		{logs + "transcript_full.jsonl", step, full},
		{logs + "overview.txt", step, overview},
		{logs + "overview.txt", "", format.Claim{}},
		{logs + "other.jsonl", step, format.Claim{}},
		{"x/id/.system_generated/logs/transcript.jsonl", step, copied},
		{"x/id/.system_generated/logs/transcript.jsonl", "", format.Claim{}},
		{"x/logs/transcript.jsonl", step, format.Claim{}},
	})
}

// TestModelIn reads the model that a prompt says was chosen.
func TestModelIn(t *testing.T) {
	for text, want := range map[string]string{
		"The user changed setting `Model Selection` from None to Gemini 3.5 Flash (Medium). No need to comment.": "Gemini 3.5 Flash (Medium)",
		"The user changed setting `Model Selection` from A to Claude Opus 4.6.\n</USER_SETTINGS_CHANGE>":         "Claude Opus 4.6",
		"from None to nothing":        "",
		"`Model Selection` from None": "",
	} {
		if got := modelIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
