package claudecode

import (
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, "-home-ada-shop/0a000000-0000-4000-8000-00000000000a.jsonl")
}

func FuzzNameless(f *testing.F) { formattest.Fuzz(f, New(), roleSession, "export/chat.jsonl") }

func FuzzAgent(f *testing.F) {
	formattest.Fuzz(f, New(), roleAgent, "-home-ada-shop/agent-c0ffee1.jsonl")
}

func FuzzJournal(f *testing.F) {
	formattest.Fuzz(f, New(), roleJournal, "-home-ada-shop/0a000000-0000-4000-8000-00000000000a/subagents/workflows/w/journal.jsonl")
}

func FuzzTitle(f *testing.F) {
	formattest.Fuzz(f, New(), roleTitle, "-home-ada-shop/0a000000-0000-4000-8000-00000000000a/custom-title.json")
}

func FuzzMeta(f *testing.F) {
	formattest.Fuzz(f, New(), roleMeta, "-home-ada-shop/0a000000-0000-4000-8000-00000000000a/subagents/agent-c0ffee1.meta.json")
}

func FuzzOutput(f *testing.F) {
	formattest.Fuzz(f, New(), roleOutput, "-home-ada-shop/0a000000-0000-4000-8000-00000000000a/tool-results/t1.txt")
}

func FuzzHistory(f *testing.F) { formattest.Fuzz(f, New(), roleHistory, ".claude/history.jsonl") }

func FuzzPaste(f *testing.F) {
	formattest.Fuzz(f, New(), rolePaste, ".claude/paste-cache/0123456789abcdef.txt")
}

func FuzzDesktop(f *testing.F) {
	formattest.Fuzz(f, New(), roleDesktop, "local-agent-mode-sessions/o/u/local_0a000000-0000-4000-8000-00000000000a.json")
}

func FuzzStream(f *testing.F) { formattest.Fuzz(f, New(), roleStream, "ci/run.jsonl") }

func FuzzMessages(f *testing.F) { formattest.Fuzz(f, New(), roleMessages, "ci/run.json") }

func FuzzPlan(f *testing.F) {
	formattest.Fuzz(f, New(), rolePlan, ".claude/plans/woolly-mending-basket.md")
}

func FuzzTodos(f *testing.F) {
	formattest.Fuzz(f, New(), roleTodos, ".claude/todos/0a000000-0000-4000-8000-00000000000a-agent-a7c0ffee.json")
}

func FuzzTask(f *testing.F) { formattest.Fuzz(f, New(), roleTask, ".claude/tasks/basket-team/1.json") }

func FuzzTeam(f *testing.F) {
	formattest.Fuzz(f, New(), roleTeam, ".claude/teams/basket-team/config.json")
}

func FuzzInbox(f *testing.F) {
	formattest.Fuzz(f, New(), roleInbox, ".claude/teams/basket-team/inboxes/weaver.json")
}

// TestPlanOfSource recognises plans in a directory that is a source by itself, as that of $CLAUDE_CONFIG_DIR is.
func TestPlanOfSource(t *testing.T) {
	for _, c := range []struct {
		file, source string
		want         bool
	}{
		{"data/agent/plans/mend-the-rim.md", "data/agent/plans", true},
		{"home/ada/.claude-work/plans/mend-the-rim.md", "home/ada/.claude-work/plans", true},
		{"home/ada/.claude/plans/rim.md", "home/ada", true},
		{"data/agent/plans/mend-the-rim.md", "data", false},
		{"data/agent/plans/rim.md", "data/agent/plans", false},
		{"home/ada/.cursor/plans/mend-the-rim.md", "home/ada/.cursor/plans", false},
	} {
		got := New().Detect(format.Head{Path: c.file, Dir: c.source, Size: 6, Bytes: []byte("# Rim\n")})
		if (got.Role == rolePlan) != c.want {
			t.Errorf("%s in %s: %+v", c.file, c.source, got)
		}
	}
}

