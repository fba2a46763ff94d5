package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// droidOutput returns what droid exec prints for a prompt.
func droidOutput(session string, n, input int) string {
	at := 1790841600000 + int64(n)*60000
	return fmt.Sprintf(`{"type":"system","subtype":"init","cwd":"/home/ada/shop","session_id":%q,"model":"glm-4.6","reasoning_effort":"none","tools":["Read"]}`+"\n", session) +
		fmt.Sprintf(`{"type":"message","role":"user","id":"o%du","text":"mend basket %[1]d","timestamp":%d,"session_id":%q}`+"\n", n, at, session) +
		fmt.Sprintf(`{"type":"tool_call","id":"call_%d","messageId":"o%[1]da","toolId":"Read","toolName":"Read","parameters":{"file_path":"basket.go"},"timestamp":%d,"session_id":%q}`+"\n", n, at+1, session) +
		fmt.Sprintf(`{"type":"tool_result","id":"call_%d","messageId":"o%[1]db","toolId":"Read","isError":false,"value":"wicker","timestamp":%d,"session_id":%q}`+"\n", n, at+2, session) +
		fmt.Sprintf(`{"type":"message","role":"assistant","id":"o%da","text":"mended %[1]d","timestamp":%d,"session_id":%q}`+"\n", n, at+3, session) +
		fmt.Sprintf(`{"type":"completion","finalText":"mended %d","numTurns":2,"durationMs":9,"timestamp":%d,"session_id":%q,"usage":{"input_tokens":%d,"output_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":0}}`+"\n", n, at+4, session, input)
}

// TestLifeDroidOutput has the saved output of a session that was resumed. It grows and is copied, and is only a copy as soon as there is
// the session.
func TestLifeDroidOutput(t *testing.T) {
	t.Parallel()
	l := newLife(t, "droid")
	first := droidOutput(droidA, 1, 100)
	l.write("ci/1.log", first[:len(first)-250])
	l.ingestAndCheck("torn", counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, problems: 1})
	l.append("ci/1.log", first[len(first)-250:])
	want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 100, out: 10}
	l.ingestAndCheck("whole", want)
	l.write("ci/copy", first+"done\n")
	want.problems = 1
	l.ingestAndCheck("copied", want)
	l.write("ci/2.txt", droidOutput(droidA, 2, 250)) // the total of the session, as far as is known
	want = counts{runs: 1, conversations: 1, events: 8, calls: 2, results: 2, in: 250, out: 10, problems: 1}
	l.ingestAndCheck("resumed", want)
	l.checkFresh("resumed")
	l.write(droidStore+droidA+".jsonl", droidHeader(droidA, "Mend", "")+droidTurn("a", 1)+droidTurn("a", 2))
	want = counts{runs: 1, conversations: 1, events: 4, in: 250, out: 10, problems: 1}
	l.ingestAndCheck("the session", want)
	l.write(droidStore+droidA+".settings.json", droidSettings(260, 20))
	want.in, want.out = 260, 20
	l.ingestAndCheck("its settings", want)
	l.checkFresh("its settings")
	l.checkCopy("laptop", want)
}

// TestLifeDroidMixed has two processes that print to one file at the same time, and each has said its answer before its end.
func TestLifeDroidMixed(t *testing.T) {
	t.Parallel()
	l := newLife(t, "droid")
	other := strings.SplitAfter(droidOutput(droidB, 2, 100), "\n")
	mixed := ""
	for i, line := range strings.SplitAfter(droidOutput(droidA, 1, 100), "\n") {
		mixed += line + other[i]
	}
	l.write("run", mixed)
	l.ingestAndCheck("mixed", counts{runs: 2, conversations: 2, events: 8, calls: 2, results: 2, in: 200, out: 20})
}
