package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/report"
)

// TestShippedReports runs every report of the program over the example runs: what it prints stands in testdata/reports,
// and is the same when the runs came in another order and after a reindex.
func TestShippedReports(t *testing.T) {
	t.Parallel()
	all, err := report.All(t.Context(), nil)
	if err != nil || len(all) < 8 {
		t.Fatal(len(all), err)
	}
	dir := example(t)
	dirs, err := filepath.Glob(runs + "/*")
	must(t, err)
	other := filepath.Join(t.TempDir(), "other")
	for i := len(dirs) - 1; i >= 0; i-- {
		if code, _, stderr := inside(t.Context(), other, "", "ingest", dirs[i]); code != 0 {
			t.Fatal(stderr)
		}
	}
	if code, _, stderr := inside(t.Context(), other, "", "reindex"); code != 0 {
		t.Fatal(stderr)
	}
	for _, r := range all {
		if r.Description == "" || r.SQL == nil {
			t.Errorf("%s says not what it is", r.Name)
		}
		golden := filepath.Join("testdata", "reports", r.Name+".csv")
		for _, from := range []string{dir, other} {
			code, stdout, stderr := inside(t.Context(), from, "", "report", "run", r.Name, "--format", "csv")
			if code != 0 {
				t.Fatalf("%s: exit %d\n%s", r.Name, code, stderr)
			}
			if *update && from == dir {
				must(t, os.WriteFile(golden, []byte(stdout), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if stdout != string(want) {
				t.Errorf("%s prints\n%s, not\n%s", r.Name, stdout, want)
			}
		}
		if strings.Count(r.Name, " ") > 0 {
			t.Errorf("%q is no word", r.Name)
		}
		if _, ok := r.Parameters["since"]; ok {
			_, stdout, stderr := inside(t.Context(), dir, "", "report", "run", r.Name, "--format", "csv", "--param", "since=2030-01-01")
			if strings.Count(stdout, "\n") > 1 {
				t.Errorf("%s finds something in 2030: %s%s", r.Name, stdout, stderr)
			}
		}
	}
}

// TestTrendAfterAGap compares a month with the one before it, in which a model may not have been used at all.
func TestTrendAfterAGap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, archive := filepath.Join(dir, "claude", "projects", "-p"), filepath.Join(dir, "archive")
	must(t, os.MkdirAll(from, 0o755))
	var lines string
	for i, month := range []string{"01", "02", "04"} {
		lines += fmt.Sprintf(`{"type":"assistant","uuid":"u%d","sessionId":"s","timestamp":"2026-%s-03T10:00:00Z","cwd":"/p","version":"2.0.0","requestId":"r%d",`+
			`"message":{"id":"m%d","type":"message","role":"assistant","model":"claude-opus-4-8","content":[],"usage":{"input_tokens":%d,"output_tokens":0}}}`+"\n", i, month, i, i, 100+i)
	}
	must(t, os.WriteFile(filepath.Join(from, "s.jsonl"), []byte(lines), 0o644))
	if code, _, stderr := inside(t.Context(), archive, "", "ingest", filepath.Join(dir, "claude")); code != 0 {
		t.Fatal(stderr)
	}
	_, stdout, stderr := inside(t.Context(), archive, "", "report", "run", "token-trend", "--format", "csv")
	want := "model,month,records,prompt_tokens,output_tokens,change\nclaude-opus-4-8,2026-01,1,100,0,\nclaude-opus-4-8,2026-02,1,101,0,1\nclaude-opus-4-8,2026-04,1,102,0,102\n"
	if stdout != want {
		t.Errorf("%s%s, want\n%s", stdout, stderr, want)
	}
}
