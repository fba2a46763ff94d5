package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
)

const (
	piA       = "019b0000-0000-7000-8000-00000000000a"
	piB       = "019b0000-0000-7000-8000-00000000000b"
	piShop    = ".pi/agent/sessions/--home-ada-shop--/"
	clawHouse = ".openclaw/agents/main/sessions/"
)

func piFile(session string) string { return piShop + "2026-11-03T10-00-00-000Z_" + session + ".jsonl" }

func piHead(session string, minute int, more string) string {
	return fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-11-03T10:%02d:00.000Z","cwd":"/home/ada/shop"%s}`, session, minute, more) + "\n"
}

// piEntry is a message as version 3 writes it. id is a part of it alone, and what the program makes anew; n is its time.
func piEntry(id string, n int, message string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":null,"timestamp":"2026-11-03T10:%02d:%02d.500Z","message":{%s,"timestamp":%d}}`,
		id, n/60, n%60, message, 1793700000000+1000*int64(n)) + "\n"
}

// piTurn is a prompt and its answer.
func piTurn(id string, n int) string { return piTurnAs(id+"%d", n) }

func piTurnAs(id string, n int) string {
	return piEntry(fmt.Sprintf(id, 2*n), 10*n, fmt.Sprintf(`"role":"user","content":"mend basket %d"`, n)) +
		piEntry(fmt.Sprintf(id, 2*n+1), 10*n+5, fmt.Sprintf(`"role":"assistant","content":[{"type":"text","text":"mended %d"}],"provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"stop","usage":{"input":10,"output":3,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.01}}`, n))
}

// TestLifePi has a session that goes on, is forked, moved, and goes on in two places.
func TestLifePi(t *testing.T) {
	t.Parallel()
	l := newLife(t, "pi")
	said := piHead(piA, 0, "") + piTurn("a", 1) + piTurn("a", 2)
	l.write(piFile(piA), said)
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6, cost: 20000})
	fork := piHead(piB, 30, `,"parentSession":"/home/ada/`+piFile(piA)+`"`)
	l.write(piFile(piB), fork+piTurn("a", 1)+piTurn("b", 200))
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, events: 6, in: 30, out: 9, cost: 30000, links: 1})
	l.append(piFile(piA), piTurn("a", 3))
	l.ingestAndCheck("gone on", counts{runs: 2, conversations: 2, events: 8, in: 40, out: 12, cost: 40000, links: 1})
	l.checkFresh("gone on")
	l.checkQuery("gone on", "SELECT sum(u.input_tokens) FROM v_usage u JOIN v_runs r USING (run_id) WHERE u.counted = 1 AND r.native_id = '"+piA+"'", "30")
	// Another session has entries with the same short ids.
	l.write(piShop+"2026-11-04T10-00-00-000Z_other.jsonl", piHead("other", 0, "")+piTurn("a", 300))
	l.ingestAndCheck("the same ids", counts{runs: 3, conversations: 3, events: 10, in: 50, out: 15, cost: 50000, links: 1})
	l.write("backup/"+piFile(piA), l.read(piFile(piA)))
	l.append("backup/"+piFile(piA), piTurn("c", 400))
	l.ingestAndCheck("copied, and gone on there", counts{runs: 3, conversations: 3, events: 12, in: 60, out: 18, cost: 60000, links: 1})
	l.append(piFile(piA), piTurn("a", 4))
	all := counts{runs: 3, conversations: 4, events: 14, in: 70, out: 21, cost: 70000, links: 1}
	l.ingestAndCheck("gone on in both", all)
	l.checkFresh("gone on in both")
	l.checkCopy("laptop", all)
}

