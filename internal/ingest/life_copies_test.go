package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// TestCallsTakenOver has a log, and then a copy that sorts before it, takes over its rows and grows separately: calls keep
// their own results, and are found by their duration.
func TestCallsTakenOver(t *testing.T) {
	t.Parallel()
	const path = "home/.kimi/sessions/0123456789abcdef0123456789abcdef/5a000000-0000-4000-8000-0000000000c1/wire.jsonl"
	b, err := os.ReadFile(filepath.Join("format/kimi/testdata/cli/in", path))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	call := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, `"ToolCall"`) })
	result := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, `"ToolResult"`) })
	s, w := newTree(t), newWorld(t)
	tree, err := query.Parse("duration>1ms", s.now, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		path string
		end  int
		want int // events with a call that took so long, or its result
	}{{"m/", call + 1, 0}, {"a/", call + 1, 0}, {"m/", len(lines), 4}, {"a/", result + 1, 4}, {"0/", len(lines), 4}} {
		s.write(step.path+path, strings.Join(lines[:step.end], ""))
		w.ingest("home", s.dir, ".")
		found := 0
		for _, err := range w.index.Find(t.Context(), tree, index.Page{}) {
			if err != nil {
				t.Fatal(err)
			}
			found++
		}
		if found != step.want {
			t.Errorf("%v: %d found", step, found)
		}
		w.checkReindex(fmt.Sprint(step))
	}
}

// TestResultTakenOver has two copies of a context, a call in one of its files and the result in the next. Where the first copy's result is
// lost, the second copy's counts, and is that of the second copy's call.
func TestResultTakenOver(t *testing.T) {
	t.Parallel()
	const (
		context = ".chibi/contexts/sand/transcript/"
		entry   = `{"id":"%08d-0000-4000-8000-000000000000","timestamp":177060000%[1]d,"from":"%s","to":"%s","content":"{}","entry_type":"%s","tool_call_id":"dig"}` + "\n"
	)
	s, w := newTree(t), newWorld(t)
	for _, copied := range []string{"a/", "b/"} {
		s.write(copied+context+"partitions/1770600000-1770600001.jsonl", fmt.Sprintf(entry, 1, "sand", "shell", "tool_call"))
		s.write(copied+context+"active.jsonl", fmt.Sprintf(entry, 2, "shell", "sand", "tool_result"))
	}
	w.ingest("home", s.dir, ".")
	w.checkReindex("two copies")
	s.write("a/"+context+"active.jsonl", "")
	w.ingest("home", s.dir, ".")
	w.checkReindex("one result is lost")
}

// TestCopiedFromAnother has a session whose first line two others have copied, until that line is continued and no line any more. In the
// same scan the second session is parsed anew, so its copy counts as soon as it is there: the third one is a fork of the second now.
func TestCopiedFromAnother(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	line := func(session, id string) string {
		return fmt.Sprintf(`{"parentUuid":null,"sessionId":"%s000000-0000-4000-8000-000000000001","type":"user","uuid":"%s","timestamp":"2026-11-18T10:00:01.000Z","message":{"role":"user","content":"sand"}}`, session, id)
	}
	write := func(session, content string) {
		s.write("home/.claude/projects/-home-ada/"+session+"000000-0000-4000-8000-000000000001.jsonl", content)
	}
	for _, continued := range []string{"", "{}"} {
		write("0a", line("0a", "first")+continued)
		write("0b", line("0b", "first")+"\n"+line("0b", "second")+continued)
		write("0c", line("0c", "first"))
		w.ingest("home", s.dir, ".")
		w.reindexed(continued)
	}
}
