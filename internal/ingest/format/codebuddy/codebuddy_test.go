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

const filedStore = "CodeBuddyExtension/Data/7c0ffee0/CodeBuddyIDE/c2hvcA==/history/"

func FuzzMessage(f *testing.F) {
	formattest.Fuzz(f, New(), roleMessage, filedStore+"w/s/messages/m.json")
}

func FuzzRequests(f *testing.F) {
	formattest.Fuzz(f, New(), roleRequests, filedStore+"w/s/index.json")
}

// TestDetectFiled claims the files of the editor and the plugin, elsewhere by content, and never the user's tokens.
func TestDetectFiled(t *testing.T) {
	const (
		message  = `{"id":"m","role":"user","createdAt":1,"message":"{}","extra":"{}"}`
		requests = `{"messages":[{"id":"m"}],"requests":[]}`
		list     = `{"conversations":[{"id":"s"}],"current":"s"}`
	)
	claim := func(role string, strength format.Strength, root string) format.Claim {
		return format.Claim{Strength: strength, Role: role, Root: root}
	}
	root := filedStore[:len(filedStore)-1]
	formattest.CheckClaims(t, New(), formattest.Claims{
		{filedStore + "w/index.json", list, claim(roleList, format.Certain, root)},
		{filedStore + "w/s/index.json", requests, claim(roleRequests, format.Certain, root)},
		{filedStore + "w/s/messages/m.json", message, claim(roleMessage, format.Certain, root)},
		{filedStore + "w/s/messages/m.json", "", claim(roleMessage, format.Certain, root)},
		{filedStore + "w/s/messages/m.json", `{"x":1}`, format.Claim{}},
		{filedStore + "w/s/other.json", `{"x":1}`, format.Claim{}},
		{"x/history/w/s/messages/m.json", message, claim(roleMessage, format.Likely, "")},
		{"x/history/w/s/messages/m.json", `{"role":"user","content":"x"}`, format.Claim{}},
		{"x/history/w/index.json", "", format.Claim{}},
		{"x/w/s/messages/m.json", message, format.Claim{}},
		{"CodeBuddyExtension/Data/Public/auth/x.info", "{}", format.Claim{Strength: format.Certain, Role: format.Other, Skip: true}},
	})
}

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
