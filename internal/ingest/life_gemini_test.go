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
