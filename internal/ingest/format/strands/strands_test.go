package strands

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzMessage(f *testing.F) {
	formattest.Fuzz(f, New(), roleMessage, "session_a/agents/agent_b/messages/message_3.json")
}

func TestDetect(t *testing.T) {
	const session = `{"session_id": "a", "session_type": "AGENT"}`
	claim := func(role string) format.Claim {
		return format.Claim{Strength: format.Certain, Role: role, Root: "shop/session_a"}
	}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"shop/session_a/session.json", session, claim(roleSession)},
		{"shop/session_a/session.json", "{}", format.Claim{}},
		{"shop/session_/session.json", session, format.Claim{}},
		{"shop/a/session.json", session, format.Claim{}},
		{"shop/session_a/agents/agent_b/agent.json", "{}", claim(roleAgent)},
		{"shop/session_a/agents/b/agent.json", "{}", format.Claim{}},
		{"shop/a/agents/agent_b/agent.json", "{}", format.Claim{}},
		{"shop/session_a/agents/agent_b/messages/message_12.json", "", claim(roleMessage)},
		{"shop/session_a/agents/agent_b/messages/message_x.json", "{}", format.Claim{}},
		{"shop/session_a/agents/agent_b/messages/message_1234567890123456789.json", "{}", format.Claim{}},
		{"shop/session_a/agents/agent_b/messages/message_1.json.tmp", "{}", skip},
		{"shop/session_a/agents/agent_b/.strands_x.tmp", "{}", skip},
		{"shop/session_a/messages/message_1.json", "{}", format.Claim{}},
		{"shop/session_a/multi_agents/multi_agent_g/multi_agent.json", "{}", claim(roleMulti)},
		{"shop/session_a/multi_agents/g/multi_agent.json", "{}", format.Claim{}},
		{"shop/session_a/notes.txt", "", format.Claim{}},
	})
}
