package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	deskA = "shop/.aider-desk/tasks/a1de0000-0000-4000-8000-00000000000a/"
	deskB = "shop/.aider-desk/tasks/a1de0000-0000-4000-8000-00000000000b/"
)

// deskMessage is a message with a number, and what it states of tokens.
func deskMessage(n int, role, content, report string) string {
	if report != "" {
		report = `,"usageReport":{"model":"openai/gpt-5.2",` + report + `}`
	}
	return fmt.Sprintf(`{"id":"m%d","role":%q,"content":%s%s}`, n, role, content, report)
}

func deskContext(messages ...string) string {
	return `{"version":2,"contextMessages":[` + strings.Join(messages, ",") + `],"contextFiles":[]}`
}

// TestLifeAiderDesk has a task that is written anew with each message, a step with two calls, a message that is taken back, a copy of the task, a
// compaction, and a task that is deleted.
func TestLifeAiderDesk(t *testing.T) {
	t.Parallel()
	l := newLife(t, "aider-desk")
	asked := deskMessage(1, "user", `"weave"`, "")
	l.write(deskA+"context.json", deskContext(asked))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	const first = `"sentTokens":100,"receivedTokens":10,"messageCost":0.5,"agentTotalCost":0.5`
	const call, result = `{"type":"tool-call","toolCallId":%q,"toolName":"power---bash","input":{}}`,
		`[{"type":"tool-result","toolCallId":%q,"toolName":"power---bash","output":{"type":"text","value":"reeds"}}]`
	calls := deskMessage(2, "assistant", "["+fmt.Sprintf(call, "c1")+","+fmt.Sprintf(call, "c2")+"]", first)
	one := deskMessage(3, "tool", fmt.Sprintf(result, "c1"), first)
	two := deskMessage(4, "tool", fmt.Sprintf(result, "c2"), first)
	l.write(deskA+"context.json", deskContext(asked, calls, one))
	l.ingestAndCheck("called", counts{runs: 1, conversations: 1, events: 4, calls: 2, results: 1, in: 100, out: 10, cost: 500000})
	woven := deskMessage(5, "assistant", `"woven"`, `"sentTokens":130,"receivedTokens":12,"messageCost":0.25,"agentTotalCost":0.75`)
	l.write(deskA+"context.json", deskContext(asked, calls, one, two, woven))
	all := counts{runs: 1, conversations: 1, events: 6, calls: 2, results: 2, in: 230, out: 22, cost: 750000}
	l.ingestAndCheck("answered", all)
	l.write(deskA+"settings.json", `{"id":"a","baseDir":"/home/ada/shop","name":"Baskets","state":"DONE","createdAt":"2026-01-14T09:00:00Z"}`)
	l.ingestAndCheck("named", all)
	l.checkQuery("named", "SELECT DISTINCT title || ' ' || project || ' ' || model FROM v_conversations WHERE verdict = 'counted'", "Baskets /home/ada/shop openai/gpt-5.2")
	l.checkFresh("named")

	copied := all
	copied.runs, copied.conversations, copied.events, copied.links = 2, 2, 7, 1
	l.write(deskB+"context.json", deskContext(asked, calls, one, two, woven, deskMessage(6, "user", `"and dye"`, "")))
	l.ingestAndCheck("a copy goes on", copied)
	l.checkFresh("a copy goes on")
	copied.events += 2 // a summary and its prompt
	l.write(deskB+"context.json", deskContext(deskMessage(7, "user", `"summarize"`, ""), deskMessage(8, "assistant", `"a basket"`, "")))
	copied.events-- // what only the version before had
	l.ingestAndCheck("compacted", copied)
	l.remove(deskA + "context.json")
	l.remove(deskA + "settings.json")
	l.ingestAndCheck("deleted", copied)
}
