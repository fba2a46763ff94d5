package claudecode

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
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

// TestTranscriptOfAnyName recognises a transcript by its lines, also where the name is one of a text.
func TestTranscriptOfAnyName(t *testing.T) {
	const line = `{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":"hi"}}` + "\n"
	for _, file := range []string{"export/chat.md", "export/chat.txt", "export/chat"} {
		if got := New().Detect(format.Head{Path: file, Size: int64(len(line)), Bytes: []byte(line)}); got.Role != roleSession {
			t.Errorf("%s: %+v", file, got)
		}
	}
}
