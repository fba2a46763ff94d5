package ingest_test

import (
	"fmt"
	"testing"
)

// gptmeTurn returns a prompt and its answer, which took n*10 tokens and wrote n.
func gptmeTurn(n int, answer string) string {
	return fmt.Sprintf(`{"role": "user", "content": "mend basket %d", "timestamp": "2026-09-01T08:0%d:00.000001"}`, n, n) + "\n" +
		fmt.Sprintf(`{"role": "assistant", "content": %q, "timestamp": "2026-09-01T08:0%d:01.000001", "metadata": {"model": "local/small", "usage": {"input_tokens": %d, "output_tokens": %d}}}`,
			answer, n, n*10, n) + "\n"
}

// TestLifeGptme has a chat that grows, goes on from an earlier message, is compacted in place, and forked.
func TestLifeGptme(t *testing.T) {
	t.Parallel()
	l := newLife(t, "gptme")
	const chat, fork = ".local/share/gptme/logs/2026-09-01-basket/", ".local/share/gptme/logs/1-other/"
	first, second, third := gptmeTurn(1, "mended, at great length"), gptmeTurn(2, "mended 2"), gptmeTurn(3, "mended 3")
	l.write(chat+"conversation.jsonl", first)
	l.ingestAndCheck("begun", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 1})
	l.append(chat+"conversation.jsonl", second)
	l.write(chat+"config.toml", "[chat]\nname = \"Basket\"\nworkspace = \"/home/ada/shop\"\n\n[env]\n")
	l.ingestAndCheck("grown", counts{runs: 1, conversations: 1, events: 4, in: 30, out: 3})
	l.checkQuery("grown", "SELECT title || ' ' || project FROM v_runs", "Basket /home/ada/shop")
	l.write(chat+"branches/main-undo-0.jsonl", first+second)
	l.write(chat+"conversation.jsonl", first)
	undone := counts{runs: 1, conversations: 2, events: 4, in: 30, out: 3}
	l.ingestAndCheck("undone", undone)
	l.checkFreshCounts("undone", undone)
	l.append(chat+"conversation.jsonl", third)
	l.ingestAndCheck("gone on", counts{runs: 1, conversations: 2, events: 6, in: 60, out: 6})
	l.checkFresh("gone on")
	// The branch alone has the first answer as it was; it is the same request.
	l.write(chat+"conversation.jsonl", gptmeTurn(1, "mended")+third)
	l.ingestAndCheck("compacted", counts{runs: 1, conversations: 2, events: 7, in: 60, out: 6})
	l.checkFresh("compacted")
	l.write(fork+"branches/main-undo-0.jsonl", first+second)
	l.write(fork+"conversation.jsonl", gptmeTurn(1, "mended")+third+gptmeTurn(4, "mended 4"))
	all := counts{runs: 2, conversations: 4, events: 9, in: 100, out: 10, links: 1}
	l.ingestAndCheck("forked", all)
	l.checkQuery("forked", "SELECT from_native_id || ' ' || to_native_id FROM v_links", "2026-09-01-basket 1-other")
	l.checkFresh("forked")
	l.checkCopy("laptop", all)
}
