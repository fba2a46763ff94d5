package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	junieSessions = ".junie/sessions/"
	junieSession  = junieSessions + "session-260816-090000-a1b2/"
	junieStart    = int64(1787000000000)
)

func junieLine(second int, kind, more string) string {
	return fmt.Sprintf(`{"kind":%q%s,"timestampMs":%d}`+"\n", kind, more, junieStart+1000*int64(second))
}

// junieAgent is what the agent tells its interface.
func junieAgent(second int, kind, more string) string {
	return junieLine(second, "SessionA2uxEvent", fmt.Sprintf(`,"event":{"state":"IN_PROGRESS","agentEvent":{"kind":%q,"agent":{"kind":"MainAgent","id":"main","name":"main"}%s}}`, kind, more))
}

// TestLifeJunie has a session that grows while a command runs, a torn line, a task at whose end all steps are written once more, an index that is
// written anew, a session that moves, and one that is deleted.
func TestLifeJunie(t *testing.T) {
	t.Parallel()
	l := newLife(t, "junie")
	const events, index = junieSession + "events.jsonl", junieSessions + "index.jsonl"
	asked := junieLine(0, "UserPromptEvent", `,"requestId":"prompt-1","prompt":"mend the basket"`)
	l.write(events, asked)
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})

	const step = `,"stepId":"s1","command":"ls withies"`
	runs := junieAgent(1, "TerminalBlockUpdatedEvent", step+`,"status":"IN_PROGRESS"`)
	used := junieAgent(2, "LlmResponseMetadataEvent", `,"modelUsage":[{"model":"claude-fable-5","cost":0.25,"inputTokens":3,"cacheInputTokens":70,"cacheCreateTokens":20,"outputTokens":10}]`)
	l.write(events, asked+runs+used+`{"kind":"Sess`)
	l.ingestAndCheck("torn", counts{runs: 1, conversations: 1, events: 2, calls: 1, problems: 1, in: 3, out: 10, cost: 250000})

	ended := junieAgent(3, "TerminalBlockUpdatedEvent", step+`,"status":"COMPLETED","output":"oak"`)
	said := junieAgent(4, "ResultBlockUpdatedEvent", `,"stepId":"r1","result":"mended"`)
	whole := asked + runs + used + ended + said
	l.write(events, whole)
	mended := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 3, out: 10, cost: 250000}
	l.ingestAndCheck("mended", mended)
	again := func(s string) string {
		return strings.ReplaceAll(s, "IN_PROGRESS\",\"agentEvent", "COMPLETED\",\"agentEvent")
	}
	whole += again(ended) + again(said) + junieLine(5, "TaskState", `,"state":"COMPLETED"`)
	l.write(events, whole)
	l.ingestAndCheck("stated again", mended)
	l.checkSearch("oak", 1)
	l.checkFresh("stated again")

	entry := `{"sessionId":"session-260816-090000-a1b2","createdAt":1787000000000,"updatedAt":%d,"projectDir":"/home/ada/shop","taskName":"Mending"}` + "\n"
	l.write(index, fmt.Sprintf(entry, junieStart+1))
	l.ingestAndCheck("index", mended)
	l.checkQuery("index", "SELECT title || ' ' || project || ' ' || model FROM v_conversations WHERE verdict = 'counted'", "mend the basket /home/ada/shop claude-fable-5")
	l.write(index, fmt.Sprintf(entry, junieStart+5000)+strings.ReplaceAll(fmt.Sprintf(entry, junieStart), "a1b2", "c3d4"))
	l.ingestAndCheck("another", mended)

	l.write("old/session-260816-090000-a1b2/events.jsonl", whole)
	l.ingestAndCheck("copied", mended)
	l.remove(events)
	l.remove(index)
	l.ingestAndCheck("deleted", mended)
}
