package claudecode

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestGrowth excepts files whose name does not identify the session: until a line names one, their rows have no run. No
// program writes those lines alone.
func TestGrowth(t *testing.T) {
	formattest.Growth(t, New(), "chat.jsonl", "agent-0ld.jsonl", "loop.txt")
}

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

// TestResolveStreams: what a run printed counts unless there is a transcript with messages, or a stream that the result was taken from.
func TestResolveStreams(t *testing.T) {
	of := func(id string, events int64) *transcript.FamilyConversation {
		return &transcript.FamilyConversation{Conversation: transcript.Conversation{ID: id}, Events: events}
	}
	until := func(c *transcript.FamilyConversation, end int64) *transcript.FamilyConversation {
		c.Ended = transcript.Time{UnixMicro: end, Valid: true}
		return c
	}
	result := []*transcript.Hint{{Key: hintResult, Value: "r1"}}
	for name, c := range map[string]struct {
		more   *transcript.FamilyConversation
		hints  []*transcript.Hint
		copied bool
	}{
		"alone":                    {of("stream i2", 3), nil, false},
		"a result of its own":      {of("stream i2", 3), []*transcript.Hint{{Key: hintTitle, Value: "r1"}, {Key: hintResult, Value: "r2"}}, false},
		"a result of the other":    {of("stream i2", 3), result, true},
		"a transcript":             {of("s", 3), nil, true},
		"an empty transcript":      {of("s", 0), nil, false},
		"a transcript of before":   {until(of("s", 3), 9), nil, false},
		"a transcript of then":     {until(of("s", 3), 10), nil, true},
		"a sub-agent's transcript": {&transcript.FamilyConversation{Conversation: transcript.Conversation{ID: "c0ffee1", Child: true}, Events: 3}, nil, false},
	} {
		stream := of("stream r1", 1)
		stream.Started = transcript.Time{UnixMicro: 10, Valid: true}
		claudeCode{}.Resolve(&transcript.Family{Conversations: []*transcript.FamilyConversation{stream, c.more}, Hints: c.hints})
		if copied := stream.CopiedUntil > 0; copied != c.copied || copied != (stream.Verdict == transcript.DerivedTotal) || c.more.CopiedUntil != 0 {
			t.Errorf("%s: copied until %d, %s", name, stream.CopiedUntil, stream.Verdict)
		}
		stream.Status = "success"
		for _, c.more.Status = range []string{"success", ""} {
			rest := &transcript.FamilyConversation{Conversation: transcript.Conversation{ID: "rest r1", Silent: true}}
			claudeCode{}.Resolve(&transcript.Family{Conversations: []*transcript.FamilyConversation{stream, rest, c.more}, Hints: c.hints})
			killed := c.more.Status == "" && strings.HasPrefix(c.more.ID, streamPrefix)
			if copied := rest.CopiedUntil > 0; copied != (c.copied || killed) {
				t.Errorf("%s, %q: the rest is copied until %d", name, c.more.Status, rest.CopiedUntil)
			}
		}
	}
}

