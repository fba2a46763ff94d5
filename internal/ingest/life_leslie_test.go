package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	workspace = "shop/.leslie/"
	threadA   = "thread-aaaaaaaa"
	threadB   = "thread-bbbbbbbb"
	threadC   = "thread-cccccccc"
	threadD   = "thread-dddddddd"
)

// leslieFile is where a thread's chat of a minute lies.
func leslieFile(thread string, minute int, words string) string {
	return fmt.Sprintf("%sthreads/%s/.meta/transcripts/20261101-10%02d-%s.txt", workspace, thread, minute, words)
}

// leslieChat is a transcript of four entries: question, call, result, answer.
func leslieChat(thread, chat string, minute int, word string) string {
	return fmt.Sprintf("Thread ID: %s\nChat ID: %s\nTime Range: 2026-11-01T10:%02d:00.000Z ~ 2026-11-01T10:%02d:30.000Z\nAgent Mode: agent\nStop Reason: end_turn\nTool Calls: 1\n---\n"+
		"user:\n<user_query>\nfix the cart %s\n</user_query>\n\n[Tool call] Bash\nls cart\n\n[Tool result] Bash\ncart.go\n\nassistant:\nfixed in minute %d\n", thread, chat, minute, minute, word, minute)
}

// leslieThread is what thread_relations.json says of one thread.
type leslieThread struct {
	id, parent, status string
	references         []string
}

// leslieRelations writes thread_relations.json as the program does: what was there becomes the .bak.
func (l *life) leslieRelations(threads ...leslieThread) {
	const name = workspace + "thread_relations.json"
	if _, ok := l.contents[name]; ok {
		l.write(name+".bak", l.read(name))
	}
	var records, relations []string
	for _, t := range threads {
		parent := "null"
		if t.parent != "" {
			parent = fmt.Sprintf("%q", t.parent)
		}
		records = append(records, fmt.Sprintf(`%q:{"id":%[1]q,"title":"about %[1]s","objective":"obj-00000001","created_at":"2026-11-01T09:00:00.000Z","status":%q,"parent_id":%s,"storage_path":"threads/%[1]s","executor":"worker","updated_at":"2026-11-01T09:00:00.000Z"}`, t.id, t.status, parent))
		var to []string
		for _, r := range t.references {
			to = append(to, fmt.Sprintf("%q", r))
		}
		relations = append(relations, fmt.Sprintf(`%q:{"children":[],"references_to":[%s],"referenced_by":[],"depends_on":[]}`, t.id, strings.Join(to, ",")))
	}
	l.replace(name, fmt.Sprintf(`{"version":"1.0","metadata":{"last_updated":"2026-11-01T09:00:00.000Z","thread_count":%d},"threads":{%s},"operations":[],"relations":{%s}}`,
		len(threads), strings.Join(records, ","), strings.Join(relations, ",")))
}

// TestLifeLeslieFifty writes one transcript more than Leslie keeps.
func TestLifeLeslieFifty(t *testing.T) {
	t.Parallel()
	l := newLife(t, "leslie")
	for minute := range 50 {
		l.write(leslieFile(threadA, minute, "fix-the-cart"), leslieChat(threadA, "chat-1", minute, fmt.Sprint("round", minute)))
	}
	// Fifty files are fifty runs with four entries each.
	fifty := counts{runs: 50, conversations: 50, events: 200, calls: 50, results: 50}
	l.ingestAndCheck("fifty", fifty)
	l.write(leslieFile(threadA, 50, "fix-the-cart"), leslieChat(threadA, "chat-1", 50, "round50"))
	l.remove(leslieFile(threadA, 0, "fix-the-cart"))
	l.ingestAndCheck("fifty-one", counts{runs: 51, conversations: 51, events: 204, calls: 51, results: 51})
	l.checkFreshCounts("fifty-one", fifty)
	l.checkSearch("round0", 1)
}

