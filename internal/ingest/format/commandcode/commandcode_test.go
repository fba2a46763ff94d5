package commandcode

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

const testProject = ".commandcode/projects/home-ada-shop/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, testProject+"s.jsonl") }
func FuzzMeta(f *testing.F)    { formattest.Fuzz(f, New(), roleMeta, testProject+"s.meta.json") }

func TestDetect(t *testing.T) {
	const root = ".commandcode/projects"
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-09-14T08:00:00.000Z","cwd":"/x"}` + "\n"
	const said = `{"type":"message","id":"1","timestamp":"2026-09-14T08:00:03.000Z","message":{"role":"user","content":[],"meta":{"source":"user"}}}` + "\n"
	const answered = `{"type":"message","id":"2","timestamp":"2026-09-14T08:00:03.000Z","message":{"role":"assistant","content":[]},"usage":{"inputTokens":1}}` + "\n"
	const flat = `{"id":"m1","timestamp":"2026-06-01T10:00:00Z","sessionId":"s","role":"user","metadata":{"version":2},"content":"hello"}` + "\n"
	session := format.Claim{Strength: format.Certain, Role: roleSession, Root: root, Log: true}
	whole := format.Claim{Strength: format.Certain, Role: roleSession, Root: root}
	likely := format.Claim{Strength: format.Likely, Role: roleSession, Log: true}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	other := format.Claim{Strength: format.Certain, Role: format.Other, Root: root}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testProject + "s.jsonl", "", session},
		{testProject + "s.jsonl", header + said, session},
		{testProject + "s.jsonl", flat, whole},
		{testProject + "s.meta.json", "{}", format.Claim{Strength: format.Certain, Role: roleMeta, Root: root}},
		{testProject + "s.checkpoints.jsonl", said, other},
		{testProject + "s.prompts.jsonl", "", other},
		{testProject + "s.share.json", "{}", skip},
		{testProject + "mcp.json", "{}", skip},
		{".commandcode/auth.json", "{}", skip},
		{".commandcode/mcp-tokens.json", "{}", skip},
		{"shop/auth.json", "{}", format.Claim{}},
		{testProject + "settings.json", "{}", format.Claim{}},
		{testProject + "deeper/s.jsonl", "", format.Claim{}},
		{"moved/s.jsonl", header + said, likely},
		{"moved/s.jsonl", header + answered, likely},
		{"moved/s.jsonl", header, format.Claim{}},
		{"moved/s.jsonl", "torn\n" + flat, format.Claim{Strength: format.Likely, Role: roleSession}},
		{"moved/s.checkpoints.jsonl", said, format.Claim{}},
		{"moved/s.meta.json", `{"title":"x"}`, format.Claim{}},
		{"moved/s.log", header + said, format.Claim{}},
	})
}

// TestFlatLines: what identifies a line of version 2 does not depend on the first one, of which the program may not have noted what wrote it.
func TestFlatLines(t *testing.T) {
	const first = `{"id":"m1","timestamp":"2026-06-01T10:00:00Z","sessionId":"s","role":"user","content":"Weave"}` + "\n"
	const flat = `{"id":"m2","timestamp":"2026-06-01T10:00:01Z","sessionId":"s","role":"assistant","metadata":{"version":2},"content":"Woven"}` + "\n"
	for _, r := range formattest.Check(t, New(), formattest.Input{Path: testProject + "s.jsonl", Role: roleSession, Bytes: []byte(first + flat)}) {
		if e, ok := r.(*transcript.Event); ok && e.ID != "" {
			t.Errorf("line %d is identified by %q, which the program changes whenever it writes the file", e.Origin.Line, e.ID)
		}
	}
}
