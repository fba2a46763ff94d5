package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/source"
)

// touch sets the modification time of a file.
func (s *tree) touch(name string, at time.Time) {
	s.t.Helper()
	if err := os.Chtimes(filepath.Join(s.dir, filepath.FromSlash(name)), at, at); err != nil {
		s.t.Fatal(err)
	}
}

func (w *world) outlook(dir string, until time.Time) ingest.Outlook {
	w.t.Helper()
	o, err := w.Outlook(w.t.Context(), source.Root{Source: "src", Dir: dir, Below: "."}, until)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// TestOutlookPending expects files to be counted that are not archived in their present state, also after the scan cache is lost.
func TestOutlookPending(t *testing.T) {
	w, s := newWorld(t), newTree(t)
	until := s.now.AddDate(0, 1, 0)
	log := func(run string) string { return "storage/transcripts/" + run + ".jsonl" }
	s.write(log(runA), awfLines(runA, 0, 3))
	s.write("holiday.jpg", "no transcript")
	if o := w.outlook(s.dir, until); o.New != 1 || o.Unknown != 1 || o.Bytes != int64(len(awfLines(runA, 0, 3))) {
		t.Errorf("before: %+v", o)
	}
	w.ingest("src", s.dir, ".")
	if o := w.outlook(s.dir, until); o.New+o.Changed != 0 || o.Unknown != 1 || o.Files != 2 {
		t.Errorf("ingested: %+v", o)
	}
	s.write(log(runA), awfLines(runA, 0, 5))
	s.write(log(runB), awfLines(runB, 0, 1))
	want := int64(len(awfLines(runA, 4, 5)) + len(awfLines(runB, 0, 1)))
	if o := w.outlook(s.dir, until); o.New != 1 || o.Changed != 1 || o.Bytes != want || o.Oldest.IsZero() {
		t.Errorf("grown: %+v, want %d bytes", o, want)
	}
	w.ingest("src", s.dir, ".")
	w.open("again.db")
	if _, err := w.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := w.outlook(s.dir, until); o.New+o.Changed != 0 {
		t.Errorf("after a reindex: %+v", o)
	}
	if o := w.outlook(filepath.Join(s.dir, "gone"), until); !o.Missing {
		t.Errorf("gone: %+v", o)
	}
}

// TestOutlookDoomed compares predicted deletions with counts made by hand.
func TestOutlookDoomed(t *testing.T) {
	now := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	old := func(days int) time.Time { return now.AddDate(0, 0, -days).Add(12 * time.Hour) } // so goes in the half day after
	until := now.AddDate(0, 0, 1)
	const uuid = "0a000000-0000-4000-8000-%012d"
	session := func(n int) string { return fmt.Sprintf("-home-ada-shop/"+uuid+".jsonl", n) }
	const claudeLine = `{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":"hi"}}` + "\n"
	for name, c := range map[string]struct {
		make func(s *tree)
		want int64
	}{
		"claude code, 30 days": {func(s *tree) {
			for i, days := range []int{29, 30, 31} { // 29.5 days go within the day: not those of 28.5
				s.write(session(i), claudeLine)
				s.touch(session(i), old(days))
			}
			s.write(session(9), claudeLine)
			s.touch(session(9), now)
		}, 2},
		"claude code, as set": {func(s *tree) {
			s.write("settings.json", `{"cleanupPeriodDays": 90, "model": "x"}`)
			for i, days := range []int{31, 89, 90, 91} {
				s.write(session(i), claudeLine)
				s.touch(session(i), old(days))
			}
		}, 2},
		"claude code, plans": {func(s *tree) {
			for name, days := range map[string]int{"plans/mend-the-rim.md": 31, "plans/dye-the-rim.md": 20, "projects/-home-ada-shop/memory/MEMORY.md": 31} {
				s.write(".claude/"+name, "# Rim\n")
				s.touch(".claude/"+name, old(days))
			}
			s.write(".claude/projects/"+session(1), claudeLine)
			s.touch(".claude/projects/"+session(1), now)
		}, 1},
		"opencode, 7 days": {func(s *tree) {
			for i, days := range []int{6, 7, 8} {
				name := fmt.Sprintf("opencode/tool-output/tool_9a5b3c00000%d0123456789abcd", i)
				s.write(name, "a long output\n")
				s.touch(name, old(days))
			}
			s.write("opencode/plans/1793696400000-calm-loom.md", "# Loom\n")
			s.touch("opencode/plans/1793696400000-calm-loom.md", old(40))
		}, 2},
		"leslie, 50 of a thread": {func(s *tree) {
			for i := range 53 {
				name := fmt.Sprintf("shop/.leslie/threads/thread-1/.meta/transcripts/20260210-%04d-task.txt", i)
				s.write(name, "User: hello\n")
			}
			s.write("shop/.leslie/threads/thread-1/.meta/transcripts/NaNNaNNaN-NaNNaN-task.txt", "User: hello\n")
			s.write("shop/.leslie/threads/thread-2/.meta/transcripts/20260210-0001-task.txt", "User: hello\n")
		}, 3},
		"flow studio, 300 runs": {func(s *tree) {
			for i := range 303 {
				dir := fmt.Sprintf("swarm/runs/run-20261121-%06d-aaaaaa", i)
				if i == 1 {
					dir = "swarm/runs/baseline-build"
				}
				s.write(dir+"/meta.json", fmt.Sprintf(`{"id":"x%d","spec":{"flow_keys":["build"]},"status":"succeeded"}`, i))
				s.write(dir+"/build/llm/impl-coder-claude.jsonl", "{}\n")
			}
			s.write("swarm/runs/run-20250101-000000-bbbbbb/meta.json", `{"id":"x","spec":{"flow_keys":["build"]}}`)
			s.touch("swarm/runs/run-20250101-000000-bbbbbb/meta.json", now.AddDate(-1, 0, 0))
		}, 2*2 + 1},
		"devflow, 7 days and 100 runs": {func(s *tree) {
			for i := range 105 {
				name := fmt.Sprintf(".devflow/runs/2026-11-10-implement-%08x/metadata.json", i)
				s.write(name, `{"runId":"x","workflow":"implement","status":"completed"}`)
				at := old(8).Add(time.Duration(i) * time.Second)
				if i >= 3 {
					at = now.Add(time.Duration(i) * time.Second)
				}
				s.touch(name, at)
			}
		}, 3},
		"windsurf, the next after 100 transcripts": {func(s *tree) {
			for i := range 100 {
				name := fmt.Sprintf(".windsurf/transcripts/"+uuid+".jsonl", i)
				s.write(name, surfAsks("mend"))
				s.touch(name, now.Add(time.Duration(i)*time.Second))
			}
			s.write(".windsurf/transcripts/notes.txt", "kept")
			s.write("backup/"+fmt.Sprintf(uuid+".jsonl", 200), surfAsks("mend"))
			s.touch("backup/"+fmt.Sprintf(uuid+".jsonl", 200), now.AddDate(-1, 0, 0))
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(t), newTree(t)
			s.now = now.AddDate(0, 0, -1)
			c.make(s)
			if o := w.outlook(s.dir, until); o.Doomed != c.want || o.AtRisk != c.want || o.First.IsZero() {
				t.Errorf("before anything is archived: %+v, want %d", o, c.want)
			}
			w.ingest("src", s.dir, ".")
			if o := w.outlook(s.dir, until); o.Doomed != c.want || o.AtRisk != 0 || !o.First.IsZero() {
				t.Errorf("archived: %+v, want %d", o, c.want)
			}
		})
	}
}