// TestLifePiRecords has a session of version 4, in which each request is recorded for the entry that it was for, whether or not that was ever
// written: of the records of an entry the newest is what it states itself. A fork has copies of entries, but not the records.
func TestLifePiRecords(t *testing.T) {
	t.Parallel()
	l, seq := newLife(t, "pi"), 0
	line := func(members string, in int) string {
		seq++
		return fmt.Sprintf(`{%s,"usage":{"input":%d,"output":1,"cost":{"total":0.01}},"seq":%d,"timestamp":%d}`, members, in, seq, 1793700000000+1000*int64(seq)) + "\n"
	}
	record := func(entry, more string, in int) string {
		return line(fmt.Sprintf(`"kind":"record","type":"usage","id":"r%d","lane":"main","entryId":%q,%s`, seq, entry, more), in)
	}
	head := func(session, more string) string {
		return fmt.Sprintf(`{"kind":"header","version":4,"id":%q,"createdAt":1793700000000,"cwd":"/home/ada/shop"%s}`, session, more) + "\n"
	}
	l.write(piFile(piA), head(piA, "")+record("e0", `"cause":"assistant","attempt":1,"stopReason":"error"`, 1)+record("e1", `"cause":"assistant","attempt":1`, 2))
	l.ingestAndCheck("recorded", counts{runs: 1, conversations: 1, in: 3, out: 2, cost: 20000})
	answer := line(`"kind":"entry","lane":"main","type":"message","id":"e1","parentId":null,"message":{"role":"assistant","model":"claude-sonnet-4-5","content":"Wool."`, 2)
	answer = strings.Replace(answer, `,"seq"`, `},"seq"`, 1)
	l.append(piFile(piA), answer)
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 1, in: 3, out: 2, cost: 20000})
	l.append(piFile(piA), record("c1", `"cause":"compaction","attempt":1`, 4)+record("c1", `"cause":"compaction","attempt":2`, 8)+
		line(`"kind":"entry","lane":"main","type":"compaction","id":"c1","parentId":"e1","summary":"wool"`, 8)+record("c1", `"cause":"adjustment"`, 16)+
		record("t1", `"cause":"tool","toolCallId":"k"`, 32)+record("t1", `"cause":"tool","toolCallId":"k"`, 32))
	l.ingestAndCheck("compacted", counts{runs: 1, conversations: 1, events: 2, in: 3 + 12 + 16 + 64, out: 7, cost: 70000})
	l.write(piFile(piB), head(piB, `,"parentSessionId":"`+piA+`"`)+answer)
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, events: 2, in: 3 + 12 + 16 + 64, out: 7, cost: 70000, links: 1})
	l.checkFresh("forked")
	l.checkQuery("model", "SELECT model FROM v_usage WHERE counted AND input_tokens = 2", "claude-sonnet-4-5")
}

// TestLifePiParentLate has a fork that does not say of what, and another file of the same session, with none of its entries, that does.
func TestLifePiParentLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "pi")
	l.write(piFile(piA), piHead(piA, 0, "")+piTurn("a", 1)+piTurn("a", 2))
	l.write(piFile(piB), piHead(piB, 30, "")+piTurn("a", 1)+piTurn("b", 200))
	l.ingestAndCheck("copied", counts{runs: 2, conversations: 2, events: 6, in: 30, out: 9, cost: 30000, links: 1})
	l.checkQuery("copied", "SELECT statements, path FROM v_links", "1 "+piFile(piB))
	l.write("later/"+piFile(piB), piHead(piB, 30, `,"parentSession":"/home/ada/`+piFile(piA)+`"`)+piTurn("c", 400))
	l.ingestAndCheck("stated", counts{runs: 2, conversations: 3, events: 8, in: 40, out: 12, cost: 40000, links: 1})
	l.checkQuery("stated", "SELECT statements, path FROM v_links", "1 later/"+piFile(piB))
}

// TestLifePiFirst has a session of version 1, without ids, and a branch of it. A newer program opens the session and writes it
// anew with ids that it makes up.
func TestLifePiFirst(t *testing.T) {
	t.Parallel()
	l := newLife(t, "pi")
	first := func(s string) string {
		for _, id := range []string{"a2", "a3", "a4", "a5", "x2", "x3"} {
			s = strings.ReplaceAll(s, `"id":"`+id+`","parentId":null,`, "")
		}
		return strings.ReplaceAll(s, `"version":3,`, "")
	}
	l.write(piFile(piA), first(piHead(piA, 0, "")+piTurn("a", 1)+piTurn("a", 2)))
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6, cost: 20000})
	branch := strings.NewReplacer("10:00:1", "10:40:1").Replace(first(piTurn("a", 1)))
	l.write(piFile(piB), first(piHead(piB, 40, `,"branchedFrom":"/home/ada/`+piFile(piA)+`"`))+branch)
	l.ingestAndCheck("branched", counts{runs: 2, conversations: 2, events: 4, in: 20, out: 6, cost: 20000, links: 1})
	l.write(piFile(piA), piHead(piA, 0, "")+piTurn("x", 1)+piTurn("x", 2))
	// Nothing tells any more that the branch has the same prompts; it is known that nobody was asked twice.
	l.ingestAndCheck("written anew", counts{runs: 2, conversations: 2, events: 6, in: 20, out: 6, cost: 20000, links: 1})
	l.append(piFile(piA), piTurn("x", 3))
	all := counts{runs: 2, conversations: 2, events: 8, in: 30, out: 9, cost: 30000, links: 1}
	l.ingestAndCheck("gone on", all)
	l.checkFresh("gone on")
	l.checkCopy("laptop", all)
}

