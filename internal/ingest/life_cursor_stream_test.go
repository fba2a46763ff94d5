package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// cursorPrompt returns the first lines of what the command line program prints.
func cursorPrompt(text string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/home/ada/shop","session_id":%q,"model":"Auto","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":%q}]},"session_id":%[1]q}
`, cursorA, text)
}

// cursorAnswer returns its last lines.
func cursorAnswer(n int) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"mended %d"}]},"session_id":%q}
{"type":"result","subtype":"success","duration_ms":90,"duration_api_ms":90,"is_error":false,"result":"mended %[1]d","session_id":%[2]q,"request_id":"req-%[1]d","usage":{"inputTokens":100,"outputTokens":7,"cacheReadTokens":30,"cacheWriteTokens":0}}
`, n, cursorA)
}

// cursorWork returns a call with its result, and fragments of thinking before them.
func cursorWork(at int64) string {
	return fmt.Sprintf(`{"type":"thinking","subtype":"delta","text":"hand","session_id":%[1]q,"timestamp_ms":%[2]d}
{"type":"thinking","subtype":"delta","text":"les","session_id":%[1]q,"timestamp_ms":%[2]d}
{"type":"thinking","subtype":"completed","session_id":%[1]q,"timestamp_ms":%[2]d}
{"type":"tool_call","subtype":"started","call_id":"c%[2]d","tool_call":{"readToolCall":{"args":{"path":"basket.go"}}},"session_id":%[1]q,"timestamp_ms":%[2]d}
{"type":"tool_call","subtype":"completed","call_id":"c%[2]d","tool_call":{"readToolCall":{"args":{"path":"basket.go"},"result":{"success":{"content":"wicker"}}}},"session_id":%[1]q,"timestamp_ms":%[2]d}
`, cursorA, at)
}

// TestLifeCursorStream has the saved output of one session, resumed twice with the same prompt: it grows, even in the middle of fragments, and is
// copied.
func TestLifeCursorStream(t *testing.T) {
	t.Parallel()
	l := newLife(t, "cursor")
	l.write("ci/1.log", cursorPrompt("mend basket 1"))
	l.ingestAndCheck("a prompt", counts{runs: 1, conversations: 1, events: 1})
	work := strings.SplitAfter(cursorWork(1789374000000), "\n")
	l.append("ci/1.log", "warning: slow\n"+work[0])
	l.ingestAndCheck("a fragment", counts{runs: 1, conversations: 1, events: 2, problems: 1})
	l.append("ci/1.log", strings.Join(work[1:], ""))
	l.ingestAndCheck("a call", counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, problems: 1})
	l.append("ci/1.log", cursorAnswer(1))
	want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1, in: 100, out: 7, problems: 1}
	l.ingestAndCheck("an answer", want)
	l.write("ci/copy.txt", l.read("ci/1.log"))
	l.write("ci/part.txt", strings.TrimSuffix(l.read("ci/1.log"), cursorAnswer(1)))
	l.ingestAndCheck("copied", want)
	for n := 2; n <= 3; n++ {
		l.write(fmt.Sprintf("ci/%d.log", n), cursorPrompt("continue")+cursorAnswer(n))
		want.events, want.in, want.out = want.events+2, want.in+100, want.out+7
		l.ingestAndCheck("resumed", want)
	}
	l.checkFresh("as it is now")
	l.checkQuery("its name", "SELECT title FROM v_conversations WHERE verdict = 'counted'", "mend basket 1")

	// The next run overwrites a file: both runs count.
	l.write("ci/3.log", cursorPrompt("continue")+cursorAnswer(4))
	want.events, want.in, want.out = want.events+2, want.in+100, want.out+7
	l.ingestAndCheck("overwritten", want)

	// The program's own transcript counts instead, with the tokens that only the output states.
	l.write(cursorFile("home-ada-shop", cursorA), cursorTurn(1)+cursorTurn(2))
	l.ingestAndCheck("the transcript", counts{runs: 1, conversations: 1, events: 6, calls: 2, in: 400, out: 28, problems: 1})
	l.checkCopy("laptop", counts{runs: 1, conversations: 1, events: 6, calls: 2, in: 400, out: 28, problems: 1})
}

