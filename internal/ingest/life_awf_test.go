package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// awfState is the state of run A after its steps; the step's own time stays when it is told again.
func awfState(status, updated string, out int) string {
	return fmt.Sprintf(`{"WorkflowID":%q,"WorkflowName":"flow","ParentRunID":"","Status":%q,"States":{"check":{"Name":"check","Status":%q,
"StartedAt":"2026-11-01T10:00:00Z","TokensUsed":%d,"TokensInput":0,"TokensOutput":%d}},"StartedAt":"2026-11-01T10:00:00Z","UpdatedAt":%q}`,
		runA, status, status, out, out, updated)
}

// TestOldCopyOfAState: a copy of the storage that was made while a run went on says nothing against what AWF wrote later,
// whichever of the two comes first by name or in time.
func TestOldCopyOfAState(t *testing.T) {
	t.Parallel()
	for _, copied := range []string{"backup/", "zip/"} {
		l := newLife(t, "awf")
		name := "states/" + runA + ".json"
		l.write("storage/"+name, awfState("completed", "2026-11-01T10:09:00Z", 700))
		l.write(copied+name, awfState("running", "2026-11-01T10:03:00Z", 20))
		l.meet("with a copy", counts{runs: 1, out: 700})
		l.answers("with a copy", "SELECT status, output_tokens FROM v_runs", "completed 700")
		l.answers("steps", "SELECT status FROM v_steps WHERE counted", "completed")
		l.once("with a copy")
	}
}

// TestOldCopyOfAFailure: a run that failed and was resumed has no error any more, whatever a copy from before tells.
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
			l.meet(c.status, counts{runs: 1, out: 700})
			l.answers(c.status, "SELECT status, error FROM v_runs", c.want)
			l.answers(c.status, "SELECT status, error FROM v_steps WHERE counted", c.status+" <nil>")
			l.once(c.status)
		}
	}
}

// TestRunOfLaterLines: a file named by its run begins with a line that names none. It is that run all the same.
func TestRunOfLaterLines(t *testing.T) {
	t.Parallel()
	l := newLife(t, "awf")
	l.write(transcriptA, `{"seq":0,"type":"hello"}`+"\n")
	l.take()
	l.append(transcriptA, awfLines(runA, 1, 2))
	l.meet("named", counts{runs: 1, conversations: 1, events: 3})
	l.once("named")
}
