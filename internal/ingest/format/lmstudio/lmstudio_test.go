package lmstudio

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testFile = "home/.lmstudio/conversations/1783000000000.conversation.json"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func FuzzChat(f *testing.F)   { formattest.Fuzz(f, New(), roleChat, testFile) }

func TestDetect(t *testing.T) {
	const begins = `{"name":"Willows","pinned":false,"createdAt":1783000000000,"preset":"","tokenCount":7,"systemPrompt":"","messages":[`
	const said = begins + `{"versions":[{"type":"singleStep","role":"user"}],"currentlySelected":0}]}`
	const root, old = "home/.lmstudio/conversations", "home/.cache/lm-studio/conversations"
	claim := func(strength format.Strength, root string) format.Claim {
		return format.Claim{Strength: strength, Role: roleChat, Root: root}
	}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testFile, "", claim(format.Certain, root)},
		{testFile, "torn", claim(format.Certain, root)},
		{root + "/Craft/Baskets/1783000000000.conversation.json", "{}", claim(format.Certain, root)},
		{old + "/named.conversation.json", "{}", claim(format.Certain, old)},
		{"C:/Users/Ada/.lmstudio/Conversations/1.conversation.json", "{}", claim(format.Certain, "C:/Users/Ada/.lmstudio/Conversations")},
		{root + "/1783000000000.json", said, claim(format.Likely, root)},
		{root + "/1783000000000.json", "{}", format.Claim{}},
		{root + "/folder.txt", said, format.Claim{}},
		{"moved/conversations/1783000000000.conversation.json", said, claim(format.Likely, "")},
		{"moved/conversations/1783000000000.conversation.json", "{}", format.Claim{}},
		{"saved.json", said, claim(format.Likely, "")},
		{"saved.json", begins + "]}", claim(format.Likely, "")},
		{"saved.json", `{"messages":[{"versions":[{"text":"1.0"}]}]}`, format.Claim{}},
		{"saved.json", `{"messages":[{"role":"user","content":"hello"}],"createdAt":1783000000000,"pinned":true}`, format.Claim{}},
		{"saved.json", `{"createdAt":1783000000000,"pinned":true,"messages":[]}`, format.Claim{}},
		{"home/.lmstudio/mcp.json", "{}", format.Claim{Strength: format.Certain, Skip: true}},
		{"project/mcp.json", "{}", format.Claim{}},
		{"home/.lmstudio/user-files/1783000000900 - 41.pdf.metadata.json", `{"type":"document"}`, format.Claim{}},
	})
}

func TestIsUnique(t *testing.T) {
	for step, want := range map[string]bool{
		"1783000001200-0.1111222233334443": true, "1783000001200-0.1": false, "1783000001200": false, "": false, "request-0": false,
		"178300000120-0.1111222233334443": false, "x783000001200-0.1111222233334443": false,
	} {
		if got := isUnique(step); got != want {
			t.Errorf("%q: %v", step, got)
		}
	}
}
