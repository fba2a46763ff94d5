package qwencode

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/format/geminicli"
)

var own = New(geminicli.New())

func TestGolden(t *testing.T) { formattest.Golden(t, own) }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, own, roleSession, "projects/-home-ada-shop/chats/1a000000-0000-4000-8000-00000000000a.jsonl")
}

func FuzzAgent(f *testing.F) {
	formattest.Fuzz(f, own, roleAgent, "projects/-home-ada-shop/subagents/1a000000-0000-4000-8000-00000000000a/agent-x-1.jsonl")
}

func FuzzMeta(f *testing.F) {
	formattest.Fuzz(f, own, roleMeta, "projects/-home-ada-shop/subagents/1a000000-0000-4000-8000-00000000000a/agent-x-1.meta.json")
}

func FuzzStream(f *testing.F) { formattest.Fuzz(f, own, roleStream, "run.jsonl") }

func FuzzArray(f *testing.F) { formattest.Fuzz(f, own, roleArray, "run.json") }

func TestGrowth(t *testing.T) { formattest.Growth(t, own) }

// TestLegacy checks that Gemini CLI's sessions are left to its format, and those of Qwen Code in the same layout are claimed.
func TestLegacy(t *testing.T) {
	session := func(model string) []byte {
		return []byte(`{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"gemini","model": "` + model + `","content":"x"}]}`)
	}
	for _, c := range []struct {
		path, model string
		want        format.Strength
	}{
		{"tmp/h/chats/session-1.json", "gemini-3-pro", format.None},
		{"tmp/h/chats/session-1.json", "coder-model", format.Certain},
		{"tmp/h/chats/session-1.json", "qwen3-max", format.Certain},
		{"export.json", "qwen3-max", format.Likely},
		{"export.json", "gemini-3-pro", format.None},
		{".qwen/tmp/h/chats/session-1.json", "gpt-5", format.Certain},
	} {
		got := formattest.Detect(own, c.path, session(c.model))
		if got.Strength != c.want {
			t.Errorf("%s with %s: %+v, want %v", c.path, c.model, got, c.want)
		}
		if got.Strength != format.None && formattest.Detect(geminicli.New(), c.path, session(c.model)).Strength >= got.Strength {
			t.Errorf("%s with %s: Gemini CLI is as sure", c.path, c.model)
		}
	}
}

// TestOutput checks that saved output is told from that of other programs.
func TestOutput(t *testing.T) {
	const start = `{"type":"system","subtype":"init","uuid":"a","session_id":"a","cwd":"/home/ada","tools":["edit"]`
	for name, c := range map[string]struct{ head, role string }{
		"a start":            {start + `,"qwen_code_version":"0.12.5"}`, roleStream},
		"a banner":           {"Loaded.\n" + start + `}`, roleStream},
		"a cut start":        {start + `,"slash_com`, roleStream},
		"an array":           {`[` + start + `},{"ty`, roleArray},
		"an answer":          {`{"type":"assistant","uuid":"m","session_id":"a","message":{"id":"m","type":"message","content":[]}}`, roleStream},
		"Claude's start":     {`{"type":"system","subtype":"init","cwd":"/home/ada","session_id":"a","tools":[],"apiKeySource":"none","uuid":"b"}`, ""},
		"Claude's answer":    {`{"type":"assistant","message":{"id":"msg_1","content":[]},"session_id":"a","uuid":"b"}`, ""},
		"Claude's array":     {`[{"type":"system","subtype":"init","session_id":"a","uuid":"b"}]`, ""},
		"Cursor's start":     {`{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/","session_id":"a","model":"Auto","permissionMode":"default"}`, ""},
		"CodeBuddy's start":  {`{"type":"system","subtype":"init","uuid":"a","session_id":"a","apiKeySource":"copilot.tencent.com","cwd":"/","tools":["Bash`, ""},
		"CodeBuddy's answer": {`{"type":"assistant","uuid":"m","session_id":"a","message":{"id":"m","content":[],"stop_sequence":null,"type":"message","usage":{}}}`, ""},
		"its cut answer":     {`{"type":"assistant","uuid":"m","session_id":"a","message":{"id":"m","content":[{"type":"text","text":"wor`, ""},
		"another's answer":   {`{"type":"assistant","session_id":"a","message":{"content":[]}}`, ""},
	} {
		if got := formattest.Detect(own, "run", []byte(c.head)); got.Role != c.role || c.role != "" && got.Strength != format.Likely {
			t.Errorf("%s: %+v, want %q", name, got, c.role)
		}
	}
}

func FuzzTodos(f *testing.F) {
	formattest.Fuzz(f, own, roleTodos, ".qwen/todos/1b000000-0000-4000-8000-00000000000a.json")
}

func FuzzPlan(f *testing.F) {
	formattest.Fuzz(f, own, rolePlan, ".qwen/plans/1b000000-0000-4000-8000-00000000000a.md")
}
