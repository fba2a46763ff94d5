package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	kimiStore = ".kimi-code/sessions/wd_shop_0123456789ab/"
	kimiA     = "session_6a000000-0000-4000-8000-00000000000a"
	kimiB     = "session_6a000000-0000-4000-8000-00000000000b"
	kimiHead  = `{"type":"metadata","protocol_version":"1.4","created_at":1790000000000}` + "\n"
)

func kimiFile(session, agent string) string {
	return kimiStore + session + "/agents/" + agent + "/wire.jsonl"
}

// kimiTurn returns a prompt and its answer, with its tokens stated twice.
func kimiTurn(n int) string {
	line := func(at int, rest string) string {
		return fmt.Sprintf(`{%s,"time":%d}`, rest, 1790000000000+int64(1000*n+at)) + "\n"
	}
	const usage = `"usage":{"inputOther":10,"output":3,"inputCacheRead":40,"inputCacheCreation":0}`
	return line(1, `"type":"turn.prompt","input":[{"type":"text","text":"mend the basket"}],"origin":{"kind":"user"}`) +
		line(2, `"type":"context.append_loop_event","event":{"type":"content.part","uuid":"u","part":{"type":"text","text":"mended"}}`) +
		line(3, `"type":"usage.record","model":"moonshot/kimi-k2.6",`+usage+`,"usageScope":"turn"`) +
		line(4, `"type":"context.append_loop_event","event":{"type":"step.end","uuid":"s",`+usage+`}`)
}

func kimiState(title, more string) string {
	return fmt.Sprintf(`{"createdAt":"2026-11-01T10:00:00.000Z","title":%q,"isCustomTitle":true,"workDir":"/home/ada/shop","agents":{"main":{"parentAgentId":null},"agent-0":{"parentAgentId":"main"}}%s}`, title, more)
}

// TestLifeKimi has a session that grows, gets a title, is rewritten by a newer version, and is forked with its subagent.
func TestLifeKimi(t *testing.T) {
	t.Parallel()
	l := newLife(t, "kimi")
	l.write(kimiFile(kimiA, "main"), kimiHead+kimiTurn(1))
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	l.write(kimiStore+kimiA+"/state.json", kimiState("Basket", ""))
	l.append(kimiFile(kimiA, "main"), kimiTurn(2))
	l.ingestAndCheck("named", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6})
	l.checkQuery("named", "SELECT c.title || ' ' || r.title || ' ' || r.project FROM v_conversations c JOIN v_runs r USING (run_id) WHERE r.child = 0 AND c.events > 0", "Basket Basket /home/ada/shop")
	for _, title := range []string{"Zinc bucket", "Amber basket"} {
		l.write(kimiStore+kimiA+"/state.json", kimiState(title, ""))
		l.ingestAndCheck("renamed", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6})
		l.checkQuery("renamed", "SELECT c.title || ' ' || r.title FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.events > 0", title+" "+title)
	}
	l.write(kimiFile(kimiA, "main"), strings.ReplaceAll(kimiHead, "1.4", "1.5")+kimiTurn(1)+kimiTurn(2)+kimiTurn(3))
	l.ingestAndCheck("written anew", counts{runs: 1, conversations: 1, events: 6, in: 30, out: 9})
	l.write(kimiFile(kimiA, "agent-0"), kimiHead+kimiTurn(4))
	all := counts{runs: 1, conversations: 2, events: 8, in: 40, out: 12, links: 1}
	l.ingestAndCheck("a subagent", all)
	const mark = `{"type":"forked","time":1790000009000}` + "\n"
	forked := kimiHead + kimiTurn(1) + kimiTurn(2) + kimiTurn(3) + mark
	l.write(kimiFile(kimiB, "main"), forked)
	l.write(kimiFile(kimiB, "agent-0"), kimiHead+kimiTurn(4)+mark)
	l.write(kimiStore+kimiB+"/state.json", kimiState("Basket", `,"forkedFrom":"`+kimiA+`"`))
	all.runs, all.conversations, all.links = 2, 4, 3
	l.ingestAndCheck("forked", all)
	l.append(kimiFile(kimiB, "main"), kimiTurn(10))
	all.events, all.in, all.out = 10, 50, 15
	l.ingestAndCheck("the fork went on", all)
	l.write(kimiFile(kimiB, "main"), kimiHead+strings.ReplaceAll(strings.TrimPrefix(forked, kimiHead), ",\"inputCacheCreation\":0", "")+kimiTurn(10)+kimiTurn(11))
	all.events, all.in, all.out = 12, 60, 18
	l.ingestAndCheck("the fork was written anew", all)
	l.checkCopy("laptop", all)
}

