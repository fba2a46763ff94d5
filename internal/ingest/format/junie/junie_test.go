package junie

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testSession = ".junie/sessions/session-260816-090000-a1b2/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzEvents(f *testing.F) { formattest.Fuzz(f, New(), roleEvents, testSession+eventsName) }
func FuzzIndex(f *testing.F)  { formattest.Fuzz(f, New(), roleIndex, ".junie/sessions/"+indexName) }

func TestDetect(t *testing.T) {
	const root = ".junie/sessions"
	const prompt = `{"kind":"UserPromptEvent","requestId":"prompt-1","prompt":"mend"}` + "\n"
	const entry = `{"sessionId":"session-260816-090000-a1b2","createdAt":1787000000000,"updatedAt":1787000000400}` + "\n"
	events := format.Claim{Strength: format.Certain, Role: roleEvents, Root: root, Log: true}
	likely := format.Claim{Strength: format.Likely, Role: roleEvents, Log: true}
	index := format.Claim{Strength: format.Certain, Role: roleIndex, Root: root}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testSession + eventsName, "", events},
		{testSession + eventsName, prompt, events},
		{testSession + "state.json", "{}", format.Claim{}},
		{".junie/sessions/index.jsonl", "", index},
		{"moved/sessions/s1/events.jsonl", "torn\n" + prompt, likely},
		{"s1/events.jsonl", `{"kind":"SessionA2uxEvent","event":{"agentEvent":{"kind":"AgentSt`, likely},
		{"s1/events.jsonl", `{"kind":"TaskStartedEvent","taskId":"task-1"}`, likely},
		{"s1/events.jsonl", `{"kind":"TaskStartedEvent"}`, format.Claim{}},
		{"s1/events.jsonl", `{"type":"session.start","data":{"kind":"x"}}`, format.Claim{}},
		{"s1/events.jsonl", "", format.Claim{}},
		{"events.jsonl", prompt, format.Claim{}},
		{"moved/sessions/index.jsonl", entry, format.Claim{Strength: format.Likely, Role: roleIndex}},
		{"moved/sessions/index.jsonl", `{"sessionId":"x","createdAt":1}`, format.Claim{}},
		{".junie/secure_credentials.json", "{}", format.Claim{Strength: format.Certain, Skip: true}},
		{"shop/secure_credentials.json", "{}", format.Claim{}},
	})
}
