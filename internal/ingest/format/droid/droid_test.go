package droid

import (
	"strconv"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

const (
	session = ".factory/sessions/-home-ada-shop/d0000000-0000-4000-8000-000000000001.jsonl"
	config  = ".factory/sessions/-home-ada-shop/d0000000-0000-4000-8000-000000000001.settings.json"
)

func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, session) }

func FuzzSettings(f *testing.F) { formattest.Fuzz(f, New(), roleSettings, config) }

func FuzzOutput(f *testing.F) { formattest.Fuzz(f, New(), roleOutput, "run.jsonl") }

// TestDetect claims files by content, and by name in the directory that has nothing but sessions.
func TestDetect(t *testing.T) {
	const (
		start = `{"type":"session_start","id":"d0000000-0000-4000-8000-000000000001","title":"x"}`
		said  = `{"type":"message","id":"m","message":{"role":"user","content":"x"}}`
		other = "x/d0000000-0000-4000-8000-000000000001"
	)
	file := format.Claim{Strength: format.Certain, Role: roleSession, Log: true}
	placed, settings, set := file, file, format.Claim{Strength: format.Certain, Role: roleSettings}
	placed.Root = ".factory/sessions"
	settings = set
	settings.Root = placed.Root
	formattest.CheckClaims(t, New(), formattest.Claims{
		{session, start, placed},
		{session, "", placed},
		{session, said, placed},
		{session, `{"type":"user"}` + "\n", format.Claim{}},
		{".factory/sessions/d0000000-0000-4000-8000-000000000001.jsonl", start, placed},
		{".factory/sessions/notes.jsonl", said, format.Claim{}},
		{config, "", settings},
		{config + ".bak", "{}", format.Claim{Strength: format.Certain, Root: placed.Root, Skip: true}},
		{other + ".jsonl", start, file},
		{"x/y.jsonl", start + "\n" + said, file},
		{"x/y.jsonl", `{"type":"session_start","ts":1}`, format.Claim{}},
		{other + ".jsonl", said, format.Claim{}},
		{other + ".settings.json", `{"tokenUsage":{"inputTokens":1}}`, set},
		{other + ".settings.json", `{"model":"x"}`, format.Claim{}},
		{other + ".settings.json.bak", "{}", format.Claim{}},
		{".factory/settings.json", `{"assistantActiveTimeMs":1}`, format.Claim{}},
	})
}

// TestInherited decides whether the total of a session includes that of its parent.
func TestInherited(t *testing.T) {
	parent := func(head string, totals ...int) map[string][]*transcript.Hint {
		hints := []*transcript.Hint{{Run: "p", Key: hintHead, Value: head}}
		for _, n := range totals {
			hints = append(hints, &transcript.Hint{Run: "p", Key: hintTotal, Value: strconv.Itoa(n)})
		}
		return map[string][]*transcript.Hint{"p": hints}
	}
	for name, c := range map[string]struct {
		total   int64
		related map[string][]*transcript.Hint
		want    transcript.Verdict
	}{
		"goes on counting":              {90, parent("h1", 50, 80), transcript.Counted},
		"has the same total":            {80, parent("h1", 80), transcript.Counted},
		"a fork of such a session":      {90, parent("h2", 50), transcript.Uncounted},
		"begins at 0":                   {30, parent("h1", 50), transcript.Uncounted},
		"without a total":               {0, parent("h1"), transcript.Uncounted},
		"of a parent that is not there": {90, nil, transcript.Counted},
	} {
		f := &transcript.Family{Run: &transcript.Run{}, Related: c.related, Hints: []*transcript.Hint{{Key: hintParent, Value: "p"}, {Key: hintHead, Value: "h2"}}}
		f.Usage = []*transcript.Usage{
			{Attributes: transcript.Attributes{"of": ofInherited}}, {Rank: c.total / 2, Attributes: transcript.Attributes{"of": ofSession}},
			{Rank: c.total, Attributes: transcript.Attributes{"of": ofSession}},
		}
		New().(format.Resolver).Resolve(f)
		if got := f.Usage[0].Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestOutput checks that saved output is told from that of other programs.
func TestOutput(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"message","role":"user","id":"1","text":"x","timestamp":1,"session_id":"s"}`:                            roleOutput,
		"Ready.\n" + `{"type":"tool_call","id":"c","toolId":"Read","toolName":"Read","parameters":{},"session_id":"s"}`:  roleOutput,
		`{"type":"completion","finalText":"x","numTurns":1,"session_id":"s"}`:                                            roleOutput,
		`{"type":"system","subtype":"init","cwd":"/","session_id":"s","model":"m","reasoning_effort":"high","tools":[]}`: roleOutput,
		`{"type":"system","subtype":"init","cwd":"/","session_id":"s","model":"m","tools":[]}`:                           "",
		`{"type":"message","role":"user","content":"x","timestamp":"2026-01-01T00:00:00Z"}`:                              "",
		`{"type":"message","id":"1","role":"user","text":"x","timestamp":"2026-01-01T00:00:00Z","session_id":"s"}`:       "",
		`{"type":"message","id":"1","role":"agent","text":"x","timestamp":1,"session_id":"s"}`:                           "",
		`{"type":"tool_call","toolName":"Read","parameters":{},"session_id":"s"}`:                                        "",
		`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{}},"session_id":"s"}`:        "",
		`{"type":"result","subtype":"success","result":"x","session_id":"s","num_turns":1}`:                              "",
	} {
		if got := formattest.Detect(New(), "run.jsonl", []byte(line)); got.Role != want || want != "" && got.Strength != format.Likely {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}
