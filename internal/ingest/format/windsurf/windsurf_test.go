package windsurf

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, "home/.windsurf/transcripts/a0000000-0000-4000-8000-00000000000a.jsonl")
}

func TestDetect(t *testing.T) {
	const (
		root     = "home/ada/.windsurf/transcripts"
		id       = "a0000000-0000-4000-8000-00000000000a.jsonl"
		asked    = `{"status":"done","type":"user_input","user_input":{"user_response":"mend"}}` + "\n"
		answered = `{"planner_response":{"response":"mended"},"status":"done","type":"planner_response"}` + "\n"
		step     = `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","content":"mend"}` + "\n" // Antigravity's
	)
	certain := format.Claim{Strength: format.Certain, Role: roleTranscript, Root: root, Log: true}
	likely := format.Claim{Strength: format.Likely, Role: roleTranscript, Log: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{root + "/" + id, "", certain},
		{root + "/" + id, asked, certain},
		{root + "/mend.jsonl", "no json\n", certain},
		{root + "/mend.txt", asked, format.Claim{}},
		{root + "/old/" + id, "", format.Claim{}},
		{root + "/old/" + id, asked, likely},
		{".windsurf/transcripts/" + id, "", format.Claim{Strength: format.Certain, Role: roleTranscript, Root: ".windsurf/transcripts", Log: true}},
		{"home/ada/.devin/transcripts/" + id, asked, likely},
		{"copies/" + id, "no json\n\n" + answered, likely},
		{"copies/" + id, answered + `{"stat`, likely},
		{"copies/" + id, asked[:40], format.Claim{}},
		{"copies/" + id, step, format.Claim{}},
		{"copies/" + id, `{"status":"done","type":"turn","turn":3}` + "\n", format.Claim{}},
		{"copies/mend.jsonl", asked, format.Claim{}},
	})
}
