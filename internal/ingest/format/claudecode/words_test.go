package claudecode

import (
	"bytes"
	"os"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestGrowth excepts files whose name does not identify the session: until a line names one, their rows have no run. No
// program writes those lines alone.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "chat.jsonl", "agent-0ld.jsonl") }

// TestResolve: sub-agents are named by their metadata, else by the call that started them; sessions have the title of their
// metadata.
func TestResolve(t *testing.T) {
	child := func() *transcript.FamilyConversation {
		return &transcript.FamilyConversation{Conversation: transcript.Conversation{ID: "c0ffee1", Child: true, Title: "Find it"}}
	}
	called := map[string][]*transcript.Hint{"s": {
		{Run: "s", Key: "agent c0ffee1", Value: "scout"}, {Run: "s", Key: "agent other", Value: "painter"}, {Run: "s", Key: "title c0ffee1", Value: "Look around"},
	}}
	note := []*transcript.Hint{{Run: "s/c0ffee1", Key: "agent", Value: "Explore"}}
	for _, c := range []struct {
		name               string
		family             transcript.Family
		agent, title, main string
	}{
		{"nothing known", transcript.Family{}, "", "Find it", "Hello"},
		{"the call", transcript.Family{Related: called}, "scout", "Look around", "Hello"},
		{"the note", transcript.Family{Hints: note}, "Explore", "Find it", "Hello"},
		{"both", transcript.Family{Hints: note, Related: called}, "Explore", "Look around", "Hello"},
		{"a title", transcript.Family{Hints: []*transcript.Hint{{Run: "s", Key: "title", Value: "Otters"}}, Related: called}, "scout", "Otters", "Otters"},
	} {
		got, main := child(), &transcript.FamilyConversation{Conversation: transcript.Conversation{ID: "s", Title: "Hello"}}
		c.family.Conversations = []*transcript.FamilyConversation{got, main}
		claudeCode{}.Resolve(&c.family)
		if got.Agent != c.agent || got.Title != c.title || main.Agent != "" || main.Title != c.main {
			t.Errorf("%s: %q %q, %q %q", c.name, got.Agent, got.Title, main.Agent, main.Title)
		}
	}
}

// TestText: what a user searches for is indexed, what would only fill the index is not.
func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"plain"`, "plain"},
		{`{"type":"text","text":"a\nb"}`, "a\nb"},
		{`{"type":"thinking","thinking":"why","signature":"c2ln"}`, "why"},
		{`{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"id":"7","type":"x","data":"y","n":1}}`, "Bash\n7\nx\ny"},
		{`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + string(bytes.Repeat([]byte("iVBORw0K"), 20)) + `"}}]}`, "one"},
		{`{"type":"progress","data":{"type":"bash_progress","output":"half done"},"uuid":"u","sessionId":"s"}`, "half done"},
		{`{"type":"x","data":"short words"}`, "short words"},
		{`{"stdout":"out","originalFile":"before","structuredPatch":[{"lines":["-x"]}]}`, "out"},
		{`12`, ""}, {`null`, ""}, {`[["a"],{"b":"c"}]`, "a\nc"},
	} {
		got, err := New().Text(roleSession, []byte(c.in), 0)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", c.in, got, err)
		}
	}
	if _, err := New().Text(roleSession, []byte("{"), 0); err == nil {
		t.Error("no error for what is no JSON")
	}
}

