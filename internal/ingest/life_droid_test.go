package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	droidStore = ".factory/sessions/-home-ada-shop/"
	droidA     = "d0000000-0000-4000-8000-00000000000a"
	droidB     = "d0000000-0000-4000-8000-00000000000b"
	droidC     = "d0000000-0000-4000-8000-00000000000c"
)

// droidHeader is the first line of a session. more are further members.
func droidHeader(session, title, more string) string {
	return fmt.Sprintf(`{"type":"session_start","id":"%s","title":"%s","owner":"ada","version":2,"cwd":"/home/ada/shop"%s}`+"\n", session, title, more)
}

// droidTurn returns a prompt and its answer. id is the beginning of their ids.
func droidTurn(id string, n int) string {
	const line = `{"type":"message","id":"%s%d%s","timestamp":"2026-10-01T08:%02d:%s.000Z","message":{"role":"%s","content":"%s %d"%s}}` + "\n"
	return fmt.Sprintf(line, id, n, "u", n, "00", "user", "mend basket", n, "") +
		fmt.Sprintf(line, id, n, "a", n, "30", "assistant", "mended", n, `,"modelId":"glm-4.6"`)
}

// droidSummary is a summary of all that was said before.
func droidSummary(id string) string {
	return fmt.Sprintf(`{"type":"compaction_state","id":"%s","timestamp":"2026-10-01T08:10:00.000Z","summaryText":"All is mended.","removedCount":4}`+"\n", id)
}

// droidSettings are the settings of a session with its total so far.
func droidSettings(input, output int) string {
	return fmt.Sprintf(`{"model":"glm-4.6","assistantActiveTimeMs":%d,"tokenUsage":{"inputTokens":%d,"outputTokens":%d,"cacheReadTokens":5}}`, 9*output, input, output)
}

// TestLifeDroid has a session that grows and is renamed, forked, moved to another directory, and starts a subagent.
func TestLifeDroid(t *testing.T) {
	t.Parallel()
	l := newLife(t, "droid")
	said, settings := droidStore+droidA+".jsonl", droidStore+droidA+".settings.json"
	l.write(said, droidHeader(droidA, "New Session", "")+droidTurn("a", 1))
	l.ingestAndCheck("without settings", counts{runs: 1, conversations: 1, events: 2})
	l.write(settings, droidSettings(100, 10))
	l.ingestAndCheck("with settings", counts{runs: 1, conversations: 1, events: 2, in: 100, out: 10})
	l.checkQuery("with settings", "SELECT c.title || ' ' || r.title || ' ' || r.project || ' ' || c.model FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.events > 0", "mend basket 1 mend basket 1 /home/ada/shop glm-4.6")
	l.append(said, droidTurn("a", 2))
	l.write(settings, droidSettings(250, 20))
	two := counts{runs: 1, conversations: 1, events: 4, in: 250, out: 20}
	l.ingestAndCheck("gone on", two)
	l.checkQuery("gone on", "SELECT strftime('%H:%M', u.time) FROM v_usage u WHERE verdict = 'counted'", "08:02")
	l.write(said, droidHeader(droidA, "Mend baskets", "")+droidTurn("a", 1)+droidTurn("a", 2))
	l.ingestAndCheck("renamed", two)
	l.checkQuery("renamed", "SELECT title FROM v_runs", "Mend baskets")
	l.checkFresh("renamed")
	l.write(droidStore+droidB+".jsonl", droidHeader(droidB, "Mend baskets", `,"parent":"`+droidA+`"`)+droidTurn("a", 1)+droidTurn("b", 3))
	l.write(droidStore+droidB+".settings.json", droidSettings(600, 60))
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, events: 6, in: 850, out: 80, links: 1})
	l.write(droidStore+droidC+".jsonl", droidHeader(droidC, "Look", `,"callingSessionId":"`+droidA+`","callingToolUseId":"t1"`)+droidTurn("c", 4))
	l.write(droidStore+droidC+".settings.json", droidSettings(7, 1))
	all := counts{runs: 2, conversations: 3, events: 8, in: 857, out: 81, links: 2}
	l.ingestAndCheck("with a subagent", all)
	moved := strings.Replace(droidStore, "-shop", "-stall", 1)
	l.write(moved+droidA+".jsonl", droidHeader(droidA, "Mend baskets", "")+droidTurn("a", 1)+droidTurn("a", 2))
	l.write(moved+droidA+".settings.json", droidSettings(250, 20))
	l.ingestAndCheck("copied", all)
	l.remove(said)
	l.remove(settings)
	l.ingestAndCheck("moved", all)
	l.checkFresh("moved")
	l.checkCopy("laptop", all)
}

// TestLifeDroidCompaction has a session that is compacted: it goes on in another one, with its total, whichever of the two is met first.
func TestLifeDroidCompaction(t *testing.T) {
	t.Parallel()
	l := newLife(t, "droid")
	l.write(droidStore+droidB+".jsonl", droidHeader(droidB, "Mend", `,"parent":"`+droidA+`"`)+droidSummary("s1")+droidTurn("b", 11))
	l.write(droidStore+droidB+".settings.json", droidSettings(900, 90))
	l.ingestAndCheck("without the first", counts{runs: 1, conversations: 1, events: 3, in: 900, out: 90, links: 1})
	l.write(droidStore+droidA+".settings.json", droidSettings(500, 50))
	l.write(droidStore+droidA+".jsonl", droidHeader(droidA, "Mend", "")+droidTurn("a", 1))
	l.ingestAndCheck("with it", counts{runs: 2, conversations: 2, events: 5, in: 900, out: 90, links: 1})
	l.checkFresh("with it")
	l.append(droidStore+droidB+".jsonl", droidTurn("b", 12))
	l.write(droidStore+droidB+".settings.json", droidSettings(1000, 95))
	l.ingestAndCheck("gone on", counts{runs: 2, conversations: 2, events: 7, in: 1000, out: 95, links: 1})
	l.write(droidStore+droidC+".jsonl", droidHeader(droidC, "Mend", `,"parent":"`+droidB+`"`)+droidSummary("s2")+droidTurn("c", 13))
	l.ingestAndCheck("compacted again", counts{runs: 3, conversations: 3, events: 10, in: 1000, out: 95, links: 2})
	l.write(droidStore+droidC+".settings.json", droidSettings(1200, 99))
	l.ingestAndCheck("with settings", counts{runs: 3, conversations: 3, events: 10, in: 1200, out: 99, links: 2})
	l.checkFresh("with settings")
	// The first session was resumed after all: its total is no longer the one that the second began with.
	l.append(droidStore+droidA+".jsonl", droidTurn("a", 2))
	l.write(droidStore+droidA+".settings.json", droidSettings(1100, 97))
	l.ingestAndCheck("resumed", counts{runs: 3, conversations: 3, events: 12, in: 2300, out: 196, links: 2})
	l.checkFresh("resumed")
}
