package ingest_test

import (
	"fmt"
	"testing"
	"time"
)

const autohandStart = int64(1781517600000) // 2026-06-15 10:00:00

// autohandID is the id of a session that was created at second n.
func autohandID(n int) string {
	return fmt.Sprintf("a0000000-0000-4000-8000-%012d-%d", n, autohandStart+1000*int64(n))
}

func autohandLine(role, text string, at int, more string) string {
	return fmt.Sprintf("{\"role\":%q,\"content\":%q,\"timestamp\":%q%s}\n", role, text, time.UnixMilli(autohandStart+1000*int64(at)).UTC().Format(time.RFC3339Nano), more)
}

// autohandSession writes a session with what it has used so far, and the session that it was forked from.
func (s *tree) autohandSession(home string, n, in, out int, lines string, from string) {
	dir := home + "/sessions/" + autohandID(n) + "/"
	s.write(dir+"conversation.jsonl", lines)
	branch := ""
	if from != "" {
		branch = fmt.Sprintf(`,"branch":{"type":"fork","sourceSessionId":%q,"createdAt":"2026-06-15T10:00:00.000Z"}`, from)
	}
	s.write(dir+"metadata.json", fmt.Sprintf(`{"sessionId":%q,"projectPath":"/shop","model":"m","status":"active","usage":{"promptTokens":%d,"completionTokens":%d,"turnCount":1}%s}`,
		autohandID(n), in, out, branch))
}

// TestLifeAutohand has a session that goes on, is forked, and forked again, whose directory is copied, and that is deleted.
func TestLifeAutohand(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(".autohand/config.json", `{"auth":{"token":"a-token-of-ada"}}`)
	s.write(".autohand/sessions/index.json", `{"sessions":[],"byProject":{}}`)
	first := autohandLine("user", "mend the basket", 1, "")
	s.autohandSession(".autohand", 0, 100, 10, first, "")
	want := counts{runs: 1, conversations: 1, events: 1, in: 100, out: 10}
	w.ingestAndCheck("begun", "autohand", s.dir, want, 2, 0, 0)
	lines := first + autohandLine("assistant", "", 2, `,"toolCalls":[{"id":"c1","tool":"mend","args":{}}]`) + autohandLine("tool", "mended", 3, `,"name":"mend","tool_call_id":"c1"`) +
		autohandLine("assistant", "it is mended", 4, "")
	s.autohandSession(".autohand", 0, 200, 20, lines, "")
	want.events, want.calls, want.results, want.in, want.out = 4, 1, 1, 200, 20
	w.ingestAndCheck("answered", "autohand", s.dir, want, 0, 1, 1)

	s.autohandSession(".autohand", 50, 300, 30, first+autohandLine("user", "and the lid", 51, ""), autohandID(0))
	want.runs, want.conversations, want.events, want.in, want.out, want.links = 2, 2, 5, 300, 30, 1
	w.ingestAndCheck("forked", "autohand", s.dir, want, 2, 0, 0)
	s.autohandSession(".autohand", 60, 400, 40, first+autohandLine("user", "and the lid", 51, "")+autohandLine("user", "and the handle", 61, ""), autohandID(50))
	want.runs, want.conversations, want.events, want.links = 3, 3, 6, 2
	w.ingestAndCheck("forked again", "autohand", s.dir, want, 2, 0, 0)
	s.autohandSession("backup", 0, 200, 20, lines, "")
	w.ingestAndCheck("copied", "autohand", s.dir, want)
	newWorld(t).ingestAndCheck("fresh", "autohand", s.dir, want)
	s.autohandSession(".autohand", 0, 350, 35, lines+autohandLine("user", "thanks", 70, ""), "")
	want.events, want.in, want.out = 7, 350, 35
	w.ingestAndCheck("goes on", "autohand", s.dir, want, 0, 1, 1)
	s.remove(".autohand/sessions/" + autohandID(0))
	w.ingestAndCheck("deleted", "autohand", s.dir, want, 0, 0, 0)
	checkSecrets(t, w)
}
