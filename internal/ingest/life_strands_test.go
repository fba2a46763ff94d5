package ingest_test

import (
	"fmt"
	"testing"
)

const (
	strandsIDA = "a0000000-0000-4000-8000-00000000000a"
	strandsIDB = "a0000000-0000-4000-8000-00000000000b"
	strandsA   = "shop/sessions/session_" + strandsIDA + "/"
	strandsB   = "shop/sessions/session_" + strandsIDB + "/"
	strandsC   = "shop/sessions/session_customer/" // a name that others have, too
)

func strandsTime(n int) string { return fmt.Sprintf("2026-06-15T10:00:%02d.123456+00:00", n) }

// strandsBegin writes what a session begins with.
func (l *life) strandsBegin(dir, id string, at int) {
	l.write(dir+"session.json", fmt.Sprintf("{\n  \"session_id\": %q,\n  \"session_type\": \"AGENT\",\n  \"created_at\": %q,\n  \"updated_at\": %q\n}", id, strandsTime(at), strandsTime(at)))
	l.write(dir+"agents/agent_default/agent.json", fmt.Sprintf(`{"agent_id": "default", "state": {}, "conversation_manager_state": {}, "_internal_state": {}, "created_at": %q, "updated_at": %q}`, strandsTime(at), strandsTime(at)))
}

// strandsSay writes message n, at second n of the session if at is 0; more are members of it.
func (l *life) strandsSay(dir string, n, at int, role, content, more, redact string) {
	if redact == "" {
		redact = "null"
	}
	if at == 0 {
		at = n + 1
	}
	l.write(fmt.Sprintf("%sagents/agent_default/messages/message_%d.json", dir, n), fmt.Sprintf(
		"{\n  \"message\": {\"role\": %q, \"content\": [%s]%s},\n  \"message_id\": %d,\n  \"redact_message\": %s,\n  \"created_at\": %q,\n  \"updated_at\": %q\n}",
		role, content, more, n, redact, strandsTime(at), strandsTime(at)))
}

func strandsTracked(n int, usage string) string {
	return fmt.Sprintf(`, "tracking_id": "e0000000-0000-4000-8000-%012d"%s`, n, usage)
}

func strandsUsed(in, out, read int) string {
	return fmt.Sprintf(`, "metadata": {"usage": {"inputTokens": %d, "outputTokens": %d, "totalTokens": %d, "cacheReadInputTokens": %d}, "metrics": {"latencyMs": 9}}`, in, out, in+out+read, read)
}

// TestLifeStrands has a session that goes on, in which the last prompt is taken out, one that begins with messages of it, and two of the same name.
func TestLifeStrands(t *testing.T) {
	t.Parallel()
	l := newLife(t, "strands")
	l.strandsBegin(strandsA, strandsIDA, 0)
	l.ingestAndCheck("begun", counts{})
	l.strandsSay(strandsA, 0, 0, "user", `{"text": "mend the basket"}`, "", "")
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.strandsSay(strandsA, 1, 0, "assistant", `{"text": "I look"}, {"toolUse": {"toolUseId": "t1", "name": "look", "input": {}}}`, strandsTracked(1, strandsUsed(100, 10, 40)), "")
	l.strandsSay(strandsA, 2, 0, "user", `{"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "a hole"}]}}`, strandsTracked(2, ""), "")
	want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 100, out: 10}
	l.ingestAndCheck("answered", want)
	l.checkFresh("answered")
	l.checkQuery("answered", "SELECT title || ' ' || agent FROM v_conversations WHERE verdict = 'counted'", "mend the basket default")

	l.strandsSay(strandsA, 3, 0, "user", `{"text": "a secret"}`, strandsTracked(3, ""), "")
	want.events++
	l.ingestAndCheck("asked again", want)
	l.strandsSay(strandsA, 3, 0, "user", `{"text": "a secret"}`, strandsTracked(3, ""), `{"role": "user", "content": [{"text": "redacted"}]}`)
	l.ingestAndCheck("redacted", want)
	l.checkFresh("redacted")

	// Another session is given messages of the first, which get new times and numbers.
	l.strandsBegin(strandsB, strandsIDB, 30)
	l.strandsSay(strandsB, 0, 30, "assistant", `{"text": "I look"}, {"toolUse": {"toolUseId": "t1", "name": "look", "input": {}}}`, strandsTracked(1, strandsUsed(100, 10, 40)), "")
	l.strandsSay(strandsB, 1, 31, "user", `{"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "a hole"}]}}`, strandsTracked(2, ""), "")
	want.runs, want.conversations, want.links = 2, 2, 1 // the link follows from what is copied
	l.ingestAndCheck("taken along", want)
	l.strandsSay(strandsB, 2, 32, "assistant", `{"text": "mended"}`, strandsTracked(4, strandsUsed(7, 3, 0)), "")
	want.events, want.in, want.out = 6, 107, 13
	l.ingestAndCheck("goes on", want)
	l.checkFresh("goes on")
	l.checkCopy("laptop", want)

	for p := range l.files() {
		l.remove(p)
	}
	l.ingestAndCheck("deleted", want)
	l.strandsBegin(strandsC, "customer", 50)
	l.strandsSay(strandsC, 0, 51, "user", `{"text": "once more"}`, strandsTracked(5, ""), "")
	l.strandsBegin("laptop/"+strandsC, "customer", 52)
	l.strandsSay("laptop/"+strandsC, 0, 53, "user", `{"text": "another customer"}`, strandsTracked(6, ""), "")
	want.runs, want.conversations, want.events = 4, 4, 8
	l.ingestAndCheck("two of one name", want)
}
