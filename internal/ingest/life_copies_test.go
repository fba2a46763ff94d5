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
