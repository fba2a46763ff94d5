package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	ampA = "T-a1000000-0000-4000-8000-00000000000a"
	ampB = "T-a1000000-0000-4000-8000-00000000000b"
	ampC = "T-a1000000-0000-4000-8000-00000000000c"
)

func ampFile(thread string) string { return ".local/share/amp/threads/" + thread + ".json" }

// ampTurn is a prompt and its answer, numbered n and n+1, which took n+1 tokens in and ten out.
func ampTurn(n int, said string) string {
	return fmt.Sprintf(`{"role":"user","messageId":%d,"content":[{"type":"text","text":%q}],"meta":{"sentAt":%d}},
{"role":"assistant","messageId":%d,"content":[{"type":"text","text":"so be it"}],"state":{"type":"complete","stopReason":"end_turn"},
"usage":{"model":"claude-sonnet-4-5-20250929","inputTokens":%d,"outputTokens":10,"cacheCreationInputTokens":0,"cacheReadInputTokens":0}}`,
		n, said, 1772000000000+int64(n), n+1, n+1)
}

func ampThread(id, more string, turns ...string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"created":1772000000000,"messages":[%s]%s}`, id, strings.Join(turns, ",\n"), more)
}

// TestLifeAmp has a thread that goes on, is edited, forked and deleted: what an edit took out of it was paid.
func TestLifeAmp(t *testing.T) {
	t.Parallel()
	l := newLife(t, "amp")
	first := ampTurn(0, "mend the basket")
	l.write(ampFile(ampA), ampThread(ampA, "", first))
	l.ingestAndCheck("begun", counts{runs: 1, conversations: 1, events: 2, in: 1, out: 10})
	l.write(ampFile(ampA), ampThread(ampA, "", first, ampTurn(2, "with straw")))
	l.ingestAndCheck("gone on", counts{runs: 1, conversations: 1, events: 4, in: 4, out: 20})
	l.write(ampFile(ampA), ampThread(ampA, "", first, ampTurn(4, "with willow")))
	l.ingestAndCheck("edited", counts{runs: 1, conversations: 1, events: 4, in: 9, out: 30})
	l.checkSearch("willow", 1)
	l.checkSearch("straw", 1) // in an earlier version
	l.checkCopy("laptop", counts{runs: 1, conversations: 1, events: 4, in: 9, out: 30})

	fork := fmt.Sprintf(`,"originThreadID":%q,"forkPointIndex":1`, ampA)
	l.write(ampFile(ampB), ampThread(ampB, fork, first, ampTurn(0, "and the handle")))
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, events: 6, in: 10, out: 40, links: 1})
	l.remove(ampFile(ampA))
	l.ingestAndCheck("origin deleted", counts{runs: 2, conversations: 2, events: 6, in: 10, out: 40, links: 1})
}

// TestLifeAmpLedger has a thread that outlives the ledger, and a subagent whose own file comes late.
func TestLifeAmpLedger(t *testing.T) {
	t.Parallel()
	l := newLife(t, "amp")
	const entry = `{"id":"e0000000-0000-4000-8000-00000000000%d","timestamp":"2026-01-05T10:00:00Z","model":"claude-sonnet-4-5-20250929","credits":2,"tokens":{"input":%d,"output":10},%s}`
	ledger := fmt.Sprintf(`,"usageLedger":{"events":[`+entry+`,`+entry+`]}`, 1, 1, `"operationType":"inference","toMessageId":1`,
		2, 500, fmt.Sprintf(`"operationType":"subagent","toMessageId":1,"toolUseID":"toolu_1","subagentThreadID":%q`, ampC))
	l.write(ampFile(ampA), ampThread(ampA, "", ampTurn(0, "mend the basket")))
	l.ingestAndCheck("before it is told", counts{runs: 1, conversations: 1, events: 2, in: 1, out: 10})
	l.write(ampFile(ampA), ampThread(ampA, ledger, ampTurn(0, "mend the basket")))
	l.ingestAndCheck("with a ledger", counts{runs: 1, conversations: 1, events: 2, in: 501, out: 20, links: 1})
	l.write(ampFile(ampA), ampThread(ampA, ledger, ampTurn(0, "mend the basket"), ampTurn(2, "with straw")))
	l.ingestAndCheck("after it", counts{runs: 1, conversations: 1, events: 4, in: 504, out: 30, links: 1})
	l.checkQuery("credits are the program's own", "SELECT sum(attributes ->> 'credits') || ' ' || count(reported_cost_nanousd) FROM v_usage WHERE counted = 1", "4 0")

	l.write(ampFile(ampC), ampThread(ampC, fmt.Sprintf(`,"mainThreadID":%q`, ampA), ampTurn(199, "weave"), ampTurn(299, "weave on")))
	l.ingestAndCheck("the subagent by itself", counts{runs: 1, conversations: 2, events: 8, in: 504, out: 40, links: 1})
	l.checkFresh("the subagent by itself")
}

// TestLifeAmpForkBefore has a fork whose file comes before that of its origin: what it copied, with the ledger, was paid in the origin.
func TestLifeAmpForkBefore(t *testing.T) {
	t.Parallel()
	l := newLife(t, "amp")
	const entry = `{"id":"e0000000-0000-4000-8000-00000000000%d","timestamp":"%s","model":"claude-sonnet-4-5-20250929","tokens":{"input":500,"output":10},"operationType":"inference","toMessageId":1}`
	first := ampTurn(0, "mend the basket")
	fork := func(at string) string {
		return fmt.Sprintf(`{"v":1,"id":%q,"created":1772000500000,"messages":[%s,%s],"originThreadID":%q,"forkPointIndex":1%s}`, ampA, first, ampTurn(0, "and the handle"), ampB, at)
	}
	l.write(ampFile(ampB), ampThread(ampB, "", first))
	l.write(ampFile(ampA), fork(""))
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, events: 4, in: 2, out: 20, links: 1})
	l.checkQuery("paid in the origin", "SELECT input_tokens FROM v_runs ORDER BY native_id", "1", "1")

	before, after := fmt.Sprintf(entry, 1, "2026-02-25T06:13:21Z"), fmt.Sprintf(entry, 2, "2026-02-25T06:23:21Z")
	l.write(ampFile(ampB), ampThread(ampB, `,"usageLedger":{"events":[`+before+`]}`, first))
	l.write(ampFile(ampA), fork(`,"usageLedger":{"events":[`+before+","+after+`]}`))
	l.ingestAndCheck("with a ledger", counts{runs: 2, conversations: 2, events: 4, in: 1000, out: 20, links: 1})
	l.checkQuery("paid in the origin", "SELECT input_tokens FROM v_runs ORDER BY native_id", "500", "500")
	l.checkFresh("with a ledger")
}

// TestLifeAmpOutputs has saved output twice. What orders the outputs of a thread is known of one before the other has it: then the first
// lines of the other, which were a copy, may be what counts.
func TestLifeAmpOutputs(t *testing.T) {
	t.Parallel()
	const prompt = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"mend the basket"}]},"parent_tool_use_id":null,"session_id":"T-019e47a8-5090-7538-9035-f2fde26859b7"}` + "\n"
	const answer = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"fine basket"}],"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"output_tokens":4}},"parent_tool_use_id":null,"session_id":"T-019e47a8-5090-7538-9035-f2fde26859b7"}` + "\n"
	l := newLife(t, "amp")
	l.write("ci/1.log", prompt)
	l.write("ci/2.log", prompt+answer+strings.Replace(prompt, "mend", "now paint", 1))
	l.ingestAndCheck("running", counts{runs: 1, conversations: 1, events: 3, in: 10, out: 4})
	l.append("ci/1.log", answer)
	l.ingestAndCheck("ended", counts{runs: 1, conversations: 1, events: 3, in: 10, out: 4})
	l.checkQuery("what counts", "SELECT path FROM v_events WHERE counted ORDER BY path", "ci/1.log", "ci/1.log", "ci/2.log")
}
