package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	reasonixHome   = "home/.reasonix/"
	reasonixEarly  = reasonixHome + "sessions/"
	reasonixConfig = "home/.config/reasonix/projects/-home-ada-basket/sessions/"
)

func reasonixSays(role, text string) string {
	return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text)
}

// reasonixAsks is a prompt with a time, as the Go versions write it.
func reasonixAsks(minute int, text string) string {
	return fmt.Sprintf(`{"role":"user","content":%q,"createdAt":%d}`, text, 1785657600000+60000*int64(minute))
}

func reasonixLines(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// reasonixRecord is a record of the log of the Go versions.
func reasonixRecord(typ string, minute int, messages ...string) string {
	return fmt.Sprintf(`{"schema_version":1,"type":%q,"revision":%d,"messages":[%s],"created_at":"2026-08-02T08:%02d:00Z"}`, typ, minute+1, strings.Join(messages, ","), minute)
}

// TestLifeReasonix has a session of version 0 with its log and the ledger, a compaction, another session under the same name, and the move to the
// directories of the Go versions, in which a copy of it goes on.
func TestLifeReasonix(t *testing.T) {
	t.Parallel()
	l := newLife(t, "reasonix")
	asked, answered := reasonixSays("user", "weave"), reasonixSays("assistant", "woven")
	called := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"soak","arguments":"{\"minutes\":30}"}}]}`
	result := `{"role":"tool","tool_call_id":"call_0","content":"soaked"}`
	const session, log = reasonixEarly + "basket.jsonl", reasonixEarly + "basket.events.jsonl"
	l.write(session, "")
	l.ingestAndCheck("opened", counts{})
	l.write(session, reasonixLines(asked))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.write(session, reasonixLines(asked, called, result, answered))
	all := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1}
	l.ingestAndCheck("answered", all)

	// The log says the same by other ids, and states what the requests have used, as the ledger does.
	const used = `"usage":{"prompt_tokens":%d,"completion_tokens":5,"prompt_cache_hit_tokens":0},"costUsd":0.000010}`
	line := func(n int, typ, more string) string {
		return fmt.Sprintf(`{"id":%d,"ts":"2026-05-02T08:00:%02d.000Z","turn":1,"type":%q,%s`, n, n, typ, more)
	}
	told := []string{
		line(1, "user.message", `"text":"weave"}`), line(2, "model.final", `"content":"","toolCalls":[],`+fmt.Sprintf(used, 100)),
		line(3, "tool.intent", `"callId":"tc-1","name":"soak","args":"{\"minutes\":30}"}`), line(4, "tool.result", `"callId":"tc-1","ok":true,"output":"soaked","durationMs":1}`),
		line(5, "model.final", `"content":"woven","toolCalls":[],`+fmt.Sprintf(used, 200)),
	}
	l.write(log, reasonixLines(told[:2]...))
	all.in, all.out, all.cost = 100, 5, 10
	l.ingestAndCheck("log", all)
	l.write(log, reasonixLines(told...))
	const row = `{"ts":%d,"session":"basket","model":"deepseek-v4-flash","promptTokens":%d,"completionTokens":5,"cacheHitTokens":0,"cacheMissTokens":%d,"costUsd":0.00001}`
	ledger := []string{fmt.Sprintf(row, int64(1777708802001), 100, 100), fmt.Sprintf(row, int64(1777708805001), 200, 200)}
	l.write(reasonixHome+"usage.jsonl", reasonixLines(ledger...))
	all.in, all.out, all.cost = 300, 10, 20
	l.ingestAndCheck("ledger", all)
	l.checkFresh("ledger")

	// A compaction rewrites the list. What it has removed still counts, and what it has kept does not count again.
	sum := reasonixSays("assistant", "[CONVERSATION HISTORY SUMMARY] They wove.")
	l.write(session+".bak", reasonixLines(asked, called, result, answered))
	l.write(session, reasonixLines(sum, answered))
	all.events++
	l.ingestAndCheck("compacted", all)
	l.write(session, reasonixLines(sum, answered, reasonixSays("user", "and a lid"), reasonixSays("assistant", "lidded")))
	all.events += 2
	l.ingestAndCheck("went on", all)
	l.checkFresh("went on")

	// The next session under the same name.
	const aside = reasonixEarly + "basket__archive_202605021200"
	l.write(aside+".jsonl", reasonixLines(sum, answered, reasonixSays("user", "and a lid"), reasonixSays("assistant", "lidded")))
	l.write(aside+".jsonl.bak", reasonixLines(asked, called, result, answered))
	l.write(aside+".events.jsonl", reasonixLines(told...))
	l.remove(log)
	l.remove(session + ".bak")
	l.write(session, reasonixLines(reasonixSays("user", "sell it")))
	all.events++
	l.ingestAndCheck("put aside", all)

	// The Go versions take it over, with the call in another form.
	const taken = reasonixConfig + "basket.jsonl"
	flat := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","name":"soak","arguments":"{\"minutes\":30}"}]}`
	l.write(taken, reasonixLines(asked, flat, result, answered))
	l.write(reasonixConfig+".titles.json", `{"basket.jsonl":"A basket"}`)
	l.ingestAndCheck("taken over", all)
	l.checkQuery("taken over", "SELECT title FROM v_runs", "A basket")

	// There it goes on in a log, which is rewritten as one record.
	again, dyed := reasonixAsks(10, "dye it"), reasonixSays("assistant", "red")
	first := reasonixRecord("replace", 10, asked, flat, result, answered, again)
	l.write(reasonixConfig+"basket.events.jsonl", reasonixLines(first))
	all.events++
	l.ingestAndCheck("resumed", all)
	l.write(reasonixConfig+"basket.events.jsonl", reasonixLines(first, reasonixRecord("append", 11, dyed, reasonixAsks(12, "dye it"))))
	all.events += 2
	l.ingestAndCheck("appended", all)
	short := `{"role":"user","content":"<compaction-summary>They dyed it.</compaction-summary>"}`
	l.write(reasonixConfig+"basket.events.jsonl", reasonixLines(first, reasonixRecord("append", 11, dyed, reasonixAsks(12, "dye it")),
		reasonixRecord("replace", 13, short, dyed, reasonixAsks(12, "dye it")), reasonixRecord("append", 14, reasonixSays("assistant", "redder"))))
	all.events += 2
	l.ingestAndCheck("shortened", all)
	l.write(reasonixConfig+"basket.events.jsonl", reasonixLines(reasonixRecord("replace", 15, short, dyed, reasonixAsks(12, "dye it"), reasonixSays("assistant", "redder"))))
	l.write(taken, reasonixLines(short, dyed, reasonixAsks(12, "dye it"), reasonixSays("assistant", "redder")))
	l.ingestAndCheck("rewritten", all)

	// A fork begins with what it has copied.
	const fork = reasonixConfig + "20260802-090000.000000000-x.jsonl"
	l.write(fork, reasonixLines(short, dyed, reasonixAsks(12, "dye it"), reasonixSays("assistant", "redder")))
	l.write(fork+".meta", `{"id":"20260802-090000.000000000-x","parent_id":"basket","created_at":"2026-08-02T09:00:00Z","updated_at":"2026-08-02T09:00:00Z"}`)
	all.runs, all.conversations, all.links = 2, 2, 1
	l.ingestAndCheck("forked", all)
	l.write(fork, reasonixLines(short, dyed, reasonixAsks(12, "dye it"), reasonixSays("assistant", "redder"), reasonixAsks(70, "bleach it"), reasonixSays("assistant", "white")))
	all.events += 2
	l.ingestAndCheck("fork went on", all)
	const saved = reasonixConfig + "20260802-100000.000000000-x-recovery.jsonl"
	l.write(saved, reasonixLines(short, dyed, reasonixAsks(12, "dye it"), reasonixSays("assistant", "redder"), reasonixAsks(13, "dry it"), reasonixSays("assistant", "dry")))
	l.write(saved+".meta", `{"id":"20260802-100000.000000000-x-recovery","parent_id":"basket","recovered":true,"recovery_reason":"conflict","created_at":"2026-08-02T10:00:00Z"}`)
	all.runs, all.conversations, all.links, all.events = 3, 3, 2, all.events+2
	l.ingestAndCheck("recovered", all)
	l.remove(reasonixHome + "usage.jsonl")
	l.remove(session)
	l.ingestAndCheck("deleted", all)
}

