package ingest_test

import (
	"fmt"
	"testing"
)

const neovateStore = ".neovate/projects/home-ada-shop/"

// neovateLine is a message with a number, its parent's, and an answer's tokens.
func neovateLine(session string, n, parent int, role, text string, in, out int) string {
	above, more := "null", ""
	if parent > 0 {
		above = fmt.Sprintf(`"m%d"`, parent)
	}
	if role == "assistant" {
		more = fmt.Sprintf(`"text":%q,"model":"anthropic/claude-sonnet-4-5","usage":{"input_tokens":%d,"output_tokens":%d},`, text, in, out)
	}
	return fmt.Sprintf(`{"parentUuid":%s,"uuid":"m%d","role":%q,"content":[{"type":"text","text":%q}],%s"type":"message","timestamp":"2026-01-14T09:00:%02dZ","sessionId":%q}`+"\n",
		above, n, role, text, more, n, session)
}

func neovateSettings(summary string) string {
	return fmt.Sprintf(`{"type":"config","config":{"approvalMode":"default","approvalTools":[],"summary":%q}}`+"\n", summary)
}

func neovateSnapshot(of, version int) string {
	return fmt.Sprintf(`{"type":"file-history-snapshot","messageId":"m%d","snapshot":{"messageId":"m%d","trackedFileBackups":{"lid.md":{"version":%d}}},"isSnapshotUpdate":false}`+"\n", of, of, version)
}

// TestLifeNeovate has a session to which lines are added, and which is written anew for its settings and for the states of files; a prompt that is asked
// again, a sub-agent that is resumed, what was typed, a copy that goes on, and a session that is deleted.
func TestLifeNeovate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "neovate")
	const a, agent = neovateStore + "aaaa0001.jsonl", neovateStore + "agent-bbbb0002.jsonl"
	asked := neovateLine("aaaa0001", 1, 0, "user", "weave a basket", 0, 0)
	l.write(a, asked)
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	lines := asked + neovateLine("aaaa0001", 2, 1, "assistant", "woven", 100, 10)
	l.write(a, lines)
	one := counts{runs: 1, conversations: 1, events: 2, in: 100, out: 10}
	l.ingestAndCheck("answered", one)
	l.write(a, neovateSettings("Baskets")+lines)
	l.ingestAndCheck("titled", one)
	l.write(".neovate/data.json", `{"projects":{"/home/ada/Shop":{"history":["weave a basket"]}}}`)
	l.ingestAndCheck("typed", one)
	l.checkQuery("typed", "SELECT title || ' ' || project || ' ' || model FROM v_runs WHERE run_id IN (SELECT run_id FROM v_conversations WHERE verdict = 'counted')",
		"Baskets /home/ada/Shop anthropic/claude-sonnet-4-5")
	l.checkFresh("typed")

	l.append(a, neovateLine("aaaa0001", 3, 2, "user", "and a lid", 0, 0))
	l.append(a, neovateSnapshot(3, 1))
	one.events++
	l.ingestAndCheck("a lid", one)
	lines += neovateLine("aaaa0001", 3, 2, "user", "and a lid", 0, 0)
	l.write(a, neovateSettings("Baskets")+lines+neovateSnapshot(3, 2))
	l.ingestAndCheck("another state of its files", one)
	l.append(a, neovateLine("aaaa0001", 4, 2, "user", "and a handle", 0, 0)+neovateLine("aaaa0001", 5, 4, "assistant", "a handle", 150, 20))
	one.events, one.in, one.out = 5, 250, 30
	l.ingestAndCheck("asked again", one)
	l.checkSearch("lid", 2) // and in the version before

	const result = `{"parentUuid":"m5","uuid":"m%d","role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"task","input":{},` +
		`"result":{"llmContent":"%s"},"agentId":"bbbb0002","agentType":"Explore"}],"type":"message","timestamp":"2026-01-14T09:00:%02dZ","sessionId":"aaaa0001"}` + "\n"
	l.write(agent, neovateLine("bbbb0002", 11, 0, "user", "find woad", 0, 0)+neovateLine("bbbb0002", 12, 11, "assistant", "found", 40, 4))
	child := one
	child.conversations, child.events, child.in, child.out = 2, 7, 290, 34
	l.ingestAndCheck("a sub-agent works", child)
	l.append(a, fmt.Sprintf(result, 6, "found", 13))
	child.events, child.results, child.links = 8, 1, 1
	l.ingestAndCheck("it is done", child)
	l.append(agent, neovateLine("bbbb0002", 14, 12, "user", "and weld", 0, 0))
	l.append(a, fmt.Sprintf(result, 7, "found, too", 15))
	child.events, child.results = 10, 2
	l.ingestAndCheck("resumed", child)
	l.checkQuery("resumed", "SELECT agent FROM v_conversations WHERE verdict = 'counted' AND agent IS NOT NULL", "Explore")
	l.checkFresh("resumed")

	l.write("desk/basket.jsonl", neovateSettings("Baskets")+lines+neovateLine("aaaa0001", 21, 3, "user", "elsewhere", 0, 0))
	child.conversations, child.events = 3, 11
	l.ingestAndCheck("a copy goes on", child)
	l.checkFresh("a copy goes on")
	l.remove(a)
	l.ingestAndCheck("deleted", child)
}
