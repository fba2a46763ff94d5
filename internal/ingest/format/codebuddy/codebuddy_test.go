package codebuddy

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

const (
	session = ".codebuddy/projects/home-ada-shop/c0000000-0000-4000-8000-00000000000a.jsonl"
	agent   = ".codebuddy/projects/home-ada-shop/c0000000-0000-4000-8000-00000000000a/subagents/agent-8c36227f.jsonl"
)

func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, session) }

func FuzzAgent(f *testing.F) { formattest.Fuzz(f, New(), roleAgent, agent) }

// TestDetect claims files by content, and by name in the directory that has nothing but sessions. Files of Claude Code have some types of line, too.
func TestDetect(t *testing.T) {
	const (
		said   = `{"id":"u","timestamp":1788249600000,"type":"message","role":"user","content":[{"type":"input_text","text":"x"}],"sessionId":"s"}`
		called = `{"id":"f","timestamp":1788249600000,"type":"function_call","callId":"c","name":"Read","arguments":"{}"}`
		titled = `{"type":"ai-title","aiTitle":"x","sessionId":"s"}`
		claude = `{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"x"}}`
		sdk    = `{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}`
		pi     = `{"type":"message","id":"m","timestamp":"2026-09-01T08:00:00Z","message":{"role":"user","content":[{"type":"text","text":"x"}]}}`
	)
	file := format.Claim{Strength: format.Certain, Role: roleSession, Root: ".codebuddy/projects", Log: true}
	sub, moved, loose := file, file, file
	sub.Role = roleAgent
	moved.Root, loose.Root, loose.Strength = "", "", format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{session, said, file},
		{session, "", file},
		{session, titled, file},
		{session, claude, format.Claim{}},
		{agent, said, sub},
		{".codebuddy/projects/home-ada-shop/notes.jsonl", titled, format.Claim{}},
		{"x/projects/shop/chat.jsonl", called, moved},
		{"x/projects/shop/chat.jsonl", titled, format.Claim{}},
		{"x/chat.jsonl", titled + "\n" + said, loose},
		{"x/chat.jsonl", sdk, format.Claim{}},
		{"x/chat.jsonl", pi, format.Claim{}},
		{"x/chat.json", said, format.Claim{}},
		{".codebuddy/history.jsonl", `{"display":"x","timestamp":1}`, format.Claim{}},
	})
}