// TestLifeLeslieOverwrite begins two chats in one minute with the same words: the second replaces the file of the
// first, and both were runs.
func TestLifeLeslieOverwrite(t *testing.T) {
	t.Parallel()
	l := newLife(t, "leslie")
	file := leslieFile(threadA, 7, "fix-the-cart")
	first, second := leslieChat(threadA, "chat-1", 7, "first"), leslieChat(threadA, "chat-2", 7, "second")
	l.write(file, first)
	one := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1}
	l.ingestAndCheck("first", one)
	l.checkFresh("first")
	l.write(file, second)
	two := counts{runs: 2, conversations: 2, events: 8, calls: 2, results: 2}
	l.ingestAndCheck("second", two)
	l.checkFreshCounts("second", one)
	l.checkQuery("both count", "SELECT counted, version, events FROM v_conversations WHERE path LIKE '%.txt' ORDER BY version", "1 1 4", "1 2 4")
	// A plain write may be met half done; the whole file says more of the same run.
	l.write(leslieFile(threadA, 8, "torn"), leslieChat(threadA, "chat-3", 8, "third")[:190])
	l.ingestAndCheck("torn", counts{runs: 3, conversations: 3, events: 9, calls: 2, results: 2})
	l.write(leslieFile(threadA, 8, "torn"), leslieChat(threadA, "chat-3", 8, "third"))
	l.ingestAndCheck("whole", counts{runs: 3, conversations: 3, events: 12, calls: 3, results: 3})
	// A copy of the chat that was overwritten is that chat, whatever stands in its old file now.
	l.write(leslieFile(threadB, 7, "fix-the-cart"), first)
	l.ingestAndCheck("copied", counts{runs: 3, conversations: 3, events: 12, calls: 3, results: 3})
	l.checkFresh("copied")
	l.checkSearch("first", 1)
}

// TestLifeLeslieThreads spawns a thread that inherits, freezes references to threads that hold copies themselves, and
// then loses the original.
func TestLifeLeslieThreads(t *testing.T) {
	t.Parallel()
	l := newLife(t, "leslie")
	l.write(leslieFile(threadA, 1, "fix-the-cart"), leslieChat(threadA, "chat-1", 1, "unicorn"))
	l.write(workspace+"threads/"+threadA+"/plan.md", "# Plan\nrefactor the pegasus\n")
	l.leslieRelations(leslieThread{id: threadA, status: "active"})
	want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1}
	l.ingestAndCheck("one thread", want)
	l.checkFresh("one thread")

	// Spawned with inheritance: the child begins with its parent's transcripts, and says more of its own.
	l.copyDir(workspace+"threads/"+threadA+"/.meta/transcripts", workspace+"threads/"+threadB+"/.meta/transcripts")
	l.leslieRelations(leslieThread{id: threadA, status: "active"}, leslieThread{id: threadB, parent: threadA, status: "active"})
	want.links = 1
	l.ingestAndCheck("spawned", want)
	l.checkFresh("spawned")
	l.write(leslieFile(threadB, 2, "fix-more"), leslieChat(threadB, "chat-2", 2, "griffin"))
	want.runs, want.conversations, want.events, want.calls, want.results = 2, 2, 8, 2, 2
	l.ingestAndCheck("child chat", want)
	l.checkFresh("child chat")

	// Frozen: C takes all of B, with the copy of A in it; D takes all of C, with both in that. Four links now: parent
	// A-B, references B-C, C-D, and A-C, whose directory is copied, too.
	inherited := func(by, of string) string { return workspace + "threads/" + by + "/context/inherited/" + of }
	l.copyDir(workspace+"threads/"+threadB, inherited(threadC, threadB))
	l.copyDir(workspace+"threads/"+threadA, inherited(threadC, threadA))
	l.copyDir(workspace+"threads/"+threadC, inherited(threadD, threadC))
	frozen := []leslieThread{
		{id: threadA, status: "frozen"}, {id: threadB, parent: threadA, status: "active"},
		{id: threadC, status: "active", references: []string{threadB, threadA}}, {id: threadD, status: "active", references: []string{threadC}},
	}
	l.leslieRelations(frozen...)
	want.links = 4
	l.ingestAndCheck("frozen", want)
	l.checkFresh("frozen")
	// Six files hold A's chat, one row has its words; a copied plan is a document of the thread that holds it.
	l.checkQuery("copies", "SELECT copies FROM v_files WHERE path LIKE '%/threads/thread-aaaaaaaa/.meta/transcripts/%'", "6")
	l.checkSearch("unicorn", 1)
	l.checkSearch("griffin", 1)
	l.checkQuery("one counts", "SELECT path FROM v_conversations WHERE counted ORDER BY path",
		leslieFile(threadA, 1, "fix-the-cart"), leslieFile(threadB, 2, "fix-more"))

	// The original goes, copies survive; then the whole thread.
	l.remove(leslieFile(threadA, 1, "fix-the-cart"))
	l.ingestAndCheck("original deleted", want)
	l.checkFresh("original deleted")
	l.remove(workspace + "threads/" + threadA)
	l.remove(workspace + "threads/" + threadB)
	l.ingestAndCheck("threads deleted", want)
	l.checkFresh("threads deleted")

	// The list is rewritten: a status changes, and the .bak has the version before. No edge is new.
	frozen[0].status = "archived"
	l.leslieRelations(frozen...)
	l.ingestAndCheck("relations rewritten", want)
	l.checkFresh("relations rewritten")
	l.checkQuery("status", "SELECT status FROM v_runs WHERE native_id = 'thread:thread-aaaaaaaa'", "archived")
	// A reference is taken back: the .bak has it still. After the next operation no file has it; it was there.
	frozen[3].references = nil
	l.leslieRelations(frozen...)
	l.ingestAndCheck("reference removed", want)
	l.checkFresh("reference removed")
	l.leslieRelations(frozen...)
	l.ingestAndCheck("backup overwritten", want)
	late := want
	late.links = 3
	l.checkFreshCounts("backup overwritten", late)

	// The write was torn: a problem until the program copies the .bak back.
	whole := l.read(workspace + "thread_relations.json")
	l.write(workspace+"thread_relations.json", whole[:100])
	want.problems = 1
	l.ingestAndCheck("torn relations", want)
	l.write(workspace+"thread_relations.json", whole)
	want.problems = 0
	l.ingestAndCheck("copied back", want)
}