// TestSums: the sums of a result name models as they were asked for, messages as they answered.
func TestSums(t *testing.T) {
	sums := map[string]tokens{"claude-a-4": {9, 9}, "us.anthropic.claude-b-20260101-v1:0": {8, 8}, "claude-c": {1, 1}}
	for model, want := range map[string]string{"claude-a-4": "claude-a-4", "claude-a-4-20260101": "claude-a-4", "claude-b-20260101": "us.anthropic.claude-b-20260101-v1:0",
		"other": "", "claude": ""} {
		if got := modelIn(sums, model); got != want {
			t.Errorf("%s: %q", model, got)
		}
	}
	if got := modelIn(map[string]tokens{"deployment": {}}, "claude-a"); got != "deployment" {
		t.Errorf("the only one: %q", got)
	}
	r := newReader(nil)
	if got := r.modelOf(tokens{8, 1}, sums); got != "claude-a-4" {
		t.Errorf("of a sum: %q", got)
	}
	for version, want := range map[string]bool{"": true, "1.0.128": false, "2.1.99": false, "2.1.276": false, "2.1.277": true, "2.2.0": true, "3.0.1": true, "?": true} {
		if keepsSums(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}

// TestManySums: a result takes memory in proportion to it, however many models it names; an older one has no uuid.
func TestManySums(t *testing.T) {
	line := `{"type":"result","subtype":"success","session_id":"0d500000-0000-4000-8000-0000000000a3","total_cost_usd":1,"usage":{"input_tokens":1},"modelUsage":{`
	for n := range 3000 {
		line += fmt.Sprintf(`"m%d":{"inputTokens":1},`, n)
	}
	line += `"m":{"inputTokens":1}}}`
	rests := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for r := range New().Parse(format.Input{Path: "ci/run.jsonl", Role: roleStream, Reader: strings.NewReader(line)}) {
		if _, ok := r.(*transcript.Usage); ok {
			rests++
		}
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; rests < 3000 || taken > 200*uint64(len(line)) {
		t.Errorf("%d records, %d bytes for a line of %d", rests, taken, len(line))
	}
}

// TestTyped: what the program writes in the user's place is not the user's; anything beside it is.
func TestTyped(t *testing.T) {
	for in, want := range map[string]bool{
		`"Fix it"`: true, `"<b>bold</b> text"`: true, `"<command-name>/model</command-name>"`: true, `"<bash-input>ls</bash-input>"`: true,
		`"[1] and [2]"`: true, `"Caveat emptor"`: true, `{"type":"image","source":{}}`: true, `{"type":"text","text":"Fix it"}`: true,
		`"<task-notification>\n<task-id>a</task-id>\n</task-notification>"`:                                     false,
		`"\n <local-command-stdout>Set model</local-command-stdout>"`:                                           false,
		`"<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"`:                                             false,
		`{"type":"text","text":"<ide_opened_file>The user opened a.go in the IDE.</ide_opened_file>"}`:          false,
		`"<ide_selection>line 3</ide_selection>\nWhat is this?"`:                                                true,
		`"Another Claude session sent a message while you were working:\n<agent-message>Done</agent-message>"`:  false,
		`"[Subagent hand-back] All done"`:                                                                       false,
		`"<github-webhook-activity>merged</github-webhook-activity>"`:                                           false,
		`"<teammate-message teammate_id=\"team-lead\" summary=\"do\">Do it</teammate-message>"`:                 false,
		`"<system-reminder>\nIt has ended"`:                                                                     false,
		`"[Request interrupted by user for tool use]"`:                                                          false,
		`"Another Claude session sent a message:\n<cross-session-message from=\"a\">b</cross-session-message>"`: false,
		`"<system-reminders>mine</system-reminders>"`:                                                           true, `"<"`: true, `"< 3 files"`: true,
	} {
		if got := isTyped(jsontext.ParseStart([]byte(in))); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

// TestText: what a user searches for is indexed, what would only fill the index is not.
func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"plain"`, "plain"},
		{`{"type":"text","text":"a\nb"}`, "a\nb"},
		{`{"type":"thinking","thinking":"why","signature":"c2ln"}`, "why"},
		{`{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"id":"7","type":"x","data":"y","n":1}}`, "Bash\n7\nx\ny\n1"},
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
		if got := hasMoreText(jsontext.ParseStart([]byte(in)), jsontext.ParseStart([]byte(block))); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestDetect(t *testing.T) {
	const id = "0a000000-0000-4000-8000-00000000000a"
	const user = `{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"x"},"uuid":"u"}` + "\n"
	const prompt = `{"display":"x","pastedContents":{},"timestamp":1,"project":"/a","sessionId":"s"}` + "\n"
	const printed = `{"type":"system","subtype":"init","cwd":"/a","session_id":"s","tools":[],"permissionMode":"default"}`
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
		{"codebuddy.jsonl", `{"type":"file-history-snapshot","id":"x","snapshot":{"messageId":"m"}}`, "", ""},
		{"codebuddy.jsonl", `{"type":"assistant","uuid":"m","session_id":"s","message":{"id":"m","content":[],"type":"message","usage":{"cache_creation_input_tokens":0}}}`, "", ""},
		{"codebuddy.json", `{"type":"result","uuid":"u","session_id":"s","total_cost_usd":0,"usage":{"server_tool_use":null},"modelUsage":{}}`, "", ""},
		{"qwen.jsonl", `{"type":"system","subtype":"init","uuid":"` + id + `","session_id":"` + id + `","tools":["Bash",`, "", ""},
		{"run", "banner\n" + printed, roleStream, ""},
		{"run.json", printed, roleStream, ""},
		{"run.json", "[" + printed + "]", roleMessages, ""},
		{"run.json", "[\n" + printed + ",\n" + printed + "]", roleMessages, ""},
		{"result.json", `{"session_id":"s","total_cost_usd":0.1,"modelUsage":{},"result":"` + strings.Repeat("word ", 4000) + `","type":"result"}`, roleStream, ""},
		{"result.json", "{\n  \"type\": \"result\",\n  \"num_turns\": 1,\n  \"session_id\": \"s\",\n  \"total_cost_usd\": 0.1,\n  \"modelUsage\": {}\n}", roleMessages, ""},
		{"run.log", `{"type":"system","subtype":"init","session_id":"` + id + `","tools":["Bash",` + strings.Repeat(`"mcp__shop__sell",`, 1000), roleStream, ""},
		{"run.log", `{"type":"system","subtype":"hook_started","hook_event":"SessionStart","session_id":"s"}`, roleStream, ""},
		{"-a-b/run.jsonl", printed, roleStream, ""},
		{"-a-b/run.jsonl", user + printed, roleSession, "."},
		{"notes.json", `{"session_id":"s","tools":[]}`, "", ""},
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
		if got.Role != c.role || got.Root != c.root || (got.Strength > 0) != (c.role != "") || got.Log != (c.role != "" && c.role != roleMeta && c.role != roleOutput && c.role != rolePaste && c.role != roleDesktop && c.role != roleTitle && c.role != roleMessages && c.role != format.Other) {
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
