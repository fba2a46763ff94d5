package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	rovoA    = "7c0d1111-0000-4000-8000-000000000001"
	rovoB    = "7c0d1111-0000-4000-8000-000000000002"
	rovoHome = ".rovodev/sessions/"
	rovoNew  = ".rovo/sessions/"
)

func rovoAsks(n int, parts ...string) string {
	return fmt.Sprintf(`{"parts":[%s],"timestamp":"2026-04-02T10:00:%02d.000001Z","instructions":null,"kind":"request","run_id":"r"}`,
		strings.Join(parts, ","), n)
}

// rovoAnswers is a response that read cached tokens of in from the cache.
func rovoAnswers(n, in, cached, out int, parts ...string) string {
	usage := fmt.Sprintf(`{"input_tokens":%d,"cache_write_tokens":0,"cache_read_tokens":%d,"output_tokens":%d}`, in, cached, out)
	return fmt.Sprintf(`{"parts":[%s],"usage":%s,"model_name":"claude-sonnet-4-5","timestamp":"2026-04-02T10:00:%02d.000002Z",`+
		`"kind":"response","provider_response_id":"msg_%d","run_id":"r"}`, strings.Join(parts, ","), usage, n, n)
}

func rovoSays(kind, text string) string {
	return fmt.Sprintf(`{"content":%q,"part_kind":%q}`, text, kind)
}

func rovoPrompt(n int, text string) string { return rovoAsks(n, rovoSays("user-prompt", text)) }

func rovoSession(id string, total int, messages ...string) string {
	return fmt.Sprintf(`{"id":%q,"deps":{"artifacts":{}},"message_history":[%s],"usage":{"input_tokens":%d,"output_tokens":%d},`+
		`"timestamp":1775124000,"workspace_path":"/home/ada/basket"}`, id, strings.Join(messages, ","), total, total)
}

func rovoNotes(title, fork string) string {
	return fmt.Sprintf(`{"title":%s,"is_manual_title":false,"fork_data":%s,"workspace_path":"/home/ada/basket"}`, title, fork)
}

// TestLifeRovoDev has a session that is written anew with each message, once only in part, and then pruned; a fork of it, which
// begins as a copy, id and all; both going on; a copy in the program's new home; and a session that is cleared and deleted.
func TestLifeRovoDev(t *testing.T) {
	t.Parallel()
	l := newLife(t, "rovodev")
	context, notes := rovoHome+rovoA+"/session_context.json", rovoHome+rovoA+"/metadata.json"
	asked := rovoAsks(1, rovoSays("system-prompt", "weave"), rovoSays("user-prompt", "count the lids"))
	l.write(notes, rovoNotes("null", "null"))
	l.ingestAndCheck("noted", counts{})
	l.write(context, rovoSession(rovoA, 0, asked))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 2})

	called := rovoAnswers(2, 100, 60, 10, rovoSays("text", "looking"),
		`{"tool_name":"bash","args":"{\"command\":\"wc\"}","tool_call_id":"toolu_1","part_kind":"tool-call"}`)
	l.write(context, rovoSession(rovoA, 110, asked, called))
	l.ingestAndCheck("called", counts{runs: 1, conversations: 1, events: 4, calls: 1, in: 40, out: 10})
	l.write(context, rovoSession(rovoA, 110, asked, called)[:300])
	l.ingestAndCheck("torn", counts{runs: 1, conversations: 1, events: 4, calls: 1, in: 40, out: 10, problems: 1})

	returned := func(text string) string {
		return rovoAsks(3, fmt.Sprintf(`{"tool_name":"bash","content":%q,"tool_call_id":"toolu_1",`+
			`"timestamp":"2026-04-02T10:00:03.000000Z","part_kind":"tool-return"}`, text))
	}
	said := rovoAnswers(4, 150, 100, 5, rovoSays("text", "17"))
	l.write(context, rovoSession(rovoA, 265, asked, called, returned("seventeen"), said))
	l.write(notes, rovoNotes(`"Counting"`, "null"))
	whole := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 90, out: 15}
	l.ingestAndCheck("whole", whole)
	l.checkSearch("seventeen", 1)
	l.checkQuery("whole", "SELECT title || ' ' || project || ' ' || model FROM v_conversations WHERE verdict = 'counted'",
		"Counting /home/ada/basket claude-sonnet-4-5")
	l.checkFresh("whole")

	l.write(context, rovoSession(rovoA, 265, asked, called, returned(""), said))
	l.ingestAndCheck("pruned", whole)
	l.checkSearch("seventeen", 1) // in the earlier version

	fork := rovoHome + rovoB + "/session_context.json"
	l.write(fork, rovoSession(rovoA, 265, asked, called, returned(""), said))
	l.write(rovoHome+rovoB+"/metadata.json", rovoNotes(`"Counting (fork)"`, `{"parent_session_id":"`+rovoA+`","fork_point":4}`))
	forked := whole
	forked.runs, forked.conversations, forked.links = 2, 2, 1
	l.ingestAndCheck("forked", forked)
	l.write(fork, rovoSession(rovoB, 400, asked, called, returned(""), said,
		rovoPrompt(5, "and the rims"), rovoAnswers(6, 160, 150, 7, rovoSays("text", "none"))))
	l.write(context, rovoSession(rovoA, 470, asked, called, returned(""), said,
		rovoPrompt(7, "again"), rovoAnswers(8, 170, 150, 8, rovoSays("text", "17 again"))))
	forked.events, forked.in, forked.out = 10, 90+10+20, 15+7+8
	l.ingestAndCheck("both went on", forked)
	l.checkFreshCounts("both went on", forked)

	l.write(rovoNew+rovoA+"/session_context.json", l.read(context))
	l.write(rovoNew+rovoA+"/metadata.json", l.read(notes))
	l.ingestAndCheck("copied", forked)
	l.write(rovoNew+rovoA+"/session_context.json", rovoSession(rovoA, 480, asked, called, returned(""), said,
		rovoPrompt(7, "again"), rovoAnswers(8, 170, 150, 8, rovoSays("text", "17 again")), rovoPrompt(9, "thanks")))
	l.write(rovoNew+rovoA+"/metadata.json", rovoNotes(`"A count"`, "null"))
	forked.events++
	l.ingestAndCheck("copy went on", forked)
	l.checkQuery("copy went on", "SELECT DISTINCT title FROM v_runs WHERE native_id = '"+rovoA+"'", "A count")

	l.write(fork, rovoSession(rovoB, 400)) // what it used was paid for, and the copied part is the other's
	forked.runs, forked.conversations, forked.events = 1, 1, 9
	l.ingestAndCheck("cleared", forked)
	l.write(fork, rovoSession(rovoB, 410, rovoPrompt(20, "anew"), rovoAnswers(21, 9, 0, 1, rovoSays("text", "well"))))
	forked.runs, forked.conversations, forked.events, forked.in, forked.out = 2, 2, 11, forked.in+9, forked.out+1
	l.ingestAndCheck("begun anew", forked)
	l.remove(fork)
	l.remove(rovoHome + rovoB + "/metadata.json")
	l.remove(context)
	l.remove(notes)
	l.ingestAndCheck("deleted", forked)
}

