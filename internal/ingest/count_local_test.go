package ingest_test

import (
	"fmt"
	"testing"
)

// Two homes have a context of the same name, and both made a request in the same second with the same number of tokens: these
// are two requests. A home that is moved has made no new requests.
func TestUsageOfLocalNames(t *testing.T) {
	w, s := newWorld(t), newTree(t)
	const asked = `{"response":{"usage":{"prompt_tokens":100,"completion_tokens":50}},"timestamp":1770000000}` + "\n"
	for i, home := range []string{"one", "two"} {
		entry := fmt.Sprintf(`{"id":"e%d","timestamp":177000000%d,"from":"alice","to":"default","content":"hello","entry_type":"message","role":"user"}`, i, i)
		s.write(home+"/contexts/default/transcript/active.jsonl", entry+"\n")
		s.write(home+"/contexts/default/response_meta.jsonl", asked+asked)
	}
	check := func(what string) {
		t.Helper()
		got := w.totals().Formats["chibi"]
		if got.Runs != 2 || got.Events != 2 || value(got.Input) != 400 || value(got.Output) != 200 {
			t.Errorf("%s: %d runs, %d events, %d and %d tokens; want 2, 2, 400, 200", what, got.Runs, got.Events, value(got.Input), value(got.Output))
		}
	}
	w.ingest("homes", s.dir, "")
	check("two homes")
	s.move("two", "three")
	w.ingest("homes", s.dir, "")
	check("after a move")
}
