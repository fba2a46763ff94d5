package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	qwenA = "2a000000-0000-4000-8000-00000000000a"
	qwenB = "2a000000-0000-4000-8000-00000000000b"
)

func qwenFile(session string) string {
	return ".qwen/projects/-home-ada-shop/chats/" + session + ".jsonl"
}

// qwenTurn returns a prompt and its answer.
func qwenTurn(session string, n int) string {
	head := func(line int) string {
		return fmt.Sprintf(`{"uuid":"%08x-0000-4000-8000-00000000000%d","parentUuid":null,"sessionId":%q,"timestamp":"2026-11-01T10:%02d:%02dZ","cwd":"/home/ada/shop","version":"0.15.2"`,
			n, line, session, n, line)
	}
	return head(1) + `,"type":"user","message":{"role":"user","parts":[{"text":"mend the basket"}]}}` + "\n" +
		head(2) + `,"type":"assistant","model":"qwen3-coder-plus","usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"cachedContentTokenCount":4},"message":{"role":"model","parts":[{"text":"mended"}]}}` + "\n"
}

// TestLifeQwen has a session that grows, is branched and archived by its program, and copied to another machine.
func TestLifeQwen(t *testing.T) {
	t.Parallel()
	l := newLife(t, "qwen-code")
	l.write(qwenFile(qwenA), qwenTurn(qwenA, 1))
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 2, in: 6, out: 3})
	second := qwenTurn(qwenA, 2)
	l.append(qwenFile(qwenA), second[:len(second)-30])
	l.ingestAndCheck("torn", counts{runs: 1, conversations: 1, events: 3, in: 6, out: 3, problems: 1})
	l.append(qwenFile(qwenA), second[len(second)-30:])
	l.ingestAndCheck("whole", counts{runs: 1, conversations: 1, events: 4, in: 12, out: 6})
	branch := strings.ReplaceAll(strings.ReplaceAll(qwenTurn(qwenA, 1)+second, qwenA, qwenB),
		`"version"`, `"forkedFrom":{"sessionId":"`+qwenA+`","messageUuid":"x"},"version"`)
	l.write(qwenFile(qwenB), branch+qwenTurn(qwenB, 3))
	all := counts{runs: 2, conversations: 2, events: 6, in: 18, out: 9, links: 1}
	l.ingestAndCheck("branched", all)
	l.checkQuery("branched", "SELECT r.native_id || ' ' || count(*) FROM v_events e JOIN v_runs r USING (run_id) WHERE e.counted = 1 GROUP BY r.native_id ORDER BY r.native_id", qwenA+" 4", qwenB+" 2")
	l.checkFresh("branched")
	archived := strings.Replace(qwenFile(qwenA), "chats/", "chats/archive/", 1)
	l.move(qwenFile(qwenA), archived)
	l.ingestAndCheck("archived", all)
	l.append(archived, qwenTurn(qwenA, 4))
	all.events, all.in, all.out = 8, 24, 12
	l.ingestAndCheck("went on", all)
	l.checkFresh("went on")
	l.checkCopy("laptop", all)
	agent := ".qwen/projects/-home-ada-shop/subagents/" + qwenB + "/agent-explore-1"
	l.write(agent+".jsonl", strings.ReplaceAll(strings.ReplaceAll(qwenTurn(qwenB, 5), `"model":"qwen3-coder-plus",`, ""), `"version"`, `"agentId":"explore-1","isSidechain":true,"version"`))
	all.conversations, all.events, all.in, all.out, all.links = 3, 10, 30, 15, 2
	l.ingestAndCheck("a subagent", all)
	note := `{"agentId":"explore-1","agentType":"Explore","description":"look around","parentSessionId":"` + qwenB + `","status":%q,"model":"qwen3-coder-flash"}`
	l.write(agent+".meta.json", fmt.Sprintf(note, "running"))
	l.ingestAndCheck("its note", all)
	l.checkQuery("its note", "SELECT c.title || ' ' || c.agent || ' ' || u.model || ' ' || r.outcome FROM v_conversations c JOIN v_usage u USING (conversation_id) JOIN v_runs r ON r.run_id = c.run_id WHERE c.child = 1",
		"look around Explore qwen3-coder-flash running")
	l.write(agent+".meta.json", fmt.Sprintf(note, "completed"))
	l.ingestAndCheck("its end", all)
	l.checkQuery("its end", "SELECT outcome FROM v_runs WHERE child = 1", "succeeded")
}

// TestQwenOriginComesLate ingests a branch first, and its origin later.
func TestQwenOriginComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "qwen-code")
	copied := strings.ReplaceAll(strings.ReplaceAll(qwenTurn(qwenA, 1), qwenA, qwenB), `"version"`, `"forkedFrom":{"sessionId":"`+qwenA+`"},"version"`)
	l.write(qwenFile(qwenB), copied+qwenTurn(qwenB, 2))
	l.ingestAndCheck("the branch", counts{runs: 1, conversations: 1, events: 4, in: 6, out: 3, links: 1})
	l.write(qwenFile(qwenA), qwenTurn(qwenA, 1))
	l.ingestAndCheck("both", counts{runs: 2, conversations: 2, events: 4, in: 12, out: 6, links: 1})
	l.checkFresh("both")
}
