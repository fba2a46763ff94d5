package antigravity

import (
	"bytes"
	"runtime"
	"strings"
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

const rows = ".gemini/antigravity-acp/conversations/a0000000-0000-4000-8000-00000000000a.db/"

func FuzzSteps(f *testing.F) { formattest.Fuzz(f, New(), roleSteps, rows+"steps.ndjson") }

func FuzzRequests(f *testing.F) { formattest.Fuzz(f, New(), roleRequests, rows+"requests.ndjson") }

func FuzzTranscript(f *testing.F) { formattest.Fuzz(f, New(), roleShort, short) }

// TestDetect claims transcripts by their place, and by their lines where the place is not the program's own.
func TestDetect(t *testing.T) {
	const (
		step  = `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","created_at":"2026-10-01T08:00:00Z","content":"x"}`
		other = `{"role":"user","content":"x"}` + "\n"
	)
	const (
		conversations = ".gemini/antigravity/conversations/a0000000-0000-4000-8000-00000000000a"
		head          = "SQLite format 3\x00"
	)
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
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
		{conversations + ".db", head, database},
		{conversations + ".db", "", format.Claim{}},
		{conversations + ".db-wal", "\x37\x7f\x06\x82", format.Claim{}},
		{conversations + ".pb", "\x01\x02", format.Claim{}},
		{".gemini/antigravity/conversations/summaries.db", head, format.Claim{}},
		{"x/conversations/a0000000-0000-4000-8000-00000000000a.db", head, format.Claim{}},
		{"x/copy.sqlite", head + "CREATE TABLE steps (step_payload blob) CREATE TABLE gen_metadata CREATE TABLE trajectory_metadata_blob", likely},
		{conversations + ".meta", `{"cwd":"/home/ada"}`, format.Claim{Strength: format.Certain, Role: roleMeta}},
		{conversations + ".meta", `{"title":"x"}`, format.Claim{}},
		{"x/y.meta", `{"cwd":"/home/ada"}`, format.Claim{}},
		{"x/a.db/steps.ndjson", `{"table":"antigravity step","idx":0}`, format.Claim{Strength: format.Certain, Role: roleSteps, Log: true}},
		{"x/a.db/requests.ndjson", `{"table":"antigravity trajectory"}`, format.Claim{Strength: format.Certain, Role: roleRequests}},
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

// TestPromptInPieces: reading a prompt takes memory in proportion to its pieces, of which there may be many.
func TestPromptInPieces(t *testing.T) {
	row := `{"table":"antigravity step","idx":0,"step_type":14,"status":3,"step":{"user_input":{"items":[{"text":"oak"}` + strings.Repeat(`,{"text":"ash and elm"}`, 4000) + `]}}}`
	in := formattest.Input{Path: rows + "steps.ndjson", Role: roleSteps, Bytes: []byte(row)}
	formattest.Check(t, New(), in)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range New().Parse(format.Input{Path: in.Path, Role: in.Role, Reader: bytes.NewReader(in.Bytes)}) {
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 100*uint64(len(row)) {
		t.Errorf("%d bytes for a row of %d", taken, len(row))
	}
}