// TestLifeRovoDevSum has a session whose responses do not state what they used until they do: its sum counts only so long.
func TestLifeRovoDevSum(t *testing.T) {
	t.Parallel()
	l := newLife(t, "rovodev")
	context := rovoHome + rovoA + "/session_context.json"
	bare := `{"parts":[` + rovoSays("text", "17") + `],"timestamp":"2026-04-02T10:00:02Z","kind":"response"}`
	asked, again := rovoPrompt(1, "count the lids"), rovoPrompt(3, "again")
	l.write(context, rovoSession(rovoA, 50, asked, bare))
	l.ingestAndCheck("sum", counts{runs: 1, conversations: 1, events: 2, in: 50, out: 50})
	l.write(context, rovoSession(rovoA, 70, asked, bare, again))
	l.ingestAndCheck("greater sum", counts{runs: 1, conversations: 1, events: 3, in: 70, out: 70})
	l.write(context, rovoSession(rovoA, 170, asked, bare, again, rovoAnswers(4, 100, 60, 10, rovoSays("text", "17"))))
	l.ingestAndCheck("stated", counts{runs: 1, conversations: 1, events: 4, in: 40, out: 10})
	l.checkFresh("stated")
}

// TestLifeRovoDevTrial has a trial of Harbor, with a trajectory that it has made of the session beside it: what the session states counts.
func TestLifeRovoDevTrial(t *testing.T) {
	t.Parallel()
	l := newLife(t, "rovodev")
	l.write(atifTrial+"agent/rovodev_session_context.json",
		rovoSession(rovoA, 110, rovoPrompt(1, "write the log"), rovoAnswers(2, 100, 60, 10, rovoSays("text", "written"))))
	l.write(atifTrial+"agent/trajectory.json", atifDocument(rovoA, "rovodev-cli", "",
		atifStep(1, "user", "write the log", ""), atifStep(2, "agent", "written", "")))
	l.write(atifTrial+"result.json", atifResult("harbour-log__AbCdEfG", "1", "rovodev-cli", 1, 160, 10))
	l.ingestAndCheck("converted", counts{runs: 1, conversations: 1, events: 2, in: 40, out: 10})
	l.checkQuery("converted", "SELECT format || ' ' || sum(input_tokens) FROM v_usage WHERE verdict = 'counted' GROUP BY format", "rovodev 40")
}
