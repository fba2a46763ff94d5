//go:build !poison && !race

package all

import (
	"bytes"
	"os"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// TestParsersAllocate bounds what parsers of lines allocate per line. Most of it is the record itself, its texts and times.
// (Under the race detector, pools drop some of their items.)
func TestParsersAllocate(t *testing.T) {
	for _, c := range []struct {
		format, role, path string
		most               float64
	}{
		{"awf", "transcript", "../../../../testdata/runs/awf/storage/transcripts/d3e09b29-8061-46f1-9956-444de7ec490a.jsonl", 28},
		{"chibi", "transcript", "../../../../testdata/runs/chibi/.chibi/contexts/default/transcript/active.jsonl", 17},
		{"claude-code", "session", "../claudecode/testdata/blocks/in/-home-ada-shop/0c000000-0000-4000-8000-00000000000c.jsonl", 7},
		{"codebuddy", "session", "../codebuddy/testdata/session/in/.codebuddy/projects/home-ada-shop/c0000000-0000-4000-8000-00000000000a.jsonl", 7},
		{"antigravity", "full", "../antigravity/testdata/cli/in/.gemini/antigravity-cli/brain/a0000000-0000-4000-8000-00000000000a/.system_generated/logs/transcript_full.jsonl", 4},
		{"codex", "rollout", "../codex/testdata/everything/in/home/.codex/sessions/2026/03/04/rollout-2026-03-04T09-00-00-019c1111-aaaa-7000-8000-000000000001.jsonl", 2},
		{"copilot-cli", "events", "../copilotcli/testdata/session/in/home/.copilot/session-state/0b1c2d3e-0000-4000-8000-00000000000a/events.jsonl", 15},
		{"copilot-vscode", "session-log", "../copilotvscode/testdata/log/in/Code/User/workspaceStorage/0123456789abcdef0123456789abcdef/chatSessions/5e000000-0000-4000-8000-000000000002.jsonl", 22},
		{"continue", "log", "../continuedev/testdata/logs/in/home/.continue/dev_data/0.2.0/chatInteraction.jsonl", 5},
		{"crush", "rows", "../crush/testdata/rows/in/home/ada/shop/.crush/crush.db/c0000000-0000-4000-8000-000000000001/messages.ndjson", 20},
		{"cursor", "transcript", "../cursor/testdata/transcripts/in/home/.cursor/projects/home-ada-shop/agent-transcripts/aa000000-0000-4000-8000-00000000000a/aa000000-0000-4000-8000-00000000000a.jsonl", 8},
		{"cursor", "rows", "../cursor/testdata/rows/in/home/.config/Cursor/User/globalStorage/state.vscdb/bb000000-0000-4000-8000-00000000000a/bubbles.ndjson", 8},
		{"cursor", "chat", "../cursor/testdata/chat/in/home/.cursor/chats/0123456789abcdef0123456789abcdef/cc000000-0000-4000-8000-00000000000a/store.db/messages.ndjson", 10},
		{"flow-studio", "transcript", "../flowstudio/testdata/cli/in/swarm/runs/run-20261120-100000-abc123/build/llm/mutate-fixer-claude.jsonl", 10},
		{"gemini-cli", "session-log", "../geminicli/testdata/log/in/home/.gemini/tmp/shop/chats/session-2026-05-06T07-00-11111111.jsonl", 19},
		{"chat-jsonl", "log", "../chatjsonl/testdata/growing/in/logs/calls.jsonl", 15},
		{"kimi", "wire", "../kimi/testdata/code/in/home/.kimi-code/sessions/wd_shop_0123456789ab/session_5a000000-0000-4000-8000-000000000001/agents/main/wire.jsonl", 3},
		{"qwen-code", "session", "../qwencode/testdata/session/in/home/.qwen/projects/-home-ada-shop/chats/1a000000-0000-4000-8000-00000000000a.jsonl", 8},
		{"kiro", "rows", "../kiro/testdata/rows/in/home/.local/share/kiro-cli/data.sqlite3/1a000000-0000-4000-8000-00000000000a/history.ndjson", 20},
		{"kiro", "log", "../kiro/testdata/log/in/home/.kiro/sessions/cli/1a000000-0000-4000-8000-00000000000b.jsonl", 6},
		{"kiro", "messages", "../kiro/testdata/messages/in/home/.kiro/sessions/c25a05601239adfe/sess_5a000000-0000-4000-8000-000000000001/messages.jsonl", 3},
		{"leslie", "transcript", "../leslie/testdata/copies/in/shop/.leslie/threads/thread-aaaa0001/.meta/transcripts/20260301-1000-Add-a-cart-page.txt", 0.8},
		{"goose", "rows", "../goose/testdata/rows/in/goose/sessions/sessions.db/20261001_1/messages.ndjson", 20},
		{"hermes", "rows", "../hermes/testdata/chain/in/home/.hermes/state.db/20260829_113320_a1b2c3/messages.ndjson", 20},
		{"llm-logs", "rows", "../llmlogs/testdata/rows/in/logs.db/c1/responses.ndjson", 26},
		{"openclaw", "session", "../openclaw/testdata/chats/in/home/.openclaw/agents/main/sessions/0a000000-0000-4000-8000-00000000000a.jsonl", 8},
		{"vibe", "messages", "../vibe/testdata/code/in/home/.vibe/logs/session/session_20260901_080000_1a2b3c4d/messages.jsonl", 6},
		{"droid", "session", "../droid/testdata/session/in/home/.factory/sessions/-home-ada-shop/d0000000-0000-4000-8000-000000000001.jsonl", 5},
		{"grok", "updates", "../grok/testdata/session/in/home/.grok/sessions/%2Fhome%2Fada%2Fshop/019f9000-0000-7000-8000-000000000001/updates.jsonl", 8},
		{"zed", "rows", "../zed/testdata/rows/in/home/.local/share/zed/threads/threads.db/a0000000-0000-4000-8000-000000000001.ndjson", 125}, // of a line with a whole thread
		{"pi", "session", "../pi/testdata/tree/in/home/.pi/agent/sessions/--home-ada-shop--/2026-11-03T10-00-00-000Z_019a0000-0000-7000-8000-00000000000a.jsonl", 8},
	} {
		content, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.Repeat(content, 50)
		f, ok := Lookup(c.format)
		if !ok {
			t.Fatal(c.format)
		}
		records := 0
		n := testing.AllocsPerRun(3, func() {
			in := format.Input{Path: c.path, Role: c.role, Size: int64(len(content)), Reader: bytes.NewReader(content)}
			for _, err := range f.Parse(in) {
				if err != nil {
					t.Fatal(err)
				}
				records++
			}
		})
		lines := bytes.Count(content, []byte("\n"))
		if records < lines/4 {
			t.Errorf("%s: %d records of %d lines: nothing was parsed", c.format, records, lines)
		}
		if per := n / float64(lines); per > c.most || per < c.most/2 {
			t.Errorf("%s: %.1f allocations a line, at most %.0f is right", c.format, per, c.most)
		}
	}
}

// TestExportsAllocate bounds what parsers of exports, which are one array, allocate per record.
func TestExportsAllocate(t *testing.T) {
	for _, c := range []struct {
		format, role, path string
		most               float64
	}{
		{"chatgpt-export", "conversations", "../chatgpt/testdata/tree/in/Downloads/export/conversations.json", 10},
		{"claude-ai-export", "conversations", "../claudeai/testdata/blocks/in/data-2026-02-02-batch-0000/conversations.json", 4},
	} {
		content, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		elements := bytes.Trim(bytes.TrimSpace(content), "[]")
		content = append(bytes.Repeat(append(elements, ','), 50), "{}]"...)
		content = append([]byte{'['}, content...)
		f, ok := Lookup(c.format)
		if !ok {
			t.Fatal(c.format)
		}
		records := 0
		n := testing.AllocsPerRun(3, func() {
			records = 0
			in := format.Input{Path: c.path, Role: c.role, Size: int64(len(content)), Reader: bytes.NewReader(content)}
			for _, err := range f.Parse(in) {
				if err != nil {
					t.Fatal(err)
				}
				records++
			}
		})
		if per := n / float64(records); records < 500 || per > c.most || per < c.most/2 {
			t.Errorf("%s: %.1f allocations for each of %d records, at most %.0f is right", c.format, per, records, c.most)
		}
	}
}
