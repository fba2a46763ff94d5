package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const surfDir = ".windsurf/transcripts/"

func surfID(n int) string { return fmt.Sprintf("5a000000-0000-4000-8000-%012d", n) }

func surfAsks(text string) string {
	return fmt.Sprintf(`{"status":"done","type":"user_input","user_input":{"user_response":%q}}`, text) + "\n"
}

func surfSays(text string) string {
	return fmt.Sprintf(`{"planner_response":{"response":%q},"status":"done","type":"planner_response"}`, text) + "\n"
}

func surfRuns(command, more, status string) string {
	return fmt.Sprintf(`{"run_command":{"command":%q,"cwd":"/home/ada/shop"%s,"user_rejected":false},"status":%q,"type":"run_command"}`, command, more, status) + "\n"
}

// TestLifeWindsurf has a conversation whose transcript is written anew with each response: as it was with more at its end; with a command that has ended
// since; and without what the user took back. Then others push it out of the hundred that the program keeps.
func TestLifeWindsurf(t *testing.T) {
	t.Parallel()
	l := newLife(t, "windsurf")
	file := surfDir + surfID(1) + ".jsonl"
	l.write(file, "")
	l.ingestAndCheck("started", counts{})

	said := surfAsks("mend the basket") + surfSays("mended with willow")
	l.write(file, said)
	l.ingestAndCheck("mended", counts{runs: 1, conversations: 1, events: 2})
	l.checkQuery("mended", "SELECT coalesce(title, '') || '|' || coalesce(project, '') FROM v_runs", "mend the basket|")

	running := said + surfAsks("test it") + surfRuns("make test", "", "running")
	l.write(file, running[:len(running)-20])
	half := counts{runs: 1, conversations: 1, events: 3, problems: 1}
	l.ingestAndCheck("half of a line", half)
	l.write(file, running)
	l.ingestAndCheck("runs", counts{runs: 1, conversations: 1, events: 4, calls: 1})

	ended := said + surfAsks("test it") + surfRuns("make test", `,"exit_code":2,"output":"no rule"`, "done") + surfSays("there is no rule to test it")
	tested := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1}
	l.write(file, ended)
	l.ingestAndCheck("ended", tested)
	l.checkQuery("ended", "SELECT tool || ' ' || status || ' ' || failed FROM v_tool_calls WHERE counted", "run_command done 1")
	l.checkQuery("ended", "SELECT title || '|' || project FROM v_runs", "mend the basket|/home/ada/shop")
	l.checkFresh("ended")

	// The user takes back the second prompt, and asks for something else. What was said before is an earlier version.
	dyed := said + surfAsks("dye it") + surfSays("it is red")
	back := counts{runs: 1, conversations: 1, events: 4}
	l.write(file, dyed)
	l.ingestAndCheck("went back", back)
	l.checkSearch("red", 1)
	l.checkSearch("no rule", 2)
	l.checkQuery("went back", "SELECT DISTINCT verdict FROM v_events WHERE counted = 0", "earlier version")
	l.checkFresh("went back")

	// A copy counts once, whatever the directory is called, and also if it is older.
	l.write("backup/2026/"+surfID(1)+".jsonl", said)
	l.ingestAndCheck("copied", back)

	// The program keeps a hundred transcripts.
	many := back
	for n := range 3 {
		l.write(surfDir+surfID(n+2)+".jsonl", strings.ReplaceAll(said, "basket", fmt.Sprint("basket ", n)))
		many.runs, many.conversations, many.events = many.runs+1, many.conversations+1, many.events+2
	}
	l.remove(file)
	l.ingestAndCheck("pushed out", many)
	l.checkSearch("red", 1)
	l.checkCopy("laptop", many)
}
