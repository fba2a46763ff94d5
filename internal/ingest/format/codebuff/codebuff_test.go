package codebuff

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testDir = ".config/manicode/projects/shop/chats/2026-07-16T08-00-00.236Z/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzChat(f *testing.F)  { formattest.Fuzz(f, New(), roleChat, testDir+"chat-messages.json") }
func FuzzState(f *testing.F) { formattest.Fuzz(f, New(), roleState, testDir+"run-state.json") }

func TestDetect(t *testing.T) {
	const message = `[{"id":"user-1","variant":"user","content":"mend"`
	const root = ".config/manicode/projects"
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testDir + "chat-messages.json", "", format.Claim{Strength: format.Certain, Role: roleChat, Root: root}},
		{testDir + "run-state.json", "{}", format.Claim{Strength: format.Certain, Role: roleState, Root: root}},
		{testDir + "chat-meta.json", "{}", format.Claim{}},
		{".config/manicode-dev/projects/shop/chats/x/run-state.json", "{}", format.Claim{Strength: format.Certain, Role: roleState, Root: ".config/manicode-dev/projects"}},
		{"copy/x/chat-messages.json", message, format.Claim{Strength: format.Likely, Role: roleChat}},
		{"copy/x/chat-messages.json", "[]", format.Claim{}},
		{"copy/x/chat-messages.json", `[{"role":"user","content":"mend"}]`, format.Claim{}},
		{"copy/x/run-state.json", `{"sessionState":{}`, format.Claim{Strength: format.Likely, Role: roleState}},
		{"copy/x/run-state.json", `{"state":1}`, format.Claim{}},
		{"chat-messages.json", message, format.Claim{}},
		{".config/manicode/credentials.json", "{}", format.Claim{Strength: format.Certain, Skip: true}},
		{"shop/credentials.json", "{}", format.Claim{}},
	})
}
