package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	buddyStore = ".codebuddy/projects/home-ada-shop/"
	buddyA     = "c0000000-0000-4000-8000-00000000000a"
	buddyB     = "c0000000-0000-4000-8000-000000000009" // before A by name
	buddyC     = "c0000000-0000-4000-8000-00000000000c"
)

// buddyLine returns a line of a session. n is its number, which is in its id and its time.
func buddyLine(session string, n int, more string) string {
	return fmt.Sprintf(`{"id":"i%s%d","timestamp":%d,%s,"sessionId":"%s","cwd":"/home/ada/shop"}`+"\n", session[35:], n, 1788249600000+1000*int64(n), more, session)
}

func buddyAsks(session string, n int, text string) string {
	return buddyLine(session, n, fmt.Sprintf(`"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}],"providerData":{"agent":"cli"}`, text))
}

// buddyAnswers is an answer with 100 tokens of input, 40 of them from the cache, and 10 of output.
func buddyAnswers(session string, n int, text string) string {
	return buddyLine(session, n, fmt.Sprintf(`"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}],`+
		`"providerData":{"messageId":"m%s%d","model":"glm-5.1","rawUsage":{"prompt_tokens":100,"completion_tokens":10,"prompt_cache_hit_tokens":40}}`, text, session[35:], n))
}

// buddyCalls is a call in an answer that states its tokens, too, and its result.
func buddyCalls(session string, n, of int) string {
	return buddyLine(session, n, fmt.Sprintf(`"type":"function_call","name":"Agent","callId":"c%d","arguments":"{\"prompt\":\"weave\"}","providerData":`+
		`{"messageId":"m%s%d","model":"glm-5.1","rawUsage":{"prompt_tokens":100,"completion_tokens":10,"prompt_cache_hit_tokens":40}}`, n, session[35:], of)) +
		buddyLine(session, n+1, fmt.Sprintf(`"type":"function_call_result","name":"Agent","callId":"c%d","status":"completed","output":{"type":"text","text":"woven"}`, n))
}

// TestLifeCodeBuddy has a session that is started, grows, starts a sub-agent, is resumed in another session that replays it, moves with its project,
// and is deleted after a month.
func TestLifeCodeBuddy(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codebuddy")
	said := buddyStore + buddyA + ".jsonl"
	l.write(said, "")
	l.ingestAndCheck("started", counts{})
	first := buddyAsks(buddyA, 1, "mend")
	l.write(said, first)
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.append(said, buddyAnswers(buddyA, 2, "I ask a weaver")+buddyCalls(buddyA, 3, 2))
	called := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 60, out: 10}
	l.ingestAndCheck("called", called)
	l.write(buddyStore+buddyA+"/subagents/agent-0c0c0c0c.jsonl", buddyAsks(buddyC, 1, "weave")+buddyAnswers(buddyC, 2, "woven"))
	l.append(said, buddyAnswers(buddyA, 5, "mended")+`{"type":"topic","topic":"Mend a basket","timestamp":1788249606000}`+"\n")
	all := counts{runs: 1, conversations: 2, events: 7, calls: 1, results: 1, in: 180, out: 30, links: 1}
	l.ingestAndCheck("with a sub-agent", all)
	l.checkQuery("with a sub-agent", "SELECT DISTINCT r.title || ' ' || r.project || ' ' || r.model FROM v_runs r WHERE child = 0", "Mend a basket /home/ada/shop glm-5.1")
	l.checkQuery("with a sub-agent", "SELECT sum(cache_read_tokens) FROM v_usage WHERE verdict = 'counted'", "120")
	l.checkFresh("with a sub-agent")
	// The other session begins with what was said in this one.
	l.write(buddyStore+buddyB+".jsonl", first+buddyAnswers(buddyA, 2, "I ask a weaver")+buddyAsks(buddyB, 10, "dye")+buddyAnswers(buddyB, 11, "dyed"))
	forked := counts{runs: 2, conversations: 3, events: 9, calls: 1, results: 1, in: 240, out: 40, links: 2}
	l.ingestAndCheck("forked", forked)
	l.checkQuery("forked", "SELECT sum(input_tokens) FROM v_usage WHERE counted AND run_id = (SELECT run_id FROM v_runs WHERE native_id = '"+buddyB+"')", "60")
	l.checkFresh("forked")
	moved := strings.Replace(buddyStore, "-shop", "-stall", 1)
	l.write(moved+buddyA+".jsonl", l.read(said))
	l.remove(said)
	l.ingestAndCheck("moved", forked)
	l.remove(moved + buddyA + ".jsonl")
	l.remove(buddyStore + buddyA + "/subagents/agent-0c0c0c0c.jsonl")
	l.ingestAndCheck("deleted", forked)
	l.checkCopy("laptop", forked)
}

// TestLifeCodeBuddyExtension has a session of the plugin whose messages come one by one, the last of them rewritten while it is answered, and the
// tokens after them.
func TestLifeCodeBuddyExtension(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codebuddy")
	const dir = "CodeBuddyExtension/Data/7c0ffee0/VSCode/u/history/w/"
	const session = "0006a8e3aea0472283a80f0a93c850c4"
	message := func(n int, role, blocks, extra string) {
		l.write(fmt.Sprintf("%s%s/messages/m%d.json", dir, session, n), fmt.Sprintf(`{"id":"m%d","role":"%s","createdAt":%d,"message":%q,"extra":%q}`,
			n, role, 1788249600000+1000*int64(n), `{"role":"`+role+`","content":[`+blocks+`]}`, extra))
	}
	// Names of messages sort in another order than their times.
	message(9, "user", `{"type":"text","text":"<user_info>\nWorkspace Folder: /home/ada/shop\n</user_info><user_query>mend</user_query>"}`, `{}`)
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	message(10, "assistant", `{"type":"text","text":"I"}`, `{}`)
	l.ingestAndCheck("answering", counts{runs: 1, conversations: 1, events: 2})
	message(10, "assistant", `{"type":"reasoning","text":"hm"},{"type":"text","text":"I read"},`+
		`{"type":"tool-call","toolCallId":"c","toolName":"read_file","args":{"filePath":"a.go"}}`, `{"modelName":"glm-5.1"}`)
	message(11, "tool", `{"type":"tool-result","toolCallId":"c","toolName":"read_file","result":"package a"}`, `{}`)
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1})
	l.write(dir+session+"/index.json", `{"messages":[{"id":"m9"},{"id":"m10"},{"id":"m11"}],"requests":[{"id":"r","messages":["m9","m10","m11"],"state":"complete",`+
		`"startedAt":1788249609000,"usage":{"inputTokens":100,"outputTokens":10,"cacheTokens":40,"cachedWriteTokens":0,"cachedMissTokens":60}}]}`)
	l.write(dir+"index.json", `{"conversations":[{"id":"`+session+`","name":"Mend a basket","createdAt":"2026-09-01T08:00:00Z"}],"current":"`+session+`"}`)
	done := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1, in: 60, out: 10}
	l.ingestAndCheck("done", done)
	l.checkQuery("done", "SELECT title || ' ' || project || ' ' || model FROM v_runs", "Mend a basket /home/ada/shop glm-5.1")
	l.checkQuery("done", "SELECT model || ' ' || cache_read_tokens FROM v_usage WHERE counted", "glm-5.1 40")
	l.checkQuery("done", "SELECT group_concat(kind, ' ') FROM (SELECT kind FROM v_events WHERE counted ORDER BY seq)", "message reasoning message tool_call tool_result")
	l.checkFresh("done")
	l.remove(dir + session + "/messages/m9.json")
	l.ingestAndCheck("deleted", done)
}
