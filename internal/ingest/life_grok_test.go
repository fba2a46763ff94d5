package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	grokStore = ".grok/sessions/%2Fhome%2Fada%2Fshop/"
	grokA     = "019f9000-0000-7000-8000-00000000000a"
	grokB     = "019f9000-0000-7000-8000-00000000000b"
	grokC     = "019f9000-0000-7000-8000-00000000000c"
)

// grokLine returns the nth line of a session, which was first written in origin.
func grokLine(session, origin string, n int, update string) string {
	ms := 1788249600000 + 1000*int64(n)
	return fmt.Sprintf(`{"timestamp":%d,"method":"session/update","params":{"sessionId":"%s","update":{%s},"_meta":{"eventId":"%s-%d","agentTimestampMs":%d}}}`+"\n",
		ms/1000, session, update, origin, n, ms)
}

func grokSays(who, text string) string {
	return fmt.Sprintf(`"sessionUpdate":"%s_chunk","content":{"type":"text","text":"%s"}`, who, text)
}

// grokEnd is the end of a turn, with its tokens.
func grokEnd(prompt string, input, output int) string {
	use := fmt.Sprintf(`"inputTokens":%d,"outputTokens":%d,"modelCalls":1`, input, output)
	return fmt.Sprintf(`"sessionUpdate":"turn_completed","prompt_id":"%s","stop_reason":"end_turn","usage":{%s,"modelUsage":{"grok-4.6-build":{%s}}}`, prompt, use, use)
}

// grokTurn returns a turn of a session with 100 tokens of input and 10 of output. n is the number of its first line.
func grokTurn(session, origin string, n int) string {
	return grokLine(session, origin, n, grokSays("user_message", fmt.Sprintf("mend %d", n))) +
		grokLine(session, origin, n+1, grokSays("agent_message", "mended")) + grokLine(session, origin, n+2, grokEnd(fmt.Sprintf("%s turn %d", origin, n), 100, 10))
}

func grokSummary(session, title, more string) string {
	return fmt.Sprintf(`{"info":{"id":"%s","cwd":"/home/ada/shop"},"session_summary":"","generated_title":"%s","created_at":"2026-09-01T08:00:00Z",`+
		`"updated_at":"2026-09-01T08:10:00Z","num_messages":1,"current_model_id":"grok-4.6"%s}`, session, title, more)
}

// TestLifeGrok has a session that is read while it answers, is compacted, forked, and moved to another directory.
func TestLifeGrok(t *testing.T) {
	t.Parallel()
	l := newLife(t, "grok")
	said, history := grokStore+grokA+"/updates.jsonl", grokStore+grokA+"/chat_history.jsonl"
	l.write(history, `{"type":"user","content":[{"type":"text","text":"mend 1"}],"prompt_index":0}`+"\n")
	l.ingestAndCheck("sent", counts{runs: 1, conversations: 1, events: 1})
	l.write(said, grokLine(grokA, grokA, 1, grokSays("user_message", "mend 1")))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.append(said, grokLine(grokA, grokA, 2, grokSays("agent_message", "men")))
	l.ingestAndCheck("answers", counts{runs: 1, conversations: 1, events: 2})
	l.append(said, grokLine(grokA, grokA, 3, grokSays("agent_message", "ded")))
	l.append(said, grokLine(grokA, grokA, 4, grokEnd("turn 1", 100, 10)))
	l.append(history, `{"type":"assistant","content":"mended"}`+"\n")
	l.write(grokStore+grokA+"/summary.json", grokSummary(grokA, "Mend", ""))
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 2, in: 100, out: 10})
	l.checkQuery("answered", "SELECT DISTINCT c.title || ' ' || r.project || ' ' || c.model FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.events > 0", "Mend /home/ada/shop grok-4.6")
	l.checkQuery("answered", "SELECT count(*) FROM v_events WHERE kind = 'message' AND verdict = 'counted'", "2")
	l.append(said, grokTurn(grokA, grokA, 5))
	l.append(said, grokLine(grokA, grokA, 8, `"sessionUpdate":"compaction_checkpoint","checkpoint_id":"c"`))
	l.write(history, `{"type":"user","content":[{"type":"text","text":"all is mended"}],"synthetic_reason":"compaction_meta"}`+"\n")
	two := counts{runs: 1, conversations: 1, events: 5, in: 200, out: 20}
	l.ingestAndCheck("compacted", two)
	l.checkFresh("compacted")
	first := grokLine(grokB, grokA, 1, grokSays("user_message", "mend 1")) + grokLine(grokB, grokA, 2, grokSays("agent_message", "men")) +
		grokLine(grokB, grokA, 3, grokSays("agent_message", "ded")) + grokLine(grokB, grokA, 4, grokEnd("turn 1", 100, 10))
	l.write(grokStore+grokB+"/updates.jsonl", first+grokTurn(grokB, grokB, 30))
	l.write(grokStore+grokB+"/summary.json", grokSummary(grokB, "Mend", `,"parent_session_id":"`+grokA+`"`))
	forked := counts{runs: 2, conversations: 2, events: 7, in: 300, out: 30, links: 1}
	l.ingestAndCheck("forked", forked)
	l.checkFresh("forked")
	moved := strings.Replace(grokStore, "shop", "stall", 1)
	l.write(moved+grokA+"/updates.jsonl", l.read(said))
	l.remove(said)
	l.ingestAndCheck("moved", forked)
	l.checkFresh("moved")
	l.checkCopy("laptop", forked)
}

