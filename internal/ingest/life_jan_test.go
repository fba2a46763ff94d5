package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	janThread = ".local/share/Jan/data/threads/7d000000-0000-4000-8000-000000000001/"
	janBegan  = int64(1783000000000)
)

// janMessage is a message so many seconds after the first, with pieces of content and members of its metadata.
func janMessage(id, role string, seconds int, metadata string, pieces ...string) string {
	at := janBegan + 1000*int64(seconds)
	return fmt.Sprintf(`{"type":"text","role":%q,"content":[%s],"id":%q,"object":"thread.message","thread_id":"7d000000-0000-4000-8000-000000000001",`+
		`"status":"ready","created_at":%d,"completed_at":%d,"metadata":{%s}}`+"\n", role, strings.Join(pieces, ","), id, at, at, metadata)
}

func janText(text string) string {
	return fmt.Sprintf(`{"type":"text","text":{"value":%q,"annotations":[]}}`, text)
}

// janUsed is what a request has used, which took so many milliseconds.
func janUsed(in, out, took int) string {
	return fmt.Sprintf(`"finishReason":"stop","usage":{"inputTokens":%d,"outputTokens":%d,"totalTokens":%d},`+
		`"tokenSpeed":{"tokenSpeed":20.5,"tokenCount":%d,"durationMs":%d}`, in, out, in+out, out, took)
}

func janNoted(title, model string) string {
	return fmt.Sprintf(`{"id":"7d000000-0000-4000-8000-000000000001","object":"thread","title":%q,"assistants":[{"id":"jan","name":"Jan",`+
		`"model":{"id":%q,"engine":"openai"}}],"created":1783000001.5,"updated":1783000001.5,"metadata":{"project":{"id":"p1","name":"Craft"}}}`,
		title, model)
}

// TestLifeJan has a thread that grows by messages and is rewritten with each change: an answer is saved after each of its requests,
// once only in part, made anew, and edited. Then a message is deleted, and at last all of it.
func TestLifeJan(t *testing.T) {
	t.Parallel()
	l := newLife(t, "jan")
	file := janThread + "messages.jsonl"
	l.write(janThread+"thread.json", janNoted("New Thread", "weaver-7b"))
	l.ingestAndCheck("new", counts{})
	asked := janMessage("m1", "user", 1, "", janText("how long must osier soak?"))
	l.write(file, asked)
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.checkQuery("asked", "SELECT title || ' ' || model || ' ' || group_id FROM v_runs", "how long must osier soak? weaver-7b Craft")

	// The answer is saved when it calls a tool, and anew when it has the result: each states what its own request used.
	call := `{"type":"tool_call","tool_call_id":"call_1","tool_name":"read_file","input":{"path":"/home/ada/osier.txt"}`
	l.write(file, asked+janMessage("m2", "assistant", 3, janUsed(20, 5, 0), call+"}"))
	called := counts{runs: 1, conversations: 1, events: 2, calls: 1, in: 20, out: 5}
	l.ingestAndCheck("called", called)
	answered := call + `,"output":[{"type":"text","text":"8 days"}]}`
	l.write(file, asked+janMessage("m2", "assistant", 5, janUsed(60, 4, 801), answered, janText("eight days")))
	l.write(janThread+"thread.json", janNoted("Soaking", "weaver-7b"))
	said := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 80, out: 9}
	l.ingestAndCheck("answered", said)
	l.checkQuery("answered", "SELECT title || ' ' || started || ' ' || ended FROM v_runs", "Soaking 2026-07-02T13:46:41.000000Z 2026-07-02T13:46:45.000000Z")
	l.checkQuery("answered", "SELECT DISTINCT model || ' ' || provider || ' ' || (cost_microusd IS NULL) FROM v_usage", "weaver-7b jan 1")
	l.write(file, l.read(file)[:len(asked)+100])
	torn := said
	torn.problems = 1
	torn.events, torn.calls, torn.results = 1, 0, 0
	l.ingestAndCheck("torn", torn)

	// The answer is made anew, and that is edited by hand: the edited one repeats what it is made of.
	asked = janMessage("m1", "user", 1, `"parentId":null,"activeChildId":"m4"`, janText("how long must osier soak?"))
	first := janMessage("m2", "assistant", 5, janUsed(60, 4, 801)+`,"parentId":"m1"`, answered, janText("eight days"))
	second := janMessage("m3", "assistant", 9, janUsed(21, 3, 640)+`,"parentId":"m1"`, janText("a week"))
	edited := janMessage("m4", "assistant", 12, janUsed(21, 3, 640)+`,"parentId":"m1"`, janText("a week, or ten days"))
	l.write(file, asked+first+second+edited)
	anew := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 101, out: 12}
	l.ingestAndCheck("anew", anew)
	l.checkQuery("anew", "SELECT count(*) FROM v_events WHERE counted AND attributes ->> 'off_path'", "4")
	l.checkSearch("eight days", 2) // of the earlier version, too
	late := anew
	late.in, late.out = 81, 7 // what the answer's first request used is no longer there
	l.checkFreshCounts("anew", late)

	l.write(file, asked+first+edited)
	less := anew
	less.events = 5
	l.ingestAndCheck("deleted one", less) // what it used was spent
	l.write(file, "")
	none := less
	none.runs, none.conversations, none.events, none.calls, none.results = 0, 0, 0, 0, 0
	l.ingestAndCheck("deleted all", none)
	l.remove(file)
	l.remove(janThread + "thread.json")
	l.ingestAndCheck("gone", none)
	l.checkCopy("laptop", none)
}
