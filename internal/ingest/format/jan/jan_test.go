package jan

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const (
	testRoot   = "home/.local/share/Jan/data/threads"
	testThread = testRoot + "/7d000000-0000-4000-8000-000000000001/"
)

func TestGolden(t *testing.T)   { formattest.Golden(t, New()) }
func FuzzMessages(f *testing.F) { formattest.Fuzz(f, New(), roleMessages, testThread+messagesName) }
func FuzzThread(f *testing.F)   { formattest.Fuzz(f, New(), roleThread, testThread+threadName) }

func TestDetect(t *testing.T) {
	const said = `{"type":"text","role":"user","content":[{"type":"text","text":{"value":"hello","annotations":[`
	const noted = `{"id":"a","object":"thread","title":"Willow","assistants":[{"id":"jan"`
	const old, moved = "home/jan/threads", "moved/threads"
	claim := func(strength format.Strength, role, root string) format.Claim {
		return format.Claim{Strength: strength, Role: role, Root: root}
	}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testThread + messagesName, "", claim(format.Certain, roleMessages, testRoot)},
		{testThread + threadName, "torn", claim(format.Certain, roleThread, testRoot)},
		{testThread + "members.jsonl", said, format.Claim{}},
		{testThread + "files/" + threadName, noted, format.Claim{}},
		{testRoot + "/" + messagesName, said, format.Claim{}},
		{old + "/jan_1713340800/" + messagesName, "", claim(format.Certain, roleMessages, old)},
		{old + "/a/" + messagesName, "", format.Claim{}},
		{old + "/a/" + messagesName, said, claim(format.Likely, roleMessages, old)},
		{"C:/Users/Ada/AppData/Roaming/jan/data/threads/a/" + threadName, "", claim(format.Certain, roleThread, "C:/Users/Ada/AppData/Roaming/jan/data/threads")},
		{moved + "/a/" + messagesName, "bad\n" + said, claim(format.Likely, roleMessages, moved)},
		{moved + "/a/" + messagesName, `{"object":"thread.message","role":"user"}`, claim(format.Likely, roleMessages, moved)},
		{moved + "/a/" + messagesName, `{"role":"user","content":[{"type":"text","text":"hello"}]}`, format.Claim{}},
		{moved + "/a/" + messagesName, `{"role":"user","content":"hello"}`, format.Claim{}},
		{moved + "/a/" + threadName, noted, claim(format.Likely, roleThread, moved)},
		{moved + "/a/" + threadName, `{"id":"thread_1","object":"thread","created_at":1783000000}`, format.Claim{}},
		{moved + "/a/" + threadName, `[]`, format.Claim{}},
		{"moved/a/" + messagesName, said, format.Claim{}},
		{"home/.local/share/Jan/data/mcp_config.json", "{}", skip},
		{"home/jan/engines/openai.json", "{}", skip},
		{"home/jan/settings/@janhq/inference-openai-extension/settings.json", "{}", skip},
		{"home/jan/engines/readme.md", "", format.Claim{}},
		{"project/mcp_config.json", "{}", format.Claim{}},
		{"home/jan/settings/settings.json", "{}", format.Claim{}},
	})
}
