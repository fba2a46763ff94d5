package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const payloadPolicy = "rules:\n  - name: all\n    match: {}\n    action: thin\n    tier: payloads\n    over: 100B\n"

// largeOutputs makes the tool results of a Flow Studio run larger.
func largeOutputs(t *testing.T, dir string) (changed int) {
	t.Helper()
	content := regexp.MustCompile(`("type": ?"tool_result".*?"content": ?")`)
	noise := strings.Repeat("0123 zanzibar 4567 ", 4000)
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".jsonl") {
			return err
		}
		b, err := os.ReadFile(p)
		if err == nil && changed < 8 && content.Match(b) {
			changed++
			err = os.WriteFile(p, content.ReplaceAll(b, []byte("${1}"+noise)), 0o600)
		}
		return err
	})
	must(t, err)
	return changed
}

// TestDropPayloads thins every run of the samples. Only text changes; the index is the same when it is made again, and
// the source is known for what it was.
func TestDropPayloads(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "runs")
	fewRuns(t, source)
	t.Logf("%d originals made larger", largeOutputs(t, source))
	dir, rules := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "keep.yaml")
	must(t, os.WriteFile(rules, []byte(payloadPolicy), 0o600))
	tx(t, dir, 0, "ingest", "-q", source)
	stats := func() string {
		return regexp.MustCompile(`"stored_bytes":\d+`).ReplaceAllString(tx(t, dir, 0, "stats", "--json"), "")
	}
	counts, costs := stats(), tx(t, dir, 0, "cost", "--json", "--by", "format,model,flow,step,agent,status,source")
	events := func() (all []string) {
		for _, row := range dumpViews(t, dir) {
			if view, _, _ := strings.Cut(row, " "); slices.Contains([]string{"v_usage", "v_links", "v_steps", "v_receipts"}, view) {
				all = append(all, row)
			}
		}
		return all
	}
	told := events()
	plan := decode[plannedFrees](t, tx(t, dir, 0, "prune", "--policy", rules, "--json"))
	if plan.Frees.Marked < 4 {
		t.Fatalf("%+v", plan.Frees)
	}
	before := packBytes(t, dir)
	tx(t, dir, 0, "prune", "--policy", rules, "--yes", "-q")
	same := func(when string) {
		t.Helper()
		if got := stats(); got != counts {
			t.Errorf("%s: counts are\n%s\nand were\n%s", when, got, counts)
		}
		if got := tx(t, dir, 0, "cost", "--json", "--by", "format,model,flow,step,agent,status,source"); got != costs {
			t.Errorf("%s: costs are\n%s\nand were\n%s", when, got, costs)
		}
		if got := events(); !slices.Equal(got, told) {
			t.Errorf("%s: %s", when, firstDifference(got, told))
		}
		tx(t, dir, 0, "verify")
	}
	same("thinned")
	thinned := dumpViews(t, dir)
	if out := tx(t, dir, 0, "ingest", "--json", source); !strings.Contains(out, `"new":0,"grown":0,"rewritten":0`) {
		t.Errorf("the source was archived again: %s", out)
	}
	tx(t, dir, 0, "gc", "-q")
	asSaid(t, "packs", before-packBytes(t, dir), plan.Frees.PackBytes-plan.Frees.WrittenBytes, 1, 5)
	same("after gc")
	tx(t, dir, 0, "reindex", "-q")
	if again := dumpViews(t, dir); !slices.Equal(thinned, again) {
		t.Errorf("reindex changed something: %s", firstDifference(again, thinned))
	}
	if out := tx(t, dir, 0, "prune", "--policy", rules); !strings.Contains(out, "Nothing to prune") {
		t.Errorf("thinned twice: %s", out)
	}
	back := filepath.Join(t.TempDir(), "back")
	tx(t, dir, 0, "restore", "--all", "--to", back, "-q")
	if n := compareMarked(t, source, filepath.Join(back, "runs")); n != plan.Frees.Marked {
		t.Errorf("%d originals have marks, the plan said %d", n, plan.Frees.Marked)
	}
	tx(t, dir, 0, "prune", "--undo", "-q") // words come back, payloads do not
	tx(t, dir, 0, "verify")
	if got := stats(); got != counts {
		t.Errorf("undone: counts are\n%s\nand were\n%s", got, counts)
	}
}

// compareMarked wants originals that differ from their source by marks alone, and counts them.
func compareMarked(t *testing.T, source, back string) (n int) {
	t.Helper()
	err := filepath.WalkDir(back, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(back, p)
		got, _ := os.ReadFile(p)
		want, err := os.ReadFile(filepath.Join(source, rel))
		if err != nil || bytes.Equal(got, want) {
			return err
		}
		n++
		if len(got) != len(want) || !bytes.Contains(got, []byte("[payload dropped by policy: ")) || bytes.Count(got, []byte("\n")) != bytes.Count(want, []byte("\n")) {
			t.Errorf("%s: %d bytes of %d", rel, len(got), len(want))
		}
		if strings.HasSuffix(rel, ".jsonl") {
			for row := range bytes.Lines(got) {
				if len(bytes.TrimSpace(row)) > 0 && !json.Valid(row) {
					t.Errorf("%s: not JSON: %.100s", rel, row)
				}
			}
		}
		return nil
	})
	must(t, err)
	return n
}