// TestLifeOpenClaw has a session that is written anew without what it cut short, and put aside by a reset; under the same name
// another one begins; later copies are compressed, and deleted.
func TestLifeOpenClaw(t *testing.T) {
	t.Parallel()
	l := newLife(t, "openclaw")
	live := clawHouse + claudeA + ".jsonl"
	head := piHead(claudeA, 0, "")
	result := func(id, text string) string {
		return piEntry(id, 16, `"role":"toolResult","toolCallId":"c1","toolName":"exec","content":[{"type":"text","text":"`+text+`"}],"isError":false`)
	}
	l.write(live, head+piTurn("a", 1)+result("r1", "drip drip drip")+piTurn("a", 2))
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 5, results: 1, in: 20, out: 6, cost: 20000})
	l.append(live, result("r2", "drip")+strings.ReplaceAll(piTurn("b", 2), "10:00:2", "10:50:2"))
	l.ingestAndCheck("said again behind a shorter result", counts{runs: 1, conversations: 1, events: 5, results: 1, in: 20, out: 6, cost: 20000})
	l.write(live, head+piTurn("a", 1)+result("r2", "drip")+strings.ReplaceAll(piTurn("b", 2), "10:00:2", "10:50:2"))
	l.ingestAndCheck("what was first is gone", counts{runs: 1, conversations: 1, events: 5, results: 1, in: 20, out: 6, cost: 20000})
	l.checkFresh("what was first is gone")
	l.append(live, piTurn("b", 3))
	l.write(clawHouse+claudeA+".jsonl.full.bak", head+piTurn("a", 1))
	l.ingestAndCheck("gone on, with a copy beside", counts{runs: 1, conversations: 1, events: 7, results: 1, in: 30, out: 9, cost: 30000})
	reset := live + ".reset.2026-11-03T11-00-00.000Z"
	l.move(live, reset)
	l.ingestAndCheck("reset", counts{runs: 1, conversations: 1, events: 7, results: 1, in: 30, out: 9, cost: 30000})
	l.checkFresh("reset")
	l.write(live, piHead(claudeA, 59, "")+piTurn("d", 500))
	all := counts{runs: 1, conversations: 1, events: 9, results: 1, in: 40, out: 12, cost: 40000}
	l.ingestAndCheck("begun anew", all)
	l.checkFresh("begun anew")
	l.compress(reset)
	l.ingestAndCheck("compressed", all)
	l.move(live, live+".deleted.2026-11-04T11-00-00.000Z")
	l.ingestAndCheck("deleted", all)
	l.checkFresh("deleted")
	l.checkCopy("laptop", all)
	// A session that goes on from it copies the last turn.
	l.write(clawHouse+"2026-11-05T10-00-00-000Z_"+claudeB+".jsonl", piHead(claudeB, 59, `,"parentSession":"/home/ada/`+live+`"`)+piTurn("d", 500)+piTurn("e", 600))
	l.ingestAndCheck("followed", counts{runs: 2, conversations: 2, events: 11, results: 1, in: 50, out: 15, cost: 50000, links: 1})
}

// TestLifePiUnreadable has a session with more lines that cannot be read than are told one by one, which goes on among them.
func TestLifePiUnreadable(t *testing.T) {
	t.Parallel()
	l := newLife(t, "pi")
	const rest = "SELECT line, reason FROM v_problems WHERE kind = '" + index.MoreProblems + "'"
	broken := func(n int) string { return strings.Repeat("{x\n", n) }
	want := counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3, cost: 10000, problems: collect.MaxProblems}
	l.write(piFile(piA), piHead(piA, 0, "")+piTurn("a", 1)+broken(collect.MaxProblems))
	l.ingestAndCheck("all are told", want)
	l.checkQuery("all are told", rest)
	want.problems++
	l.append(piFile(piA), broken(3)+"{to")
	l.ingestAndCheck("some are not", want)
	l.checkQuery("some are not", rest, "10004 4 problems from here on, beyond the first 10000 of this file")
	l.append(piFile(piA), "rn\n"+piTurn("a", 2))
	want.events, want.in, want.out, want.cost = 4, 20, 6, 20000
	l.ingestAndCheck("gone on", want)
	l.append(piFile(piA), piTurn("a", 3)+broken(1))
	want.events, want.in, want.out, want.cost = 6, 30, 9, 30000
	l.ingestAndCheck("and on", want)
	l.checkQuery("and on", rest, "10004 5 problems from here on, beyond the first 10000 of this file")
	l.checkFresh("and on")
	l.write("backup/"+piFile(piA), l.read(piFile(piA))+broken(1))
	l.ingestAndCheck("a copy that has grown", want)
}
