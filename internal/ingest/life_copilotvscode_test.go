package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const (
	vscodeID   = "5e000000-0000-4000-8000-0000000000aa"
	vscodeDir  = "Code/User/workspaceStorage/0123456789abcdef0123456789abcdef/chatSessions/"
	vscodeFlat = vscodeDir + vscodeID + ".json"
	vscodeLog  = vscodeFlat + "l"
)

// vscodeTurn is a request with its answer: words, and what it took.
func vscodeTurn(n, in, out int, words ...string) string {
	var parts []string
	for _, w := range words {
		parts = append(parts, fmt.Sprintf(`{"value":%q}`, w))
	}
	return fmt.Sprintf(`{"requestId":"request_%d","timestamp":179361360%d000,"modelId":"copilot/gpt-5-mini","promptTokens":%d,"completionTokens":%d,"response":[%s],"message":{"text":"mend basket %d"}}`,
		n, n, in, out, strings.Join(parts, ","), n)
}

func vscodeSession(turns ...string) string {
	return fmt.Sprintf(`{"version":3,"responderUsername":"GitHub Copilot","creationDate":1793613600000,"sessionId":%q,"requests":[%s]}`, vscodeID, strings.Join(turns, ","))
}

// TestLifeCopilotVSCode has a session that an old version writes as a document, in which a prompt is taken back. A newer one goes on with
// a log of changes and leaves the document: an answer grows, a prompt is taken back and asked anew, the log is written anew in one line.
// Then the window gets a directory, to which the session is copied, and it is deleted.
func TestLifeCopilotVSCode(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-vscode")
	one, two := vscodeTurn(1, 10, 3, "mended"), vscodeTurn(2, 20, 4, "and painted")
	l.write(vscodeFlat, vscodeSession())
	l.ingestAndCheck("opened", counts{})
	l.write(vscodeFlat, vscodeSession(one))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	l.write(vscodeFlat, vscodeSession(one, two))
	l.ingestAndCheck("asked again", counts{runs: 1, conversations: 1, events: 4, in: 30, out: 7})
	l.write(vscodeFlat, vscodeSession(one))
	l.ingestAndCheck("taken back: it was paid for", counts{runs: 1, conversations: 1, events: 2, in: 30, out: 7})
	l.checkSearch("painted", 1)

	l.write(vscodeLog, `{"kind":0,"v":`+vscodeSession(one)+"}\n")
	l.ingestAndCheck("migrated", counts{runs: 1, conversations: 1, events: 2, in: 30, out: 7})
	three := strings.Replace(vscodeTurn(3, 0, 0, "wick"), `"promptTokens":0,"completionTokens":0,`, "", 1)
	l.append(vscodeLog, `{"kind":2,"k":["requests"],"v":[`+three+"]}\n")
	l.ingestAndCheck("half an answer", counts{runs: 1, conversations: 1, events: 4, in: 30, out: 7})
	l.append(vscodeLog, `{"kind":1,"k":["requests",1,"completionTokens"],"v":5}`+"\n")
	l.ingestAndCheck("the output of one request", counts{runs: 1, conversations: 1, events: 4, in: 30, out: 12})
	l.append(vscodeLog, `{"kind":1,"k":["requests",1,"promptTokens"],"v":40}`+"\n"+`{"kind":1,"k":["requests",1,"completionTokens"],"v":9}`+"\n"+
		`{"kind":2,"k":["requests",1,"response"],"i":0,"v":[{"value":"wicker"},{"kind":"toolInvocationSerialized","toolId":"run_in_terminal","toolCallId":"c1","isComplete":true,"invocationMessage":"ls"}]}`+"\n")
	l.ingestAndCheck("the whole answer", counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 70, out: 16})
	l.append(vscodeLog, `{"kind":2,"k":["requests"],"i":1}`+"\n")
	l.ingestAndCheck("undone", counts{runs: 1, conversations: 1, events: 2, in: 70, out: 16})
	four := vscodeTurn(4, 5, 6, "straw")
	l.append(vscodeLog, `{"kind":2,"k":["requests"],"v":[`+four+`]}`+"\n"+`{"kind":1,"k":["customTit`)
	l.ingestAndCheck("asked anew", counts{runs: 1, conversations: 1, events: 4, in: 75, out: 22, problems: 1})
	l.append(vscodeLog, `le"],"v":"Baskets"}`+"\n")
	all := counts{runs: 1, conversations: 1, events: 4, in: 75, out: 22}
	l.ingestAndCheck("the line is whole", all)
	l.checkQuery("called", "SELECT title FROM v_runs", "Baskets")
	l.checkFreshCounts("not compacted yet", counts{runs: 1, conversations: 1, events: 4, in: 55, out: 18})
	l.write(vscodeLog, `{"kind":0,"v":`+strings.Replace(vscodeSession(one, four), `"version"`, `"customTitle":"Baskets","version"`, 1)+"}\n")
	l.ingestAndCheck("compacted", all)
	l.write("Code/User/workspaceStorage/fedcba9876543210fedcba9876543210/chatSessions/"+vscodeID+".jsonl", l.read(vscodeLog))
	l.ingestAndCheck("copied to another directory", all)
	l.remove(vscodeFlat)
	l.remove(vscodeLog)
	l.ingestAndCheck("deleted", all)
	l.checkSearch("wicker", 1)
	l.checkCopy("laptop", all)
}

