package ingest_test

import (
	"fmt"
	"testing"
)

const (
	geminiSession = "0f000000-0000-4000-8000-00000000000c"
	geminiFile    = ".gemini/tmp/shop/chats/session-2026-11-03T10-00-0f000000.json"
)

func geminiMessage(id, rest string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-03T10:00:00.000Z",%s}`, id, rest)
}

func geminiTokens(in, out int) string {
	return fmt.Sprintf(`"tokens":{"input":%d,"output":%d,"cached":0,"thoughts":0,"tool":0,"total":%d}`, in, out, in+out)
}

// TestLifeGemini has a session of an old version that a newer one continues: the document stays besides the log that
// replaces it, and a message is written again each time it changes.
func TestLifeGemini(t *testing.T) {
	t.Parallel()
	l := newLife(t, "gemini-cli")
	document := func(messages string) string {
		return fmt.Sprintf(`{"sessionId":%q,"projectHash":"h","startTime":"2026-11-03T10:00:00.000Z","messages":[%s]}`, geminiSession, messages)
	}
	user := geminiMessage("m1", `"type":"user","content":"mend the basket"`)
	answer := geminiMessage("m2", `"type":"gemini","model":"gemini-3-pro","content":"mended",`+geminiTokens(10, 3))
	l.write(geminiFile, document(user))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.write(geminiFile, document(user+","+answer))
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	log := geminiFile + "l"
	head := fmt.Sprintf(`{"sessionId":%q,"projectHash":"h","startTime":"2026-11-03T10:00:00.000Z","kind":"main"}`+"\n", geminiSession)
	l.write(log, head+user+"\n"+answer+"\n")
	l.ingestAndCheck("migrated", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	l.append(log, geminiMessage("m3", `"type":"gemini","model":"gemini-3-pro","content":"half a bas","thoughts":[{"subject":"wicker"}]`)+"\n")
	l.ingestAndCheck("half of it", counts{runs: 1, conversations: 1, events: 4, in: 10, out: 3})
	l.append(log, geminiMessage("m3", `"type":"gemini","model":"gemini-3-pro","content":"a basket",`+geminiTokens(20, 4))+"\n")
	l.ingestAndCheck("all of it, without the thought", counts{runs: 1, conversations: 1, events: 3, in: 30, out: 7})
	l.append(log, `{"$rewindTo":"m3"}`+"\n")
	all := counts{runs: 1, conversations: 1, events: 3, in: 30, out: 7}
	l.ingestAndCheck("rewound", all)
	l.checkFresh("rewound")
	l.checkCopy("laptop", all)
}

// geminiPrinted is a line of what the program prints.
func geminiPrinted(second int, rest string) string {
	return fmt.Sprintf(`{"type":"%s,"timestamp":"2026-11-03T10:00:%02d.000Z"}`+"\n", rest, second)
}

// TestLifeGeminiStream has saved output of two runs of a session, a copy of it after another line, and then the session itself; and the session
// before the output.
func TestLifeGeminiStream(t *testing.T) {
	t.Parallel()
	begin := func(second int) string {
		return geminiPrinted(second, fmt.Sprintf(`init","session_id":%q,"model":"auto-gemini-3"`, geminiSession)) +
			geminiPrinted(second, `message","role":"user","content":"mend the basket"`)
	}
	piece := func(second int, text string) string {
		return geminiPrinted(second, fmt.Sprintf(`message","role":"assistant","content":%q,"delta":true`, text))
	}
	call := geminiPrinted(4, `tool_use","tool_name":"read_file","tool_id":"r1","parameters":{"file_path":"basket.go"}`) +
		geminiPrinted(5, `tool_result","tool_id":"r1","status":"success","output":"package basket"`)
	end := func(second int) string {
		return geminiPrinted(second, `result","status":"success","stats":{"total_tokens":17,"input_tokens":10,"output_tokens":3,"cached":0,"models":{"gemini-3-pro":{"total_tokens":17,"input_tokens":10,"output_tokens":3,"cached":0}}}`)
	}

	l := newLife(t, "gemini-cli")
	const first, copied = "ci/1.log", "ci/again/1.log"
	l.write(first, begin(0)+piece(1, "a basket of wic"))
	l.ingestAndCheck("half of an answer", counts{runs: 1, conversations: 1, events: 2})
	l.append(first, piece(2, "ker and"))
	l.ingestAndCheck("more of it", counts{runs: 1, conversations: 1, events: 2})
	l.checkSearch("wicker", 1)
	l.append(first, piece(3, " brass")+call+piece(6, "mended")+end(7))
	alone := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1, in: 10, out: 7}
	l.ingestAndCheck("all of it", alone)
	l.checkSearch("\"wicker and brass\"", 1)
	l.write(copied, "Loaded cached credentials.\n"+l.read(first))
	alone.problems = 1
	l.ingestAndCheck("copied", alone)
	l.write("ci/2", begin(20)+piece(21, "a lid")+end(22))
	resumed := counts{runs: 1, conversations: 1, events: 7, calls: 1, results: 1, in: 20, out: 14, problems: 1}
	l.ingestAndCheck("resumed", resumed)
	session := fmt.Sprintf(`{"sessionId":%q,"projectHash":"h","startTime":"2026-11-03T10:00:00.000Z","kind":"main"}`+"\n", geminiSession) +
		geminiMessage("m1", `"type":"user","content":"mend the basket"`) + "\n" +
		geminiMessage("m2", `"type":"gemini","model":"gemini-3-pro","content":"a basket of wicker and brass",`+geminiTokens(10, 7)) + "\n"
	l.write(geminiFile+"l", session)
	both := counts{runs: 1, conversations: 1, events: 2, in: 10, out: 7, problems: 1}
	l.ingestAndCheck("with its session", both)
	l.checkQuery("with its session", "SELECT DISTINCT path FROM v_events WHERE counted", geminiFile+"l")
	l.checkFresh("with its session")

	l = newLife(t, "gemini-cli")
	l.write(geminiFile+"l", session)
	l.ingestAndCheck("a session", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 7})
	l.write(first, begin(0)+piece(1, "a basket of wicker and brass")+end(3))
	l.ingestAndCheck("with its output", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 7})
}

// TestEmptyAtFirst: a file that was just created is no session yet, since it has no id.
func TestEmptyAtFirst(t *testing.T) {
	t.Parallel()
	l := newLife(t, "gemini-cli")
	l.write(geminiFile+"l", "")
	l.ingestAndCheck("made", counts{})
	said := fmt.Sprintf(`{"sessionId":%q,"projectHash":"h","startTime":"2026-11-03T10:00:00.000Z","kind":"main"}`+"\n", geminiSession) +
		geminiMessage("m1", `"type":"user","content":"mend the basket"`) + "\n"
	l.write(geminiFile+"l", said)
	l.ingestAndCheck("begun", counts{runs: 1, conversations: 1, events: 1})
	l.checkQuery("begun", "SELECT native_id FROM v_runs", geminiSession)
	l.checkFresh("begun")
}
