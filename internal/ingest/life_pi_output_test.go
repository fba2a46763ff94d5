package ingest_test

import (
	"strings"
	"testing"
)

// piOutput returns what pi --mode json prints for a turn.
func piOutput(session string, n int) string {
	out := piHead(session, 0, "") + `{"type":"agent_start"}` + "\n"
	for entry := range strings.Lines(piTurn("a", n)) {
		_, message, _ := strings.Cut(strings.TrimSpace(entry), `"message":`)
		out += `{"type":"message_start","message":` + message + "\n" + `{"type":"message_end","message":` + message + "\n"
	}
	return out + `{"type":"agent_end","messages":[]}` + "\n"
}

// TestLifePiOutput has the saved output of a session that was resumed, before and after the session itself.
func TestLifePiOutput(t *testing.T) {
	t.Parallel()
	first, second := piOutput(piA, 1), piOutput(piA, 2)
	one := counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3, cost: 10000}
	two := counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6, cost: 20000}
	session := piHead(piA, 0, "") + piTurn("a", 1) + piTurn("a", 2)

	l := newLife(t, "pi")
	l.write("ci/1.log", first[:len(first)-20])
	torn := one
	torn.problems = 1
	l.ingestAndCheck("running", torn)
	l.write("ci/1.log", first)
	l.ingestAndCheck("ended", one)
	l.write("ci/copy", first)
	l.ingestAndCheck("copied", one)
	l.write("ci/2.jsonl", second)
	l.ingestAndCheck("resumed", two)
	l.write("ci/all", first+second)
	l.ingestAndCheck("joined", two)
	l.checkFresh("joined")
	l.write(piFile(piA), session)
	l.ingestAndCheck("the session", two)
	l.checkFresh("the session")
	l.checkCopy("laptop", two)

	l = newLife(t, "pi")
	l.write(piFile(piA), session)
	l.ingestAndCheck("the session alone", two)
	l.write("ci/1.log", first)
	l.ingestAndCheck("and its output", two)
}
