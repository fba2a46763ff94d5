package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	cortexConversations = ".snowflake/cortex/conversations/"
	cortexA             = cortexConversations + "c07e0000-0000-4000-8000-000000000001"
	cortexB             = cortexConversations + "global/c07e0000-0000-4000-8000-000000000002"
)

func cortexSays(n int, role, block string) string {
	return fmt.Sprintf(`{"role":%q,"content":[%s],"id":"msg_c07e1111-0000-4000-8000-%012d","user_sent_time":"2026-09-21T10:00:%02dZ"}`, role, block, n, n)
}

func cortexText(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

func cortexNotes(title, more string) string {
	return fmt.Sprintf(`{"session_id":"s","title":%q,"working_directory":"/home/ada/basket","git_branch":"rim","created_at":"2026-09-21T10:00:00Z"%s}`, title, more)
}

// TestLifeCortexCode has a session with its messages in what is noted about it, which moves them to a file of their own, grows and has its end taken back, a
// fork, and a session that is deleted.
func TestLifeCortexCode(t *testing.T) {
	t.Parallel()
	l := newLife(t, "cortex-code")
	lines := func(messages ...string) string { return strings.Join(messages, "\n") + "\n" }
	asked := cortexSays(1, "user", cortexText("count"))
	l.write(cortexA+".json", cortexNotes("Chat for session: s", `,"history":[`+asked+`]`))
	l.ingestAndCheck("inside", counts{runs: 1, conversations: 1, events: 1})

	called := cortexSays(2, "assistant", `{"type":"tool_use","tool_use":{"tool_use_id":"t","name":"bash","input":{"command":"wc"}}}`)
	l.write(cortexA+".history.jsonl", lines(asked, called)+`{"role":"us`)
	l.write(cortexA+".json", cortexNotes("Chat for session: s", ""))
	l.ingestAndCheck("apart", counts{runs: 1, conversations: 1, events: 2, calls: 1, problems: 1})
	ended := cortexSays(3, "user", `{"type":"tool_result","tool_result":{"tool_use_id":"t","name":"bash","content":[{"type":"text","text":"seventeen"}],"status":"success"}}`)
	said := cortexSays(4, "assistant", cortexText("17"))
	l.write(cortexA+".history.jsonl", lines(asked, called, ended, said))
	l.write(cortexA+".json", cortexNotes("Counting", ""))
	whole := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1}
	l.ingestAndCheck("whole", whole)
	l.checkSearch("seventeen", 1)
	l.checkQuery("whole", "SELECT title || ' ' || project || ' ' || branch FROM v_conversations WHERE verdict = 'counted'", "Counting /home/ada/basket rim")
	l.checkFresh("whole")

	l.write(cortexA+".history.jsonl", lines(asked, called, ended, cortexSays(5, "assistant", cortexText("sixteen"))))
	l.ingestAndCheck("taken back", whole)

	l.write(cortexB+".history.jsonl", lines(asked, called, ended, cortexSays(6, "user", cortexText("and the lids"))))
	l.write(cortexB+".json", cortexNotes("Lids", ""))
	both := counts{runs: 2, conversations: 2, events: 5, calls: 1, results: 1, links: 1} // the link follows from what is copied
	l.ingestAndCheck("forked", both)
	l.checkFresh("forked")
	l.remove(cortexA + ".json")
	l.remove(cortexA + ".history.jsonl")
	l.ingestAndCheck("deleted", both)
}
