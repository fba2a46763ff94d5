package autohand

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

const session = "a0000000-0000-4000-8000-000000000001-1781517600000"

func FuzzConversation(f *testing.F) {
	formattest.Fuzz(f, New(), roleConversation, "home/ada/.autohand/sessions/"+session+"/conversation.jsonl")
}

func FuzzMetadata(f *testing.F) {
	formattest.Fuzz(f, New(), roleMetadata, "home/ada/.autohand/sessions/"+session+"/metadata.json")
}

func TestDetect(t *testing.T) {
	skip := format.Claim{Strength: format.Certain, Skip: true}
	log := func(root string) format.Claim {
		return format.Claim{Strength: format.Certain, Role: roleConversation, Root: root, Log: true}
	}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"home/ada/.autohand/sessions/" + session + "/conversation.jsonl", "", log("home/ada/.autohand/sessions/" + session)},
		{"home/ada/.autohand/sessions/mine/conversation.jsonl", "", log("home/ada/.autohand/sessions/mine")},
		{"elsewhere/sessions/" + session + "/conversation.jsonl", "{}", log("elsewhere/sessions/" + session)},
		{"elsewhere/sessions/" + session + "/metadata.json", "{}", format.Claim{Strength: format.Certain, Role: roleMetadata, Root: "elsewhere/sessions/" + session}},
		{"elsewhere/sessions/mine/conversation.jsonl", "{}", format.Claim{}},
		{"elsewhere/" + session + "/conversation.jsonl", "{}", log("elsewhere/" + session)},
		{"elsewhere/conversation.jsonl", "{}", format.Claim{}},
		{"elsewhere/sessions/" + session + "0000000/conversation.jsonl", "{}", format.Claim{}},
		{"home/ada/.autohand/sessions/" + session + "/state.json", "{}", format.Claim{}},
		{"home/ada/.autohand/sessions/index.json", "{}", format.Claim{}},
		{"home/ada/.autohand/config.json", "{}", skip},
		{"home/ada/.autohand/config.toml", "", skip},
		{"shop/.autohand/settings.local.json", "{}", skip},
	})
}