// TestLifeCopilotVSCodeExports has a chat that was exported twice, as it grew. The session comes later, from a machine that had it before the last
// turn, and then grows to where the export ends. Each turn counts once all the time, where the session has it there.
func TestLifeCopilotVSCodeExports(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-vscode")
	var turns []string
	for n := range 4 {
		turn := vscodeTurn(n+1, 10*(n+1), n+1, fmt.Sprintf("mended lid%d", n+1))
		turns = append(turns, strings.Replace(turn, fmt.Sprintf(`"request_%d"`, n+1), fmt.Sprintf(`"request_7c000000-0000-4000-8000-00000000000%d"`, n+1), 1))
	}
	export := func(turns ...string) string {
		return `{"responderUsername":"GitHub Copilot","initialLocation":"panel","requests":[` + strings.Join(turns, ",") + `]}`
	}
	l.write("Downloads/chat.json", export(turns[:2]...))
	l.ingestAndCheck("exported", counts{runs: 1, conversations: 1, events: 4, in: 30, out: 3})
	l.write("Downloads/chat (1).json", export(turns[:3]...))
	three := counts{runs: 1, conversations: 1, events: 6, in: 60, out: 6}
	l.ingestAndCheck("exported again", three)
	l.checkFresh("exported again")
	l.write(vscodeLog, `{"kind":0,"v":`+vscodeSession(turns[:2]...)+"}\n")
	l.ingestAndCheck("the session, without the last turn", counts{runs: 2, conversations: 2, events: 6, in: 60, out: 6})
	l.checkFresh("the session, without the last turn")
	l.append(vscodeLog, `{"kind":2,"k":["requests"],"v":[`+turns[2]+"]}\n")
	all := counts{runs: 2, conversations: 1, events: 6, in: 60, out: 6}
	l.ingestAndCheck("the session, with the last turn", all)
	l.checkFresh("the session, with the last turn")
	l.checkSearch("lid3", 2) // in the export as well, where it does not count
	l.append(vscodeLog, `{"kind":2,"k":["requests"],"v":[`+turns[3]+"]}\n")
	all = counts{runs: 2, conversations: 1, events: 8, in: 100, out: 10}
	l.ingestAndCheck("and another one", all)
	l.write("Downloads/chat, all of it.txt", export(turns...))
	l.ingestAndCheck("and exported again", all)
	l.write("Code/User/workspaceStorage/0123456789abcdef0123456789abcdef/GitHub.copilot-chat/debug-logs/"+vscodeID+"/main.jsonl",
		`{"ts":1793613605000,"dur":9,"sid":"s","type":"llm_request","name":"chat","spanId":"1","status":"ok","attrs":{"model":"gpt-5-mini","inputTokens":42,"cachedTokens":40,"outputTokens":5}}`+"\n")
	all = counts{runs: 2, conversations: 1, events: 8, in: 62, out: 11}
	l.ingestAndCheck("logged", all)
	l.checkFresh("logged")
	l.remove("Downloads/chat.json")
	l.remove(vscodeLog)
	l.ingestAndCheck("deleted", all)
	l.checkCopy("laptop", all)
}

