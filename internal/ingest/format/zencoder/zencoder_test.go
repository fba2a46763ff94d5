package zencoder

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }
func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, ".zencoder/sessions/fuzz.jsonl")
}

func TestDetect(t *testing.T) {
	const (
		header = `{"id":"5e000000-0000-4000-8000-000000000001","creationReason":"newChat","createdAt":"2026-03-03T21:29:20.000Z"}` + "\n"
		said   = `{"role":"user","content":[{"type":"text","text":"Sort the basket"}],"createdAt":"2026-03-03T21:29:29.402Z"}` + "\n"
	)
	placed := format.Claim{Strength: format.Certain, Role: roleSession, Root: "home/ada/.zencoder/sessions", Log: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"home/ada/.zencoder/sessions/5e.jsonl", header + said, placed},
		{"home/ada/.zencoder/sessions/5e.jsonl", "", placed},
		{"home/ada/.zencoder/sessions/5e.json", header, format.Claim{}},
		{"home/ada/.zencoder/mcp.json", "{}", format.Claim{}},
		{"copy/5e.jsonl", header + said, format.Claim{Strength: format.Likely, Role: roleSession, Log: true}},
		{"copy/5e.jsonl", said + header, format.Claim{}},
		{"copy/5e.jsonl", `{"id":"5e","createdAt":"2026-03-03T21:29:20.000Z"}` + "\n", format.Claim{}},
	})
}

// TestNoContent: a message of the system without content is an event all the same.
func TestNoContent(t *testing.T) {
	formattest.Check(t, New(), formattest.Input{Path: ".zencoder/sessions/5e.jsonl", Role: roleSession, Bytes: []byte(`{"role":"system","kept":"0"}` + "\n")})
}
