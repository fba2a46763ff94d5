package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// auggieTurn is an exchange with the nodes of its request and its response. Each costs a cent of its own transaction, unless that is given.
func auggieTurn(n int, message, request, response, transaction string) string {
	if transaction == "" {
		transaction = fmt.Sprint("t", n)
	}
	return fmt.Sprintf(`{"exchange":{"request_message":%q,"response_text":"","request_id":"e%d","request_nodes":[%s],"response_nodes":[%s,
		{"type":10,"token_usage":{"input_tokens":3,"output_tokens":10,"cache_read_input_tokens":70,"cache_creation_input_tokens":20}},
		{"type":9,"billing_metadata":{"transaction_id":%q,"usage_unit":2,"cost_usd":"0.01"}}],"model_id":"claude-opus-4-8"},
		"completed":true,"sequenceId":%d,"finishedAt":"2026-07-01T08:00:%02d.000Z","source":"local"}`, message, n, request, response, transaction, n, n)
}

func auggieSays(text string) string { return fmt.Sprintf(`{"type":0,"content":%q}`, text) }

// TestLifeAuggie has a session that is written anew with each exchange, requests of one transaction, sub-agents whose cost is a sum, a history that the
// service replaces, with the backup that the program makes of it, and a session that is deleted.
func TestLifeAuggie(t *testing.T) {
	t.Parallel()
	l := newLife(t, "auggie")
	const session = ".augment/sessions/a1"
	write := func(file, more string, turns ...string) {
		l.write(file, fmt.Sprintf(`{"sessionId":"a1","created":"2026-07-01T08:00:00.000Z","modified":"2026-07-01T08:01:00.000Z","chatHistory":[%s],"agentState":{"modelId":"claude-opus-4-8"}%s}`,
			strings.Join(turns, ",\n"), more))
	}
	write(session+".json", "")
	l.ingestAndCheck("started", counts{})

	mend := auggieTurn(1, "mend", "", `{"type":5,"tool_use":{"tool_use_id":"c1","tool_name":"view","input_json":"{\"path\":\"rim.md\"}"}}`, "")
	write(session+".json", "", mend)
	l.ingestAndCheck("runs", counts{runs: 1, conversations: 1, events: 2, calls: 1, in: 3, out: 10, cost: 10000})
	mended := auggieTurn(2, "", `{"type":1,"tool_result_node":{"tool_use_id":"c1","content":"oak","is_error":false}}`, auggieSays("mended"), "t1")
	write(session+".json", "", mend, mended)
	both := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 6, out: 20, cost: 10000} // one transaction
	l.ingestAndCheck("mended", both)
	l.checkFresh("mended")

	write(session+".json", `,"customTitle":"The basket","subAgentCostUsd":0.02`, mend, mended)
	both.cost += 20000
	l.ingestAndCheck("sub-agents", both)
	l.checkQuery("sub-agents", "SELECT title FROM v_conversations WHERE verdict = 'counted'", "The basket")

	// Another machine went on with the session. The backup has what was said here.
	burn := auggieTurn(3, "burn it", "", auggieSays("no"), "")
	write(session+".json", `,"subAgentCostUsd":0.02`, mend, mended, burn)
	both.events, both.in, both.out, both.cost = both.events+2, both.in+3, both.out+10, both.cost+10000
	l.ingestAndCheck("burn", both)
	write(session+"-backup1.json", `,"subAgentCostUsd":0.02`, mend, mended, burn)
	l.ingestAndCheck("backup", both)
	dye := auggieTurn(4, "dye it", "", auggieSays("red"), "")
	write(session+".json", `,"subAgentCostUsd":0.03`, mend, mended, dye)
	both.in, both.out, both.cost = both.in+3, both.out+10, both.cost+20000 // as many events as before, but all requests cost
	l.ingestAndCheck("replaced", both)
	l.checkFresh("replaced")
	l.checkSearch("burn", 1)

	l.remove(session + ".json")
	l.remove(session + "-backup1.json")
	l.ingestAndCheck("deleted", both)
}