// TestExtra: the copy of a result in toolUseResult is indexed only if it has more text.
func TestExtra(t *testing.T) {
	const block = `{"tool_use_id":"t","type":"tool_result","content":"line one\nline two"}`
	for in, want := range map[string]bool{
		`{"stdout":"line one\nline two\n","stderr":"","interrupted":false}`:        false,
		`{"stdout":"line one","stderr":"a warning"}`:                               true,
		`"Error: line one\nline two"`:                                              true,
		`"line two"`:                                                               false,
		`{"type":"text","file":{"filePath":"x","content":"the file"}}`:             false,
		`{"type":"create","filePath":"x","content":"new","structuredPatch":[]}`:    false,
		`{"oldTodos":[{"content":"a"}],"newTodos":[{"content":"b"}]}`:              false,
		`{"content":[{"type":"text","text":"not told"}],"agentId":"c0ffee1"}`:      true,
		`{"filenames":["line one"],"numFiles":1,"truncated":false,"mode":"files"}`: false,
	} {
		if got := hasMoreText(format.ParseStart([]byte(in)), format.ParseStart([]byte(block))); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestDetect(t *testing.T) {
	const id = "0a000000-0000-4000-8000-00000000000a"
	const user = `{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"x"},"uuid":"u"}` + "\n"
	const prompt = `{"display":"x","pastedContents":{},"timestamp":1,"project":"/a","sessionId":"s"}` + "\n"
	long := `{"parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"content":[{"type":"text","text":"` + string(bytes.Repeat([]byte("word "), 4000)) + `"}]},"type":"assistant"}`
	for _, c := range []struct{ path, content, role, root string }{
		{".claude/projects/-a-b/" + id + ".jsonl", user, roleSession, ".claude/projects"},
		{".claude/projects/-a-b/" + id + ".jsonl", "", roleSession, ".claude/projects"},
		{".claude/projects/-a-b/" + id + ".jsonl", `{"type":"of next month","sessionId":"s"}`, roleSession, ".claude/projects"},
		{".claude/projects/-a-b/" + id + ".jsonl", `{"role":"user"}`, "", ""},
		{"-a-b/" + id + "/subagents/agent-1.jsonl", user, roleAgent, "."},
		{"-a-b/" + id + "/subagents/workflows/w/agent-1.jsonl", long, roleAgent, "."},
		{"-a-b/" + id + "/subagents/workflows/w/journal.jsonl", "{}", roleJournal, "."},
		{"-a-b/" + id + "/subagents/agent-1.meta.json", "{}", roleMeta, "."},
		{"-a-b/" + id + "/custom-title.json", "{}", roleTitle, "."},
		{"backup/-a-b/" + id + "/custom-title.json", "{}", roleTitle, "backup/-a-b"},
		{"-a-b/custom-title.json", "{}", "", ""},
		{"backup/-a-b/agent-1.jsonl", user, roleAgent, "backup/-a-b"},
		{"projects/shop/" + id + ".jsonl", user, roleSession, ""},
		{"projects/shop/" + id + ".jsonl", "", "", ""},
		{"any.log", "bad\n" + user, roleSession, ""},
		{"any.log", "\x00\x00\n" + user, roleSession, ""},
		{"-a-b/" + id + ".jsonl", "\x00\x00\x00", roleSession, "."},
		{"-a-b/picture.png", "\x89PNG\r\n\x00", "", ""},
		{"any.log", long, roleSession, ""},
		{"any.jsonl", `{"type":"summary","summary":"x","leafUuid":"y"}`, roleSession, ""},
		{"any.jsonl", `{"type":"of next month","sessionId":"s"}`, "", ""},
		{"chats/s.jsonl", `{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"x"}]}}`, "", ""},
		{"swarm/runs/r/build/llm/a-b-claude.jsonl", `{"timestamp":"t","phase":"work","type":"assistant","message":{"content":[]},"sessionId":"s"}`, "", ""},
		{"stream.jsonl", `{"type":"assistant","message":{"content":[]},"session_id":"s","uuid":"u"}`, "", ""},
		{"-a-b/" + id + ".jsonl.tmp", user, "", ""},
		{"-a-b/" + id + ".jsonl.superseded-1790840000000", user, roleSession, "."},
		{"-a-b/" + id + ".orphaned-1790840000000-ab12.jsonl", "", roleSession, "."},
		{"-a-b/" + id + "/tool-results/1.txt", "words", roleOutput, "."},
		{"-a-b/" + id + "/tool-results/1.txt", user, roleOutput, "."},
		{"projects/shop/" + id + "/tool-results/deep/1.jsonl", user, roleOutput, ""},
		{"-a-b/" + id + "/tool-results/1.pdf", "%PDF\x00", format.Other, ""},
		{"-a-b/named/tool-results/1.txt", "words", format.Other, ""},
		{"tests/tool-results/1.jsonl", user, roleSession, ""},
		{"-a-b/memory/notes.json", "{}", "", ""},
		{".claude/history.jsonl", prompt, roleHistory, ""},
		{"history.jsonl", "\x00\n" + prompt, roleHistory, ""},
		{"prompts.jsonl", prompt, "", ""},
		{"history.jsonl", `{"session_id":"s","ts":1,"text":"x"}`, "", ""},
		{".claude/paste-cache/0123456789abcdef.txt", "words", rolePaste, ""},
		{".claude/paste-cache/0123456789abcdef.txt", "\x00", "", ""},
		{".claude/paste-cache/notes.txt", "words", "", ""},
		{"0123456789abcdef.txt", "words", "", ""},
		{"claude-code-sessions/o/u/local_1.json", `{"sessionId":"local_1","cliSessionId":"s","cwd":"/a"}`, roleDesktop, ""},
		{"claude-code-sessions/o/u/local_1.json", `{"sessionId":"local_1"}`, "", ""},
		{"claude-code-sessions/o/u/spaces.json", `{"sessionId":"local_1","cliSessionId":"s","cwd":"/a"}`, "", ""},
	} {
		got := formattest.Detect(New(), c.path, []byte(c.content))
		if got.Role != c.role || got.Root != c.root || (got.Strength > 0) != (c.role != "") || got.Log != (c.role != "" && c.role != roleMeta && c.role != roleOutput && c.role != rolePaste && c.role != roleDesktop && c.role != roleTitle && c.role != format.Other) {
			t.Errorf("%s: %+v, want %q %q", c.path, got, c.role, c.root)
		}
	}
}

func BenchmarkSession(b *testing.B) {
	content, err := os.ReadFile("testdata/fork/in/-home-ada-shop/0a000000-0000-4000-8000-00000000000a.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	content = bytes.Repeat(content, 200)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range New().Parse(format.Input{Path: "s.jsonl", Role: roleSession, Reader: bytes.NewReader(content)}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
