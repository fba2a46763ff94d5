package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// awfState returns the state of run A after its steps; the time of a step stays the same when the state is rewritten.
func awfState(status, updated string, out int) string {
	return fmt.Sprintf(`{"WorkflowID":%q,"WorkflowName":"flow","ParentRunID":"","Status":%q,"States":{"check":{"Name":"check","Status":%q,
"StartedAt":"2026-11-01T10:00:00Z","TokensUsed":%d,"TokensInput":0,"TokensOutput":%d}},"StartedAt":"2026-11-01T10:00:00Z","UpdatedAt":%q}`,
		runA, status, status, out, out, updated)
}

// TestOldCopyOfAState: a copy of the storage, made while a run went on, does not override what AWF wrote later,
// whichever of the two sorts first or is ingested first.
func TestOldCopyOfAState(t *testing.T) {
	t.Parallel()
	for _, copied := range []string{"backup/", "zip/"} {
		l := newLife(t, "awf")
		name := "states/" + runA + ".json"
		l.write("storage/"+name, awfState("completed", "2026-11-01T10:09:00Z", 700))
		l.write(copied+name, awfState("running", "2026-11-01T10:03:00Z", 20))
		l.ingestAndCheck("with a copy", counts{runs: 1, out: 700})
		l.checkQuery("with a copy", "SELECT status, output_tokens FROM v_runs", "completed 700")
		l.checkQuery("steps", "SELECT status FROM v_steps WHERE counted", "completed")
		l.checkFresh("with a copy")
	}
}

// TestOldCopyOfAFailure: a run that failed and was resumed has no error any more, even if an older copy states one.
func TestOldCopyOfAFailure(t *testing.T) {
	t.Parallel()
	failed := strings.Replace(awfState("failed", "2026-11-01T10:03:00Z", 20), `"TokensUsed"`, `"Error":"out of quota","TokensUsed"`, 1)
	for _, copied := range []string{"backup/", "zip/"} {
		l := newLife(t, "awf")
		name := "states/" + runA + ".json"
		for _, c := range []struct{ status, updated, want string }{
			{"running", "2026-11-01T10:06:00Z", "running <nil>"},
			{"completed", "2026-11-01T10:09:00Z", "completed <nil>"},
			{"failed", "2026-11-01T10:12:00Z", "failed out of quota"}, // it tells no error of its own
		} {
			l.write("storage/"+name, awfState(c.status, c.updated, 700))
			l.write(copied+name, failed)
			l.ingestAndCheck(c.status, counts{runs: 1, out: 700})
			l.checkQuery(c.status, "SELECT status, error FROM v_runs", c.want)
			l.checkQuery(c.status, "SELECT status, error FROM v_steps WHERE counted", c.status+" <nil>")
			l.checkFresh(c.status)
		}
	}
}

// TestRunOfLaterLines has a file, named after its run, whose first line names no run. It still belongs to that run.
func TestRunOfLaterLines(t *testing.T) {
	t.Parallel()
	l := newLife(t, "awf")
	l.write(transcriptA, `{"seq":0,"type":"hello"}`+"\n")
	l.ingestShuffled()
	l.append(transcriptA, awfLines(runA, 1, 2))
	l.ingestAndCheck("named", counts{runs: 1, conversations: 1, events: 3})
	l.checkFresh("named")
}

// TestPartOfAMirror: a mirror that lacks events, the first or others, and one of two attempts that do not begin at seq 1 add
// nothing to what the transcripts have. Equal lines of one transcript are events of their own.
func TestPartOfAMirror(t *testing.T) {
	t.Parallel()
	const resumed, mirror = "storage/transcripts/" + runB + ".jsonl", "elsewhere/mirror.jsonl"
	first := awfLines(runA, 3, 6) + awfLines(runA, 6, 6)
	second := strings.ReplaceAll(awfLines(runA, 2, 4), "2026-11-01", "2026-11-02")
	for _, mirrored := range []string{awfLines(runA, 4, 6), awfLines(runA, 3, 3) + awfLines(runA, 5, 6), first + second, second} {
		l := newLife(t, "awf")
		l.write(mirror, mirrored)
		l.ingestShuffled()
		l.write(transcriptA, first)
		l.write(resumed, second)
		l.ingestShuffled()
		l.checkQuery("events", "SELECT count(*) FROM v_events WHERE counted", "8")
		l.checkFresh("mirrored first")
	}
}