// TestLifeReasonixUsage has requests in the ledger of a day, some of which a session's frames state, too.
func TestLifeReasonixUsage(t *testing.T) {
	t.Parallel()
	l := newLife(t, "reasonix")
	const stats = reasonixHome + "stats/2026-08-02.jsonl"
	row := func(minute, prompt int) string {
		return fmt.Sprintf(`{"ts":"2026-08-02T08:%02d:00Z","model":"d/flash","source":"desktop","prompt":%d,"completion":5,"cache_hit":10,"total":%d,"requests":1,`+
			`"cost_amount":"0.00002","cost_currency":"USD"}`, minute, prompt, prompt+5)
	}
	l.write(stats, reasonixLines(row(1, 100), row(2, 200)))
	l.ingestAndCheck("ledger", counts{in: 280, out: 10, cost: 40})
	l.write(reasonixEarly+"s.jsonl", reasonixLines(reasonixAsks(2, "weave"), reasonixSays("assistant", "woven")))
	frames := []string{`{"kind":"turn_started","msgIndex":0,"modelRef":"d/flash"}`, `{"kind":"usage","usage":{"promptTokens":200,"completionTokens":5,"cacheHitTokens":10,"cost":0.00002,"currencyCode":"USD"}}`}
	l.write(reasonixEarly+"s.wire.jsonl", reasonixLines(frames...))
	all := counts{runs: 1, conversations: 1, events: 2, in: 280, out: 10, cost: 40}
	l.ingestAndCheck("frames", all)
	l.checkQuery("frames", "SELECT time FROM v_usage WHERE counted = 1 AND input_tokens = 190", "2026-08-02T08:02:00.000000Z")
	l.write(stats, reasonixLines(row(1, 100), row(2, 200), row(3, 200)))
	all.in, all.out, all.cost = all.in+190, all.out+5, all.cost+20
	l.ingestAndCheck("the same numbers again", all)
	l.checkFresh("the same numbers again")
}
