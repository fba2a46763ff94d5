package gptme

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, New(), roleLog, ".local/share/gptme/logs/2026-06-13-fuzz/conversation.jsonl")
}

func FuzzView(f *testing.F) {
	formattest.Fuzz(f, New(), roleView, ".local/share/gptme/logs/2026-06-13-fuzz/views/compacted-001.jsonl")
}

func FuzzConfig(f *testing.F) {
	formattest.Fuzz(f, New(), roleConfig, ".local/share/gptme/logs/2026-06-13-fuzz/config.toml")
}

func FuzzSubagent(f *testing.F) {
	formattest.Fuzz(f, New(), roleSubagent, ".local/share/gptme/logs/subagent-fuzz-a1b2/subagent-meta.json")
}

func TestDetect(t *testing.T) {
	const (
		chat     = "home/ada/.local/share/gptme/logs/2026-06-13-basket/"
		said     = `{"role": "user", "content": "Sort the basket", "timestamp": "2026-06-13T16:22:41.123456"}` + "\n"
		settings = "[chat]\nmodel = \"local/small\"\nworkspace = \"~/shop\"\n\n[env]\n"
	)
	claim := func(s format.Strength, role string) format.Claim {
		return format.Claim{Strength: s, Role: role, Log: true}
	}
	config := format.Claim{Strength: format.Certain, Role: roleConfig}
	secret := format.Claim{Strength: format.Certain, Role: roleConfig, Skip: true}
	other := format.Claim{Strength: format.Certain, Role: format.Other}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{chat + "conversation.jsonl", said, claim(format.Certain, roleLog)},
		{chat + "conversation.jsonl", "", claim(format.Certain, roleLog)},
		{chat + "conversation.jsonl", `{"type":"session"}` + "\n", format.Claim{}},
		{chat + "branches/main-edit-0.jsonl", said, claim(format.Certain, roleBranch)},
		{chat + "views/compacted-001.jsonl", said, claim(format.Certain, roleView)},
		{chat + "workspace/conversation.jsonl", said, format.Claim{}},
		{chat + "workspace/config.toml", settings, format.Claim{}},
		{chat + "files/0a1b.png", "\x89PNG", other},
		{chat + "tool-outputs/shell/1.txt", "a lot", other},
		{chat + "events.jsonl", "{}", other},
		{chat + ".lock", "17", format.Claim{}},
		{"logs/basket/conversation.jsonl", said, claim(format.Likely, roleLog)},
		{"logs/basket/conversation.jsonl", "", format.Claim{}},
		{"logs/basket/conversation.jsonl", `{"role": "system", "content": "You are`, claim(format.Likely, roleLog)},
		{"logs/basket/conversation.jsonl", `{"role":"system","content":"You are`, format.Claim{}},
		{chat + "conversation.jsonl", `{"role":"system"}` + "\nnot json\n" + said, claim(format.Certain, roleLog)},
		{"logs/basket/conversation.jsonl", `{"role":"user","content":"Sort","timestamp":"2026-06-13T16:22:41","agent":"x"}` + "\n", format.Claim{}},
		{"logs/basket/conversation.jsonl", `{"role":"tool","content":"Sort","timestamp":"2026-06-13T16:22:41"}` + "\n", format.Claim{}},
		{"logs/basket/chat.jsonl", said, format.Claim{}},
		{"logs/basket/config.toml", settings, config},
		{"logs/basket/config.toml", "[chat]\nname = \"x\"\n", format.Claim{}},
		{chat + "config.toml", settings, config},
		{chat + "config.toml", settings + "API_KEY = \"sk-1\"\n", secret},
		{chat + "config.toml", settings + "\n[mcp]\nenabled = true\nservers = []\n", config},
		{chat + "config.toml", settings + "\n[mcp]\nenabled = true\n\n[[mcp.servers]]\nname = \"shop\"\nheaders = {Authorization = \"Bearer 1\"}\n", secret},
		{chat + "config.toml", "env = {API_KEY = \"sk-1\"}\n" + settings, secret},
		{chat + "config.toml", "[chat]\nsystem_prompt = \"\"\"\n[env]\n\"\"\"\n", secret},
	})
}

func TestPieces(t *testing.T) {
	for in, want := range map[string][]piece{
		"Look.":                                                  {{text: "Look."}},
		"Look.\n```shell\nls\n```":                               {{text: "Look."}, {tool: "shell", text: "shell\nls", input: 3}},
		"```save a.py\nx = 1\n```\nDone.":                        {{tool: "save", text: "save a.py\nx = 1", input: 6, paths: []string{"a.py"}}, {text: "Done."}},
		"```save a.md\n```python\nx\n```\n```":                   {{tool: "save", text: "save a.md\n```python\nx\n```", input: 16, paths: []string{"a.md"}}},
		"```python\n```shell\nls\n```\n```":                      {{text: "```python\n```shell\nls\n```\n```"}},
		"```shell\nls":                                           {{text: "```shell\nls"}},
		"<think>\nHm.\n</think>\nYes.":                           {{text: "Hm.", reasoning: true}, {text: "Yes."}},
		"<think>\nHm.\n<!-- think-sig: c2ln -->\n</think>":       {{text: "Hm.", reasoning: true}},
		"<think>\nHm.\n</think>\n<!-- think-sig: c2ln -->\nYes.": {{text: "Hm.", reasoning: true}, {text: "Yes."}},
		"<think>\nHm.":                                           {{text: "<think>\nHm."}},
		"@shell(call-1): {\"command\": \"echo '}'\\nls\"}":       {{tool: "shell", id: "call-1", text: "shell\necho '}'\nls", input: 27}},
		"@save(c.1): {\"path\": \"a.py\", \"n\": 7}\n@shell(c2): {": {
			{tool: "save", id: "c.1", text: "save\na.py\n7", input: 24, paths: []string{"a.py"}}, {text: "@shell(c2): {"}},
		"Ask @ada(x): no": {{text: "Ask @ada(x): no"}},
		"<tool-use>\n<save args=\"a.html\">\n&lt;p&gt;\n</save>\n</tool-use>": {
			{tool: "save", text: "save a.html\n<p>", input: 11, paths: []string{"a.html"}}},
		"<tool-use>": {{text: "<tool-use>"}},
	} {
		got := piecesOf(in)
		for i := range got {
			got[i].begin, got[i].end = 0, 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n got %+v\nwant %+v", in, got, want)
		}
	}
}

// TestNoText: an answer with bytes that are no text is one event.
func TestNoText(t *testing.T) {
	const said = `{"role":"assistant","content":"Look %s \ud83d\ude00 é\n` + "```shell\\nls\\n```\",\"timestamp\":\"2026-06-13T16:22:41\"}\n"
	for bad, want := range map[string]int{``: 2, `\ud83d`: 2, "\xff": 1} {
		got := 0
		in := formattest.Input{Path: "basket/conversation.jsonl", Role: roleLog, Bytes: fmt.Appendf(nil, said, bad)}
		for _, record := range formattest.Check(t, New(), in) {
			if _, ok := record.(*transcript.Event); ok {
				got++
			}
		}
		if got != want {
			t.Errorf("%q: %d events, want %d", bad, got, want)
		}
	}
}
