package ingest_test

import (
	"fmt"
	"testing"
)

const copilotA = "0c0c0c0c-0000-4000-8000-000000000001"

// copilotTurn returns the lines of the n-th turn of a session: prompt, call, result, answer and the tokens of the session so far.
func copilotTurn(n int) string {
	id := func(k int) string {
		return fmt.Sprintf(`"id":"%08x-0000-4000-8000-%012x","timestamp":"2026-09-24T12:%02d:%02dZ"`, k, n, n, k)
	}
	return fmt.Sprintf(`{"type":"user.message","data":{"content":"mend basket %d"},%s}
{"type":"assistant.message","data":{"messageId":"m%[1]d","content":"","toolRequests":[{"toolCallId":"call_%[1]d","name":"view","arguments":{"path":"basket.go"}}]},%[3]s}
{"type":"tool.execution_complete","data":{"toolCallId":"call_%[1]d","success":true,"result":{"content":"wicker"}},%[4]s}
{"type":"assistant.message","data":{"messageId":"n%[1]d","content":"mended %[1]d"},%[5]s}
{"type":"session.usage_checkpoint","data":{"modelMetrics":{"m":{"usage":{"inputTokens":%d,"outputTokens":%d}}}},%s}
`, n, id(2), id(3), id(4), id(5), 100*n, 10*n, id(6))
}

// copilotOutput returns what the program prints for it.
func copilotOutput(session string, n int) string {
	return fmt.Sprintf(`{"type":"session.tools_updated","data":{"model":"m"},"ephemeral":true,"id":"00000001-0000-4000-8000-%012x","timestamp":"2026-09-24T12:%02d:01Z"}
`, n, n) + copilotTurn(n) + fmt.Sprintf(`{"type":"result","timestamp":"2026-09-24T12:%02d:07Z","sessionId":%q,"exitCode":0,"usage":{"premiumRequests":1}}
`, n, session)
}

// TestLifeCopilotOutput has the saved output of a session that was resumed. Its end names the session; it is copied, and a copy itself as
// soon as there is the session.
func TestLifeCopilotOutput(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-cli")
	first, second := copilotOutput(copilotA, 1), copilotOutput(copilotA, 2)
	l.write("ci/1.log", first[:len(first)-100])
	want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, problems: 1}
	l.ingestAndCheck("running", want)
	l.append("ci/1.log", first[len(first)-100:])
	want.in, want.out, want.problems = 100, 10, 0
	l.ingestAndCheck("ended", want)
	l.checkQuery("its session", "SELECT native_id FROM v_runs", copilotA)
	l.write("ci/copy", "mise copilot\n"+first)
	want.problems = 1
	l.ingestAndCheck("copied", want)
	l.write("ci/2.txt", second)
	want = counts{runs: 1, conversations: 1, events: 8, calls: 2, results: 2, in: 200, out: 20, problems: 1}
	l.ingestAndCheck("resumed", want)
	l.write("ci/all.jsonl", first+second+second)
	l.ingestAndCheck("joined", want)
	l.checkFresh("joined")
	session := fmt.Sprintf(`{"type":"session.start","data":{"sessionId":%q},"id":"00000000-0000-4000-8000-000000000000"}
`, copilotA) + copilotTurn(1) + copilotTurn(2)
	l.write("session-state/"+copilotA+"/events.jsonl", session)
	l.ingestAndCheck("the session", want)
	l.checkFresh("the session")
	l.checkCopy("laptop", want)

	l = newLife(t, "copilot-cli")
	l.write("ci/1.log", first)
	l.write("ci/killed.txt", first[:len(first)-100]) // a run of its own, with the same lines
	l.ingestAndCheck("a part", counts{runs: 2, conversations: 2, events: 4, calls: 1, results: 1, in: 100, out: 10, links: 1, problems: 1})

	l = newLife(t, "copilot-cli")
	l.write("ci/killed.txt", first[:len(first)-100])
	l.write("session-state/"+copilotA+"/events.jsonl", session)
	l.ingestAndCheck("a part of the session", counts{runs: 2, conversations: 2, events: 8, calls: 2, results: 2, in: 200, out: 20, links: 1, problems: 1})
}
