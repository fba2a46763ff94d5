package neovate

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testProject = ".neovate/projects/home-ada-shop/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "mill copy.jsonl") }

func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, testProject+"1a2b3c4d.jsonl") }
func FuzzRenamed(f *testing.F) { formattest.Fuzz(f, New(), roleSession, "desk/mill copy.jsonl") }
func FuzzData(f *testing.F)    { formattest.Fuzz(f, New(), roleData, ".neovate/data.json") }

func TestDetect(t *testing.T) {
	const (
		root     = ".neovate/projects"
		settings = `{"type":"config","config":{"approvalTools":[]}}` + "\n"
		said     = `{"parentUuid":null,"uuid":"u","role":"user","content":"x","type":"message","timestamp":"2026-01-14T09:00:00Z","sessionId":"1a2b3c4d"}` + "\n"
		long     = `{"parentUuid":null,"uuid":"u","role":"user","content":"x`
		claude   = `{"parentUuid":null,"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"x"},"timestamp":"2026-01-14T09:00:00Z"}` + "\n"
		pi       = `{"type":"message","id":"m","parentId":null,"timestamp":"2026-01-14T09:00:00Z","message":{"role":"user","content":"x"}}` + "\n"
		plain    = `{"role":"user","content":"x"}` + "\n"
	)
	session := format.Claim{Strength: format.Certain, Role: roleSession, Root: root, Log: true}
	likely := format.Claim{Strength: format.Likely, Role: roleSession, Log: true}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	other := format.Claim{Strength: format.Certain, Role: format.Other, Root: root}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testProject + "1a2b3c4d.jsonl", "", session},
		{testProject + "1a2b3c4d.jsonl", settings, session},
		{testProject + "1a2b3c4d.jsonl", "torn\n" + settings + said, session},
		{testProject + "1a2b3c4d.jsonl", claude, format.Claim{}},
		{testProject + "1a2b3c4d.jsonl", plain, format.Claim{}},
		{testProject + "agent-5e6f7a8b.jsonl", said, session},
		{testProject + "agents/agent-5e6f7a8b.jsonl", said, session},
		{testProject + "requests/u.jsonl", said, skip},
		{testProject + "file-history/x.jsonl", said, other},
		{testProject + "notes.json", said, format.Claim{}},
		{".neovate/data.json", "{}", format.Claim{Strength: format.Certain, Role: roleData}},
		{".neovate/config.json", "{}", skip},
		{"shop/config.json", "{}", format.Claim{}},
		{"shop/data.json", "{}", format.Claim{}},
		{".neovate/projects/1a2b3c4d.jsonl", settings, format.Claim{}},
		{"x/chat.jsonl", settings + said, likely},
		{"x/chat.jsonl", long, likely},
		{"x/chat.jsonl", settings, format.Claim{}},
		{"x/chat.jsonl", claude, format.Claim{}},
		{"x/chat.jsonl", pi, format.Claim{}},
		{"x/chat.jsonl", plain, format.Claim{}},
	})
}