func FuzzInsight(f *testing.F) {
	formattest.Fuzz(f, New(), roleInsight, ".claude/usage-data/facets/0a000000-0000-4000-8000-00000000000a.json")
}

func FuzzBrief(f *testing.F) {
	formattest.Fuzz(f, New(), roleBrief, ".qoder/cache/projects/shop-5a02c36b/conversation-history/task-0c0/task-0c0.jsonl")
}

func FuzzShown(f *testing.F) {
	formattest.Fuzz(f, New(), roleShown, ".qoder/cache/projects/shop-5a02c36b/agent-tools/task-0c0/87f1f9f2.txt")
}

// TestBrief recognises what Qoder's editor keeps by its path, and elsewhere only under the name that it has there.
func TestBrief(t *testing.T) {
	const (
		line  = `{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}` + "\n"
		cache = "home/ada/.qoder/cache/projects/shop-5a02c36b/"
	)
	for _, c := range []struct{ file, content, role, run string }{
		{cache + "conversation-history/task-0c0/task-0c0.jsonl", line, roleBrief, "conversation-history/shop-5a02c36b/task-0c0"},
		{cache + "conversation-history/task-0c0/task-0c0.jsonl", "", roleBrief, "conversation-history/shop-5a02c36b/task-0c0"},
		{cache + "conversation-history/task-0c0/part-1.jsonl", line, roleBrief, "conversation-history/shop-5a02c36b/task-0c0"},
		{cache + "conversation-history/task-0c0.jsonl", line, roleBrief, "conversation-history/shop-5a02c36b/task-0c0"},
		{cache + "conversation-history/5e6f7a8b/5e6f7a8b.txt", "hi", roleShown, "conversation-history/shop-5a02c36b/5e6f7a8b"},
		{cache + "agent-tools/5e6f7a8b/0123abcd.txt", "hi", roleShown, "conversation-history/shop-5a02c36b/5e6f7a8b"},
		{cache + "agent-tools/5e6f7a8b/0123abcd.txt", "no text\x00\xff", format.Other, "conversation-history/shop-5a02c36b/5e6f7a8b"},
		{cache + "agent-tools/5e6f7a8b/notes.txt", "hi", "", ""},
		{"shop-5a02c36b/conversation-history/task-0c0/task-0c0.jsonl", line, roleBrief, "conversation-history/shop-5a02c36b/task-0c0"},
		{"conversation-history/task-0c0/task-0c0.jsonl", line, "", ""},
		{"shop/conversation-history/task-0c0/talk.jsonl", line, "", ""},
		{"shop/conversation-history/5e6f7a8b/5e6f7a8b.txt", "hi", "", ""},
	} {
		got := New().Detect(format.Head{Path: c.file, Size: int64(len(c.content)), Bytes: []byte(c.content)})
		if got.Role != c.role || c.role != "" && briefRun(c.file) != c.run {
			t.Errorf("%s: %+v", c.file, got)
		}
	}
}

// TestLongUUID has a line whose uuid is of a size that must not be in each block's event.
func TestLongUUID(t *testing.T) {
	line := `{"type":"assistant","uuid":"` + strings.Repeat("x", 100_000) + `","sessionId":"s","timestamp":"2026-11-01T10:00:00Z",` +
		`"message":{"role":"assistant","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}}` + "\n"
	n := 0
	for r, err := range New().Parse(format.Input{Path: "projects/-a/s.jsonl", Role: roleSession, Reader: strings.NewReader(line)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			if n++; len(e.ID) == 0 || len(e.ID) > 300 {
				t.Errorf("id of %d bytes", len(e.ID))
			}
		}
	}
	if n != 2 {
		t.Errorf("%d events", n)
	}
}