// TestLifeCursorPartial has output in fragments that grows: the message counts once, as fragments as long as that is all there is.
func TestLifeCursorPartial(t *testing.T) {
	t.Parallel()
	l := newLife(t, "cursor")
	l.write("run", cursorPrompt("mend basket 1"))
	for i, text := range []string{"men", "ded ", "1"} {
		l.append("run", fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"session_id":%q,"timestamp_ms":%d}`+"\n", text, cursorA, 1789374000000+int64(i)))
		l.ingestAndCheck("fragments", counts{runs: 1, conversations: 1, events: 2})
	}
	l.write("copy", l.read("run"))
	l.append("run", cursorAnswer(1))
	l.ingestAndCheck("whole", counts{runs: 1, conversations: 1, events: 2, in: 100, out: 7})
	l.checkFresh("whole")
}

// TestLifeCursorStreamFirst has the saved output and the database of a session, in either order: the database counts, with the tokens that
// only the output states.
func TestLifeCursorStreamFirst(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"run.json", cursorChat} {
		s, w := newTree(t), newWorld(t)
		s.write("run.json", strings.SplitAfter(cursorAnswer(1), "\n")[1])
		b := newCursorChat(s)
		b.say(`{"role":"user","content":[{"type":"text","text":"<user_query>\nmend basket 1\n</user_query>"}]}`)
		b.say(`{"role":"assistant","id":"1","content":[{"type":"text","text":"mended 1"}]}`)
		w.ingest("home", s.dir, first)
		w.ingest("home", s.dir, ".")
		if got, want := countsOf(w.totals().Formats["cursor"]), (counts{runs: 1, conversations: 1, events: 2, in: 100, out: 7}); got != want {
			t.Errorf("%s first:\n got %+v\nwant %+v", first, got, want)
		}
		if got := w.query("SELECT title FROM v_conversations WHERE verdict = 'counted'"); len(got) != 1 || got[0] != "Mend" {
			t.Errorf("%s first: %q", first, got)
		}
		w.checkReindex(first)
	}
}

// TestLifeCursorMixed has two processes that print to one file at the same time, and each has said its answer before its result.
func TestLifeCursorMixed(t *testing.T) {
	t.Parallel()
	l := newLife(t, "cursor")
	other := func(s string) string {
		return strings.NewReplacer(cursorA, "0e000000-0000-4000-8000-00000000000b", "Auto", "Other", "req-", "req-b").Replace(s)
	}
	_, work, _ := strings.Cut(cursorWork(1789374000000), `"completed","session_id"`)
	_, work, _ = strings.Cut(work, "\n") // a call and its result
	mixed := ""
	for line := range strings.Lines(cursorPrompt("mend basket 1") + work + cursorAnswer(1)) {
		mixed += line + other(line)
	}
	l.write("run", mixed[:strings.Index(mixed, `{"type":"user"`)])
	l.ingestAndCheck("named", counts{})
	l.write("run", mixed)
	l.ingestAndCheck("mixed", counts{runs: 2, conversations: 2, events: 8, calls: 2, results: 2, in: 200, out: 14})
	l.checkQuery("models", "SELECT group_concat(model) FROM (SELECT model FROM v_usage WHERE counted ORDER BY model)", "Auto,Other")

	l.append("run", strings.ReplaceAll(strings.Split(cursorPrompt("x"), "\n")[0], cursorA, "0e000000-0000-4000-8000-00000000000c")+"\n")
	l.ingestAndCheck("another begins", counts{runs: 2, conversations: 2, events: 8, calls: 2, results: 2, in: 200, out: 14})
	l.append("run", strings.ReplaceAll(cursorPrompt("mend basket 2"), cursorA, "0e000000-0000-4000-8000-00000000000c"))
	l.ingestAndCheck("and is asked", counts{runs: 3, conversations: 3, events: 9, calls: 2, results: 2, in: 200, out: 14})
}
