package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const clineTask = "globalStorage/saoudrizwan.claude-dev/tasks/1780000000000/"

func clineSay(ts int64, say, text string) string {
	return fmt.Sprintf(`{"ts":%d,"type":"say","say":%q,"text":%q}`, 1780000000000+ts, say, text)
}

func clineRequest(ts int64, in, out int, name string) string {
	return clineSay(ts, name, fmt.Sprintf(`{"tokensIn":%d,"tokensOut":%d,"cacheWrites":0,"cacheReads":0,"cost":0.01}`, in, out))
}

func clineFile(messages ...string) string { return "[" + strings.Join(messages, ",\n") + "]" }

// TestLifeCline rewinds a task: what was asked then is no part of the conversation any more, and was paid once.
func TestLifeCline(t *testing.T) {
	t.Parallel()
	l := newLife(t, "cline")
	task := clineSay(0, "task", "mend the basket")
	l.write(clineTask+"ui_messages.json", clineFile(task, clineSay(10, "api_req_started", `{"request":"..."}`)))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})

	first, second := clineRequest(10, 100, 20, "api_req_started"), clineRequest(30, 50, 5, "api_req_started")
	l.write(clineTask+"ui_messages.json", clineFile(task, first, clineSay(20, "text", "wickerwork"), second, clineSay(40, "text", "ropework")))
	l.write(clineTask+"api_conversation_history.json", `[{"role":"user","content":"the whole prompt"}]`)
	l.write(clineTask+"task_metadata.json", `{"files_in_context":[],"model_usage":[{"ts":1780000000005,"model_id":"claude-sonnet-4-5-20250929","model_provider_id":"anthropic"}]}`)
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 3, in: 150, out: 25, cost: 20000})
	l.checkQuery("named", `SELECT count(*) FROM v_usage WHERE verdict = 'counted' AND model = 'claude-sonnet-4-5-20250929'`, "2")
	l.checkSearch("whole prompt", 1)

	// The second request goes, and a sum takes its place.
	l.write(clineTask+"ui_messages.json", clineFile(task, first, clineSay(20, "text", "wickerwork"), clineRequest(60, 50, 5, "deleted_api_reqs")))
	l.ingestAndCheck("rewound", counts{runs: 1, conversations: 1, events: 2, in: 150, out: 25, cost: 20000})
	l.checkFresh("rewound")
	l.checkCopy("laptop", counts{runs: 1, conversations: 1, events: 2, in: 150, out: 25, cost: 20000})
}

// TestLifeClineTitle has the manifest of a session name it, before and after its messages are there, and name it anew.
func TestLifeClineTitle(t *testing.T) {
	t.Parallel()
	const dir = ".cline/data/sessions/s-1/s-1"
	l := newLife(t, "cline")
	title := func(why, want string) {
		t.Helper()
		l.checkQuery(why, "SELECT r.title || ', ' || c.title FROM v_runs r JOIN v_conversations c USING (run_id) WHERE c.counted = 1", want)
	}
	manifest := func(title string) string {
		return fmt.Sprintf(`{"version":1,"session_id":"s-1","source":"cli","started_at":"2026-06-01T08:00:00Z","metadata":{"title":%q}}`, title)
	}
	l.write(dir+".messages.json", `{"version":1,"sessionId":"s-1","messages":[{"id":"m1","role":"user","content":"mend the shelf","ts":1780000200000}]}`)
	l.ingestAndCheck("messages", counts{runs: 1, conversations: 1, events: 1})
	title("the prompt", "mend the shelf, mend the shelf")
	l.write(dir+".json", manifest("Shelf"))
	l.ingestAndCheck("manifest", counts{runs: 1, conversations: 1, events: 1})
	title("the manifest", "Shelf, Shelf")
	l.write(dir+".json", manifest("A shelf"))
	l.ingestAndCheck("renamed", counts{runs: 1, conversations: 1, events: 1})
	title("the new name", "A shelf, A shelf")
	l.checkFresh("renamed")
}

// TestLifeClineForkRewritten has a fork whose file is written anew with longer copied messages: each state of the file has them up to another
// place.
func TestLifeClineForkRewritten(t *testing.T) {
	t.Parallel()
	const dir = ".cline/data/sessions/s-2/s-2"
	l := newLife(t, "cline")
	messages := func(copied string) string {
		return fmt.Sprintf(`{"version":1,"sessionId":"s-2","messages":[{"id":"m1","role":"user","content":%q,"ts":1780000000000},`+
			`{"id":"m2","role":"assistant","content":"mended","ts":1780000001000},{"id":"m3","role":"user","content":"now the door","ts":1780000300000},`+
			`{"id":"m4","role":"assistant","content":"hung","ts":1780000301000}]}`, copied)
	}
	l.write(dir+".json", `{"version":1,"session_id":"s-2","source":"cli","started_at":"2026-05-28T20:26:40Z",`+
		`"metadata":{"fork":{"forkedFromSessionId":"s-1","forkedAt":"2026-05-28T20:30:00Z"}}}`)
	own := counts{runs: 1, conversations: 1, events: 2, links: 1}
	for _, copied := range []string{"mend the shelf", strings.Repeat("mend the shelf ", 100), "mend it"} {
		l.write(dir+".messages.json", messages(copied))
		l.ingestAndCheck(fmt.Sprintf("%d bytes", len(copied)), own)
	}
	l.checkFresh("as it is now")
}

// TestLifeCopilot has a session that is written line by line, and resumed.
func TestLifeCopilot(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-cli")
	const path = ".copilot/session-state/0b1c2d3e-0000-4000-8000-00000000000a/events.jsonl"
	start := `{"type":"session.start","data":{"sessionId":"0b1c2d3e-0000-4000-8000-00000000000a","copilotVersion":"1.0.30"},"id":"a1","timestamp":"2026-05-04T08:00:00Z","parentId":null}` + "\n"
	shutdown := func(id string, in, out int) string {
		return fmt.Sprintf(`{"type":"session.shutdown","data":{"modelMetrics":{"gpt-5":{"requests":{"count":1},"usage":{"inputTokens":%d,"outputTokens":%d,"cacheReadTokens":0,"cacheWriteTokens":0}}}},"id":%q,"timestamp":"2026-05-04T09:00:00Z","parentId":"a1"}`, in, out, id) + "\n"
	}
	user := `{"type":"user.message","data":{"content":"mend the basket"},"id":"a2","timestamp":"2026-05-04T08:00:01Z","parentId":"a1"}` + "\n"
	answer := `{"type":"assistant.message","data":{"messageId":"m1","content":"mended","outputTokens":7},"id":"a3","timestamp":"2026-05-04T08:00:02Z","parentId":"a2"}` + "\n"
	l.write(path, start+user+answer)
	l.ingestAndCheck("running", counts{runs: 1, conversations: 1, events: 2})
	l.append(path, shutdown("a4", 100, 7))
	l.ingestAndCheck("shut down", counts{runs: 1, conversations: 1, events: 2, in: 100, out: 7})
	l.write(".copilot/session-state/0b1c2d3e-0000-4000-8000-00000000000a.jsonl", start+user)
	l.append(path, strings.ReplaceAll(user, `"a2"`, `"a5"`)+shutdown("a6", 10, 1))
	l.ingestAndCheck("resumed, and an old file beside", counts{runs: 1, conversations: 1, events: 3, in: 110, out: 8})
	l.checkFresh("as it is now")
	l.checkCopy("laptop", counts{runs: 1, conversations: 1, events: 3, in: 110, out: 8})
}