// TestLifeLeslieWorker lets the log of a thread's workers grow: every attempt costs once, failures too.
func TestLifeLeslieWorker(t *testing.T) {
	t.Parallel()
	l := newLife(t, "leslie")
	const log = workspace + "logs/workers/" + threadA + ".ndjson"
	line := func(minute int, event, more string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-01T10:%02d:00.000Z","event":%q,"thread_id":%q,"session_id":"s-%d"%s}`+"\n", minute, event, threadA, minute, more)
	}
	l.write(leslieFile(threadA, 1, "fix-the-cart"), leslieChat(threadA, "chat-1", 1, "unicorn"))
	l.write(log, line(1, "worker_started", ""))
	want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1}
	l.ingestAndCheck("started", want)
	l.append(log, line(1, "worker_failed", `,"cost_usd":0.0101,"duration_ms":900,"num_turns":2,"errors":["out of turns"]`))
	want.cost = 10100
	l.ingestAndCheck("failed", want)
	l.checkFresh("failed")
	again := line(2, "worker_started", "") + line(2, "worker_finished", `,"cost_usd":0.25,"duration_ms":1900,"num_turns":7,"success":true`)
	l.append(log, again[:len(again)-30])
	want.problems = 1
	l.ingestAndCheck("torn", want)
	l.append(log, again[len(again)-30:])
	want.cost, want.problems = 260100, 0
	l.ingestAndCheck("finished", want)
	l.checkFresh("finished")
	l.checkQuery("attempts", "SELECT attempt, outcome, error FROM v_steps WHERE counted ORDER BY attempt", "1 failed out of turns", "2 succeeded <nil>")
	// Two attempts of one instant, then the log is cut at its head: what is left was paid for once.
	twice := line(3, "worker_failed", `,"cost_usd":0.5`)
	l.append(log, twice+twice)
	want.cost = 1260100
	l.ingestAndCheck("twice", want)
	l.checkFresh("twice")
	l.write(log, again[strings.Index(again, "\n")+1:]+twice+twice)
	l.ingestAndCheck("cut", want)
}