// TestQoderCredentials leaves out what signs the user of Qoder in, even where a transcript's name or an option would take it.
func TestQoderCredentials(t *testing.T) {
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"home/.qoder/.auth/user", "secret", skip},
		{"home/.qoder-cn/.auth/machine_id", "secret", skip},
		{".qwenworkcn/.auth/user", "secret", skip},
		{"home/.config/Qoder/SharedClientCache/cache/machine_token.json", "{}", skip},
		{"home/.qoder/shared_client/cache/machine_token.json", "{}", skip},
		{"home/shop/.auth/user", "", format.Claim{}},
		{"home/shop/machine_token.json", "{}", format.Claim{}},
	})
}

// TestTranscriptOfAnyName recognises a transcript by its lines, also where the name is one of a text.
func TestTranscriptOfAnyName(t *testing.T) {
	const line = `{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":"hi"}}` + "\n"
	for _, file := range []string{"export/chat.md", "export/chat.txt", "export/chat"} {
		if got := New().Detect(format.Head{Path: file, Size: int64(len(line)), Bytes: []byte(line)}); got.Role != roleSession {
			t.Errorf("%s: %+v", file, got)
		}
	}
}

func FuzzEdited(f *testing.F) {
	formattest.Fuzz(f, New(), roleEdited, ".config/Qoder/SharedClientCache/cache/db/local.db/d75614d7-0000-4000-8000-000000000001.ndjson")
}

func TestDetectEditor(t *testing.T) {
	const schema = "SQLite format 3\x00CREATE TABLE chat_message (id, session_id, role, tool_result, token_info, gmt_create)"
	long, other := string(formattest.DatabaseHead(true)), string(formattest.DatabaseHead(false))
	database := format.Claim{Strength: format.Certain, Role: roleEditor, Database: true, Secret: true}
	likely := database
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".config/Qoder/SharedClientCache/cache/db/local.db", long, database},
		{"AppData/Roaming/QoderCN/SharedClientCache/cache/db/local.db", schema, database},
		{"AppData/Roaming/Qoder CN/SharedClientCache/cache/db/local.db", schema, database},
		{".qoder/shared_client/cache/db/local.db", long, database},
		{".lingma/vscode/sharedClientCache/cache/db/local.db", long, database},
		{"Qoder/SharedClientCache/cache/db/local.db", other, format.Claim{}},
		{"Qoder/SharedClientCache/cache/db/local.db", "no database", format.Claim{}},
		{"Qoder/SharedClientCache/cache/db/other.db", long, format.Claim{}},
		{"other/cache/db/local.db", long, format.Claim{}},
		{"copies/local.db", schema, database},
		{"copies/sessions.bak", schema, likely},
		{"x/y.ndjson", `{"table":"qoder message"}`, format.Claim{Strength: format.Certain, Role: roleEdited}},
		{"x/y.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}

// TestSealed tells what Qoder's editor has encrypted from text.
func TestSealed(t *testing.T) {
	for text, want := range map[string]bool{
		`"Qk3vZ0n8r1pXh2Lw9sYtAd=="`: true, `"abcdefghijklmnopqrst/uv="`: true, `"aB3aB3aB3aB3aB3aB3aB"`: true,
		`"aB3aB3aB3aB3aB3aB3a"`: false, `"internal/ingest/format/claudecode"`: false, `"mend the basket, please, today"`: false,
		`"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`: false, `["aB3aB3aB3aB3aB3aB3aB"]`: false, `""`: false,
	} {
		if v, _ := jsontext.Parse([]byte(text)); isSealed(v) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// TestQoderPlaces: the editor of Qoder in China is called by two names, one with a space.
func TestQoderPlaces(t *testing.T) {
	for _, program := range []string{"Qoder", "QoderCN", "Qoder CN"} {
		for _, below := range []string{"cli/projects", editorBelow} {
			want := "~/Library/Application Support/" + program + "/SharedClientCache/" + below
			if !slices.ContainsFunc(claudeCode{}.Places(), func(p format.Place) bool { return p.Name == "qoder" && p.Path == want }) {
				t.Errorf("no place %s", want)
			}
		}
	}
}
