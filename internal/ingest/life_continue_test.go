package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	continueDir = "home/.continue/sessions/"
	continueA   = "e0000000-0000-4000-8000-00000000000a"
)

func continueSays(role, text string) string {
	return fmt.Sprintf(`{"message":{"role":%q,"content":%q},"contextItems":[]}`, role, text)
}

// continueUses is an answer with what it used.
func continueUses(text string, in, out int) string {
	return fmt.Sprintf(`{"message":{"role":"assistant","content":%q,"usage":{"promptTokens":%d,"completionTokens":%d}},"contextItems":[]}`, text, in, out)
}

// continueSession writes a session, and the list of sessions; usage is the sum of a session of cn.
func (s *tree) continueSession(dir, id, usage string, items ...string) {
	s.write(dir+id+".json", fmt.Sprintf(`{"sessionId":%q,"title":"Mend the basket","workspaceDirectory":"/home/ada/shop","history":[%s]%s}`, id, strings.Join(items, ","), usage))
	s.write(dir+"sessions.json", fmt.Sprintf(`[{"sessionId":%q,"title":"Mend the basket","dateCreated":"1790000000000","workspaceDirectory":"/home/ada/shop"}]`, id))
}

// TestLifeContinue has a session that is written anew with each message, edited, copied, and deleted.
func TestLifeContinue(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	prompt := continueSays("user", "mend the basket")
	s.continueSession(continueDir, continueA, "", prompt)
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("a prompt", "continue", s.dir, want, 2, 0, 0)
	s.continueSession(continueDir, continueA, "", prompt, continueUses("mended", 100, 7))
	want.events, want.in, want.out = 2, 100, 7
	w.ingestAndCheck("an answer", "continue", s.dir, want, 0, 0, 1)
	if got := w.query("SELECT title || ' ' || project || ' ' || started FROM v_runs"); len(got) != 1 || !strings.HasPrefix(got[0], "Mend the basket /home/ada/shop 2026-09-21") {
		t.Errorf("run %q", got)
	}
	if got := w.query("SELECT time FROM v_usage"); len(got) != 1 || !strings.HasPrefix(got[0], "2026-09-21") {
		t.Errorf("used at %q", got)
	}

	// The prompt is edited: the answer is replaced, and was paid for.
	s.continueSession(continueDir, continueA, "", continueSays("user", "mend it with straw"), continueUses("mended with straw", 110, 9))
	want.in, want.out = 210, 16
	w.ingestAndCheck("edited", "continue", s.dir, want, 0, 0, 1)

	// A copy of the directory counts once; logs beside it do not count.
	s.copyDir("home/.continue", "backup/.continue")
	s.write("home/.continue/dev_data/0.2.0/tokensGenerated.jsonl", `{"eventName":"tokensGenerated","timestamp":"2026-09-21T14:13:30.000Z","model":"gpt-4o","promptTokens":99,"generatedTokens":8}`+"\n")
	w.ingestAndCheck("copied", "continue", s.dir, want)
	if got := w.query("SELECT verdict || ' ' || input_tokens FROM v_usage WHERE estimated"); len(got) != 1 || got[0] != "outside receipt 99" {
		t.Errorf("estimates %q", got)
	}
	s.remove(continueDir + continueA + ".json")
	s.write(continueDir+"sessions.json", "[]")
	w.ingestAndCheck("deleted", "continue", s.dir, want, 0, 0, 1)
}

// TestLifeContinueSum has a session of cn, whose sum of usage grows with it, and which is resumed.
func TestLifeContinueSum(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const sum = `,"usage":{"totalCost":%g,"promptTokens":%d,"completionTokens":%d,"promptTokensDetails":{"cachedTokens":0,"cacheWriteTokens":0}}`
	items := []string{continueSays("user", "mend the basket")}
	s.continueSession("data/sessions/", continueA, fmt.Sprintf(sum, 0., 0, 0), items...)
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("a prompt", "continue", s.dir, want, 2, 0, 0)
	for n := 1; n <= 3; n++ {
		items = append(items, continueUses(fmt.Sprint("mended ", n), 3, 3))
		s.continueSession("data/sessions/", continueA, fmt.Sprintf(sum, 0.25*float64(n), 100*n, 10*n), items...)
		want.events, want.in, want.out, want.cost = want.events+1, int64(100*n), int64(10*n), int64(250000*n)
		w.ingestAndCheck(fmt.Sprint("answer ", n), "continue", s.dir, want, 0, 0, 1)
	}
}
