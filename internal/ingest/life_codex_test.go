package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// codexStream returns what codex exec --json prints for the n-th turn of a thread: a command, an answer, and the tokens of all turns so far.
func codexStream(thread string, n int) string {
	return fmt.Sprintf(`{"type":"thread.started","thread_id":%q}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"weave %d","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"weave %d","aggregated_output":"wicker","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"mended"}}
{"type":"turn.completed","usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d}}
`, thread, n, n, 10*n, 3*n)
}

// TestLifeCodexStream has the saved output of a thread that is resumed twice: while its second turn runs and after it, copied, cut and joined.
func TestLifeCodexStream(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	first, second, third := codexStream(codexA, 1), codexStream(codexA, 2), codexStream(codexA, 3)
	l.write("ci/begun.jsonl", first)
	l.ingestAndCheck("first", counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 3})
	l.write("ci/copy", first)
	l.ingestAndCheck("copied", counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 3})
	l.write("ci/again.log", second[:len(second)/2])
	l.ingestAndCheck("resumed", counts{runs: 1, conversations: 1, events: 4, calls: 2, results: 1, in: 10, out: 3, problems: 1})
	l.write("ci/a part", second[:len(second)/2])
	l.write("ci/again.log", second)
	resumed := counts{runs: 1, conversations: 1, events: 6, calls: 2, results: 2, in: 20, out: 6, problems: 1}
	l.ingestAndCheck("resumed and ended", resumed)
	l.checkFresh("resumed")
	l.checkQuery("order of turns", "SELECT path FROM v_events WHERE kind = 'message' AND counted = 1 ORDER BY seq", "ci/begun.jsonl", "ci/again.log")
	l.write("ci/all", "3 runs\n"+first+second+third)
	all := counts{runs: 1, conversations: 1, events: 9, calls: 3, results: 3, in: 30, out: 9, problems: 2}
	l.ingestAndCheck("joined", all)
	l.remove("ci/begun.jsonl")
	l.remove("ci/again.log")
	l.ingestAndCheck("removed", all)
	l.checkCopy("laptop", all)
}

// TestLifeCodexStreamAndRollout has saved output beside the rollout of the same thread. That counts, whichever comes first.
func TestLifeCodexStreamAndRollout(t *testing.T) {
	t.Parallel()
	rolled := codexHead(codexA, "") + codexTurn(codexA, 1)
	alone := counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3}
	for _, streamFirst := range []bool{true, false} {
		l := newLife(t, "codex")
		if streamFirst {
			l.write("ci/1.jsonl", codexStream(codexA, 1))
			l.ingestAndCheck("stream", counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 3})
			l.write(codexDay+rollout(codexA), "")
			l.ingestAndCheck("empty rollout", counts{runs: 1, conversations: 2, events: 3, calls: 1, results: 1, in: 10, out: 3})
		}
		l.write(codexDay+rollout(codexA), rolled)
		l.ingestAndCheck("rollout", alone)
		if !streamFirst {
			l.write("ci/1.jsonl", codexStream(codexA, 1))
			l.ingestAndCheck("stream", alone)
		}
		l.checkQuery("rows of the stream", "SELECT count(*), max(counted) FROM v_events WHERE path LIKE 'ci/%' AND kind = 'message'", "1 0")
		l.checkQuery("tokens of the stream", "SELECT verdict FROM v_usage WHERE path LIKE 'ci/%'", "copied history")
		l.append(codexDay+rollout(codexA), codexTurn(codexA, 2))
		l.write("ci/2.jsonl", codexStream(codexA, 2))
		l.ingestAndCheck("resumed", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6})
		l.checkFresh("resumed")
	}
}

// TestCodexStreamTitle has the saved output of a thread that was resumed: its title is the first answer, whatever the others say, and whichever
// file is seen first or cut.
func TestCodexStreamTitle(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	const titles = "SELECT r.title || '|' || c.title FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.counted"
	say := func(n int, text string) string { return strings.Replace(codexStream(codexA, n), "mended", text, 1) }
	second := say(2, "Zinc bucket")
	l.write("ci/2.jsonl", second)
	l.ingestAndCheck("second", counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 20, out: 6})
	l.checkQuery("second", titles, "Zinc bucket|Zinc bucket")
	first := say(1, "Amber basket")
	cut := strings.Index(first, `{"type":"turn.completed"`)
	l.write("ci/3.jsonl", first[:cut])
	l.ingestAndCheck("first began", counts{runs: 1, conversations: 1, events: 6, calls: 2, results: 2, in: 20, out: 6})
	l.checkQuery("first began", titles, "Zinc bucket|Zinc bucket")
	l.append("ci/3.jsonl", first[cut:])
	l.write("ci/1.jsonl", say(3, "Mended basket"))
	l.ingestAndCheck("all", counts{runs: 1, conversations: 1, events: 9, calls: 3, results: 3, in: 30, out: 9})
	l.checkQuery("all", titles, "Amber basket|Amber basket")
	l.checkFresh("all")
	l.write(codexDay+rollout(codexA), codexHead(codexA, "")+codexTurn(codexA, 1))
	l.ingestAndCheck("rollout", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	l.checkQuery("rollout", "SELECT title FROM v_runs", "mend the basket")
}

// codexDocument returns a thread as the program's first version wrote it: n turns, each a prompt and an answer.
func codexDocument(thread string, n int) string {
	var items []string
	for i := range n {
		items = append(items,
			fmt.Sprintf(`    {"role": "user", "content": [{"type": "input_text", "text": "mend basket %d"}], "type": "message"}`, i),
			fmt.Sprintf(`    {"id": "msg_%d", "type": "message", "status": "completed", "content": [{"type": "output_text", "text": "mended %d"}], "role": "assistant"}`, i, i))
	}
	return fmt.Sprintf("{\n  \"session\": {\"timestamp\": \"2025-05-0%dT09:00:00.000Z\", \"id\": %q, \"instructions\": \"\"},\n  \"items\": [\n%s\n  ]\n}",
		n, thread, strings.Join(items, ",\n"))
}

// TestLifeCodexWhole has a thread that is one JSON document, written anew with each answer, and after midnight in another file. Then its history is
// replaced by a shorter one: what was there before is an earlier version, and the longer one of the two files counts.
func TestLifeCodexWhole(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	const first, second = "sessions/rollout-2025-05-01-" + codexA + ".json", "sessions/rollout-2025-05-02-" + codexA + ".json"
	l.write(first, codexDocument(codexA, 1))
	l.ingestAndCheck("first", counts{runs: 1, conversations: 1, events: 2})
	l.write(first, codexDocument(codexA, 2))
	l.ingestAndCheck("grown", counts{runs: 1, conversations: 1, events: 4})
	l.write(second, codexDocument(codexA, 3))
	l.ingestAndCheck("after midnight", counts{runs: 1, conversations: 1, events: 6})
	l.checkFresh("after midnight")
	l.checkQuery("counted in", "SELECT DISTINCT path FROM v_events WHERE kind = 'message' AND counted = 1", second)
	l.write(second, codexDocument(codexA, 1))
	compacted := counts{runs: 1, conversations: 1, events: 4}
	l.ingestAndCheck("compacted", compacted)
	l.remove(first)
	l.ingestAndCheck("removed", compacted)
	l.checkCopy("laptop", compacted)
}
