package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// studioPrompt returns a prompt of Google AI Studio: chunks of the user and the model in turn, for which said has a minute and a text each. One
// that ends in "<" was taken from another prompt.
func studioPrompt(said ...string) string {
	var chunks []string
	for i, s := range said {
		minute, text, _ := strings.Cut(s, " ")
		more := ""
		if of, taken := strings.CutSuffix(text, " <"); taken {
			text, more = of, `,"branchParent":{"promptId":"prompts/1","displayName":"Ferns"}`
		}
		chunks = append(chunks, fmt.Sprintf(`{"text":%q,"role":%q,"tokenCount":%d,"createTime":"2026-03-19T13:%s:00.000Z"%s}`, text, []string{"user", "model"}[i%2], len(text), minute, more))
	}
	return `{"runSettings":{"temperature":1,"model":"models/gemini-2.5-pro","topP":0.95},"systemInstruction":{},"chunkedPrompt":{"chunks":[` +
		strings.Join(chunks, ",") + `],"pendingInputs":[{"text":"","role":"user"}]}}`
}

// TestLifeAIStudio has a prompt that is saved again, edited, downloaded, renamed and branched. What is attached lies beside it.
func TestLifeAIStudio(t *testing.T) {
	t.Parallel()
	l := newLife(t, "ai-studio")
	const dir = "Drive/Google AI Studio/"
	first := []string{"01 name a fern", "02 bracken"}
	l.write(dir+"garden.png", "a garden")
	l.write(dir+"Ferns", studioPrompt(first...))
	l.ingestAndCheck("first", counts{runs: 1, conversations: 1, events: 2})
	l.replace(dir+"Ferns", studioPrompt(append(first[:2:2], "03 anothr", "04 what?")...))
	l.ingestAndCheck("grown", counts{runs: 1, conversations: 1, events: 4})
	longer := append(first[:2:2], "03 another", "05 maidenhair")
	l.replace(dir+"Ferns", studioPrompt(longer...))
	l.ingestAndCheck("edited", counts{runs: 1, conversations: 1, events: 4})
	l.checkQuery("an earlier version", "SELECT verdict || ', ' || count(*) FROM v_events WHERE attributes ->> 'tokens' = 6", "earlier version, 1")

	// What its user deletes is an earlier version, though it ended later.
	l.replace(dir+"Ferns", studioPrompt(longer[:3]...))
	l.ingestAndCheck("an answer deleted", counts{runs: 1, conversations: 1, events: 3})
	l.replace(dir+"Ferns", studioPrompt(longer...))
	l.ingestAndCheck("answered again", counts{runs: 1, conversations: 1, events: 4})

	// A copy is the same prompt, and so is one that was renamed.
	l.write("Downloads/Ferns.json", studioPrompt(longer...))
	l.ingestAndCheck("downloaded", counts{runs: 1, conversations: 1, events: 4})
	l.remove(dir + "Ferns")
	longer = append(longer, "06 thanks")
	l.write(dir+"Ferns and mosses", studioPrompt(longer...))
	l.ingestAndCheck("renamed", counts{runs: 1, conversations: 1, events: 5})
	l.checkQuery("the later name", "SELECT title FROM v_runs", "Ferns and mosses")

	// A branch has what it took along only once.
	l.write(dir+"Branch of Ferns", studioPrompt(first[0], first[1]+" <", "08 a rare one", "09 killarney fern"))
	l.ingestAndCheck("branched", counts{runs: 1, conversations: 2, events: 7})
	l.checkQuery("what was said once", "SELECT count(*) FROM v_events WHERE counted = 1 AND attributes ->> 'tokens' = 11", "1")
	l.checkSearch("killarney", 1)
	l.checkCopy("laptop", counts{runs: 1, conversations: 2, events: 7})
}
