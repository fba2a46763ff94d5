package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const aiderFile = "shop/.aider.chat.history.md"

func aiderStarts(at string) string {
	return fmt.Sprintf("\n# aider chat started at 2026-05-06 %s\n\n> Aider v0.86.1  \n> Main model: anthropic/claude-sonnet-4-5 with diff edit format  \n", at)
}

func aiderTurn(n int) string {
	return fmt.Sprintf("\n#### mend basket %d  \n#### please  \n\nMended.\n\n> a quotation\n\nAll of %d.\n\n> Tokens: %d.0k sent, 30 received. Cost: $0.01 message, $0.50 session.  \n", n, n, n)
}

// TestLifeAider has a file that grows by pieces of any size, is copied with its repository, and is cut off at its head by a person.
func TestLifeAider(t *testing.T) {
	l := newLife(t, "aider")
	l.write(aiderFile, "what was left of")
	l.ingestAndCheck("without a heading", counts{})
	l.append(aiderFile, " an answer\n")
	l.ingestAndCheck("without a heading, and more", counts{})
	l.checkQuery("found", "SELECT count(*) FROM v_events", "1")
	l.replace(aiderFile, aiderStarts("10:00:00")[:60])
	l.ingestAndCheck("starting", counts{})
	l.replace(aiderFile, aiderStarts("10:00:00"))
	l.ingestAndCheck("started", counts{})
	l.append(aiderFile, aiderTurn(1))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 2, in: 1000, out: 30, cost: 10000})
	turn := aiderTurn(2)
	cuts := []int{3, strings.Index(turn, "Men") + 4, strings.Index(turn, "> a") + 3, len(turn) - 30}
	for range 6 {
		cuts = append(cuts, l.rand.IntN(len(turn)))
	}
	slices.Sort(cuts)
	for _, cut := range cuts {
		l.replace(aiderFile, aiderStarts("10:00:00")+aiderTurn(1)+turn[:cut])
		l.ingestShuffled()
		l.recordContents()
		l.checkStored(fmt.Sprintf("cut at %d", cut))
		l.world.checkReindex(fmt.Sprintf("cut at %d", cut))
	}
	first := aiderStarts("10:00:00") + aiderTurn(1) + turn
	l.replace(aiderFile, first)
	l.ingestAndCheck("asked again", counts{runs: 1, conversations: 1, events: 4, in: 3000, out: 60, cost: 20000})
	l.append(aiderFile, aiderStarts("11:00:00"))
	l.ingestAndCheck("started again", counts{runs: 1, conversations: 1, events: 4, in: 3000, out: 60, cost: 20000})
	second := aiderStarts("11:00:00") + aiderTurn(3)
	l.append(aiderFile, aiderTurn(3))
	want := counts{runs: 2, conversations: 2, events: 6, in: 6000, out: 90, cost: 30000}
	l.ingestAndCheck("a second conversation", want)
	l.checkFresh("as it is now")
	l.checkQuery("its name", "SELECT title FROM v_runs WHERE counted ORDER BY started", "mend basket 1", "mend basket 3")
	l.checkQuery("an answer as a whole", "SELECT count(*) FROM v_events WHERE counted AND role = 'assistant'", "3")

	// A copy of the repository goes on by itself, and another one was started in the same second.
	l.write("copy/.aider.chat.history.md", first+second+aiderTurn(4))
	want.events, want.in, want.out, want.cost = 8, 10000, 120, 40000
	l.ingestAndCheck("a copy", want)
	l.write("barn/.aider.chat.history.md", aiderStarts("10:00:00")+aiderTurn(5))
	want.runs, want.conversations, want.events, want.in, want.out, want.cost = 3, 3, 10, 15000, 150, 50000
	l.ingestAndCheck("started in the same second", want)

	// Old conversations are cut off: what was archived counts, and the rest is what it was.
	l.replace(aiderFile, second+aiderTurn(4))
	l.ingestAndCheck("cut off at its head", want)
	l.append(aiderFile, aiderTurn(6))
	want.events, want.in, want.out, want.cost = 12, 21000, 180, 60000
	l.ingestAndCheck("goes on", want)
	l.move(aiderFile, "moved/.aider.chat.history.md")
	l.ingestAndCheck("moved", want)
	l.write("moved/.aider.input.history", "\n# 2026-05-06 10:00:05.000001\n+mend basket 1\n")
	l.append("moved/.aider.input.history", "+please\n")
	l.ingestAndCheck("with what was typed", want)
	l.checkQuery("typed", "SELECT count(*) || ' ' || time FROM v_events WHERE NOT counted AND path LIKE '%.aider.input.history'", "1 2026-05-06T10:00:05.000001Z")
}