// TestLifeCopilotVSCodeDebug has a session whose requests the extension logs, too: first some, then all of a turn, and those of a subagent.
// Then the log is cut at its start, as the extension does with large ones, and deleted. What was spent stays spent.
func TestLifeCopilotVSCodeDebug(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-vscode")
	const dir = "Code/User/workspaceStorage/0123456789abcdef0123456789abcdef/GitHub.copilot-chat/debug-logs/" + vscodeID + "/"
	span := func(second, in, cached, out int) string {
		return fmt.Sprintf(`{"ts":17936136%02d000,"dur":9,"sid":"s","type":"llm_request","name":"chat","spanId":"%x","status":"ok","attrs":{"model":"gpt-5-mini","inputTokens":%d,"cachedTokens":%d,"outputTokens":%d}}`,
			second, second, in, cached, out) + "\n"
	}
	l.write(vscodeLog, `{"kind":0,"v":`+vscodeSession(vscodeTurn(1, 1200, 30, "mended"))+"}\n")
	l.ingestAndCheck("a turn", counts{runs: 1, conversations: 1, events: 2, in: 1200, out: 30})
	first, second := span(2, 1000, 900, 10), span(3, 1200, 1100, 20)
	l.write(dir+"main.jsonl", first)
	l.ingestAndCheck("one of its requests", counts{runs: 1, conversations: 1, events: 2, in: 1200, out: 30})
	l.append(dir+"main.jsonl", second)
	l.ingestAndCheck("all of its requests", counts{runs: 1, conversations: 1, events: 2, in: 200, out: 30})
	l.write(dir+"runSubagent-Scout-c1.jsonl", span(4, 7, 0, 5))
	all := counts{runs: 1, conversations: 1, events: 2, in: 207, out: 35}
	l.ingestAndCheck("a subagent", all)
	l.checkFresh("a subagent")
	l.write(dir+"main.jsonl", second)
	l.ingestAndCheck("cut", all)
	l.remove(dir + "main.jsonl")
	l.remove(dir + "runSubagent-Scout-c1.jsonl")
	l.ingestAndCheck("deleted", all)
	l.checkCopy("laptop", all)
}

// TestLifeCopilotVSCodeProject has sessions of a directory that only the editor's note beside them names: before them or after them, and then
// another. Nothing of it is Cursor's, which has such notes, too.
func TestLifeCopilotVSCodeProject(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-vscode")
	note := strings.TrimSuffix(vscodeDir, "chatSessions/") + "workspace.json"
	other := vscodeDir + "5e000000-0000-4000-8000-0000000000bb.json"
	l.write(note, `{"folder":"file:///home/ada/shop%20two"}`)
	l.ingestAndCheck("opened", counts{})
	l.write(vscodeLog, `{"kind":0,"v":`+vscodeSession(vscodeTurn(1, 10, 3, "mended"))+"}\n")
	want := counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3}
	const projects = "SELECT project FROM v_runs WHERE counted ORDER BY native_id"
	l.ingestAndCheck("asked", want)
	l.checkQuery("asked", projects, "/home/ada/shop two")
	l.write(note, `{"workspace":"file:///home/ada/shop.code-workspace"}`)
	l.ingestAndCheck("moved", want)
	l.checkQuery("moved", projects, "/home/ada/shop.code-workspace")
	l.write(other, strings.ReplaceAll(strings.Replace(vscodeSession(vscodeTurn(2, 20, 4, "painted")), `"version"`, `"workingDirectory":"file:///srv","version"`, 1), vscodeID, "5e000000-0000-4000-8000-0000000000bb"))
	l.ingestAndCheck("states its own", counts{runs: 2, conversations: 2, events: 4, in: 30, out: 7})
	l.checkQuery("states its own", projects, "/home/ada/shop.code-workspace", "/srv")
	l.write(note, `{"folder":"vscode-remote://ssh-remote%2Bhost/home/ada"}`)
	l.ingestAndCheck("far away", counts{runs: 2, conversations: 2, events: 4, in: 30, out: 7})
	l.checkQuery("far away", projects, "<nil>", "/srv")
	l.write(note, `{"folder":"file:///home/ada"}`)
	l.ingestAndCheck("back", counts{runs: 2, conversations: 2, events: 4, in: 30, out: 7})
	l.checkFresh("back")

	for _, dir := range []string{"Code/User", "Code/User/workspaceStorage", filepath.Dir(note)} {
		w := newWorld(t)
		w.ingest("editor", filepath.Join(l.dir, dir), ".")
		if got := fmt.Sprint(w.query(projects), w.query("SELECT DISTINCT format FROM v_files")); got != "[/home/ada /srv] [copilot-vscode]" {
			t.Errorf("%s: %s", dir, got)
		}
	}
}