// TestLifeGrokSubagents has a subagent whose tokens the turn of its parent includes, and one that ends after it, in any order of arrival.
func TestLifeGrokSubagents(t *testing.T) {
	t.Parallel()
	spawned := func(id string) string {
		return fmt.Sprintf(`"sessionUpdate":"subagent_spawned","parent_session_id":"%s","parent_prompt_id":"p1","child_session_id":"%s","subagent_type":"explore"`, grokA, id)
	}
	finished := func(id string) string {
		return fmt.Sprintf(`"sessionUpdate":"subagent_finished","child_session_id":"%s","status":"completed"`, id)
	}
	parent := grokLine(grokA, grokA, 1, grokSays("user_message", "look")) + grokLine(grokA, grokA, 2, spawned(grokB)) + grokLine(grokA, grokA, 3, spawned(grokC)) +
		grokLine(grokA, grokA, 20, finished(grokB)) + grokLine(grokA, grokA, 21, grokSays("agent_message", "seen")) + grokLine(grokA, grokA, 22, grokEnd("p1", 150, 15)) +
		grokLine(grokA, grokA, 40, finished(grokC))
	l := newLife(t, "grok")
	l.write(grokStore+grokB+"/updates.jsonl", grokTurn(grokB, grokB, 10))
	l.ingestAndCheck("one subagent", counts{runs: 1, conversations: 1, events: 2, in: 100, out: 10})
	l.write(grokStore+grokA+"/updates.jsonl", parent)
	l.ingestAndCheck("its parent", counts{runs: 1, conversations: 2, events: 4, in: 150, out: 15, links: 2})
	l.checkFresh("its parent")
	l.write(grokStore+grokC+"/updates.jsonl", grokTurn(grokC, grokC, 30))
	l.write(grokStore+grokC+"/summary.json", grokSummary(grokC, "Look", `,"session_kind":"subagent"`))
	all := counts{runs: 1, conversations: 3, events: 6, in: 250, out: 25, links: 2}
	l.ingestAndCheck("the other", all)
	l.checkQuery("the other", "SELECT group_concat(verdict, ' ') FROM (SELECT verdict FROM v_usage ORDER BY time)", "duplicate counted counted")
	l.checkFresh("the other")
	// It is asked again, by itself: its parent knows nothing of that.
	l.append(grokStore+grokB+"/updates.jsonl", grokTurn(grokB, grokB, 100))
	all.events, all.in, all.out = 8, 350, 35
	l.ingestAndCheck("gone on", all)
	l.checkFresh("gone on")
}