// TestKimiOriginComesLate ingests a fork first, which then counts in full, and its origin later.
func TestKimiOriginComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "kimi")
	l.write(kimiFile(kimiB, "main"), kimiHead+kimiTurn(1)+`{"type":"forked","time":1790000009000}`+"\n"+kimiTurn(10))
	l.write(kimiStore+kimiB+"/state.json", kimiState("Basket", `,"forkedFrom":"`+kimiA+`"`))
	l.ingestAndCheck("the fork", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6, links: 1})
	l.write(kimiFile(kimiA, "main"), kimiHead+kimiTurn(1)+kimiTurn(2))
	both := counts{runs: 2, conversations: 2, events: 6, in: 30, out: 9, links: 1}
	l.ingestAndCheck("both", both)
	l.checkQuery("both", "SELECT r.native_id || ' ' || count(*) FROM v_events e JOIN v_runs r USING (run_id) WHERE e.counted = 1 GROUP BY r.native_id ORDER BY r.native_id", kimiA+" 4", kimiB+" 2")
	l.checkFresh("both")
}

// TestLifeKimiCLI has a session of the older program: the context file is written first, then the wire log; a fork repeats lines of it.
func TestLifeKimiCLI(t *testing.T) {
	t.Parallel()
	l := newLife(t, "kimi")
	const dir = ".kimi/sessions/0123456789abcdef0123456789abcdef/"
	session := func(n int) string { return fmt.Sprintf("7a000000-0000-4000-8000-%012d/", n) }
	turn := func(n int) string {
		line := func(at int, typ, payload string) string {
			return fmt.Sprintf(`{"timestamp":%d.%06d,"message":{"type":%q,"payload":{%s}}}`, 1770000000+n, 100*at+123, typ, payload) + "\n"
		}
		return line(1, "TurnBegin", `"user_input":"stack the crates"`) + line(2, "ContentPart", `"type":"text","text":"stacked"`) +
			line(3, "StatusUpdate", fmt.Sprintf(`"token_usage":{"input_other":10,"output":3,"input_cache_read":0,"input_cache_creation":0},"message_id":"m%d"`, n))
	}
	l.write(dir+session(1)+"context.jsonl", `{"role":"user","content":"stack the crates"}`+"\n")
	l.ingestAndCheck("context", counts{runs: 1, conversations: 1, events: 1})
	l.write(dir+session(1)+"wire.jsonl", `{"type":"metadata","protocol_version":"1.3"}`+"\n"+turn(1))
	l.ingestAndCheck("wire", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	l.append(dir+session(1)+"wire.jsonl", turn(2))
	l.write(dir+session(2)+"wire.jsonl", `{"type":"metadata","protocol_version":"1.3"}`+"\n"+turn(1)+turn(3))
	all := counts{runs: 2, conversations: 2, events: 6, in: 30, out: 9, links: 1}
	l.ingestAndCheck("forked", all)
	l.checkFresh("forked")
	lines := strings.SplitAfter(turn(3), "\n")
	l.append(dir+session(2)+"wire.jsonl", lines[2])
	l.ingestAndCheck("a request is stated again", all)
	l.checkCopy("laptop", all)
}

// TestKimiForksOfNothing has two forks of a session that is gone, and a fork of one of them: what they have copied is in all of them, and its
// requests were made once.
func TestKimiForksOfNothing(t *testing.T) {
	t.Parallel()
	l := newLife(t, "kimi")
	mark := func(n int) string { return fmt.Sprintf(`{"type":"forked","time":17900000090%02d}`, n) + "\n" }
	kimiC, gone := strings.TrimSuffix(kimiB, "b")+"c", strings.TrimSuffix(kimiB, "b")+"d"
	copied := kimiHead + kimiTurn(1) + kimiTurn(2) + mark(1)
	for n, session := range []string{kimiA, kimiB} {
		l.write(kimiFile(session, "main"), copied+kimiTurn(3+n))
		l.write(kimiStore+session+"/state.json", kimiState("Basket", `,"forkedFrom":"`+gone+`"`))
	}
	l.write(kimiFile(kimiC, "main"), copied+kimiTurn(3)+mark(2)+kimiTurn(5))
	l.write(kimiStore+kimiC+"/state.json", kimiState("Basket", `,"forkedFrom":"`+kimiA+`"`))
	want := counts{runs: 3, conversations: 3, events: 6 + 6 + 2, in: 50, out: 15, links: 3}
	l.ingestAndCheck("forks", want)
	l.checkFresh("forks")
	l.write(kimiFile(gone, "main"), kimiHead+kimiTurn(1)+kimiTurn(2))
	want.runs, want.conversations, want.events = 4, 4, 4+2+2+2
	l.ingestAndCheck("the origin", want)
	l.checkFresh("the origin")
}
