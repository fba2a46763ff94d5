package main

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// thinPolicy is a policy that drops payloads of runs.
func thinPolicy(t *testing.T, r *rand.Rand, runs []string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "thin.yaml")
	text := "version: 1\nrules:\n  - name: thin\n    match: {id: [" + strings.Join(runs, ", ") + "]}\n    action: thin\n    tier: payloads\n    over: "
	if err := os.WriteFile(file, []byte(text+[]string{"100B", "200B", "2KB"}[r.IntN(3)]+"\n    children: stay\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// halve cuts some transcripts off behind a line, and gives what they were.
func halve(t *testing.T, r *rand.Rand, dir string) map[string][]byte {
	t.Helper()
	whole := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".jsonl") {
			return err
		}
		b, err := os.ReadFile(p)
		if lines := bytes.SplitAfter(b, []byte("\n")); err == nil && len(lines) > 4 && r.IntN(2) == 0 {
			whole[p] = b
			err = os.WriteFile(p, bytes.Join(lines[:len(lines)/2], nil), 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func putBack(t *testing.T, files map[string][]byte) {
	t.Helper()
	for p, b := range files {
		past := time.Now().Add(-time.Hour)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, past, past); err != nil {
			t.Fatal(err)
		}
	}
}

// TestThinAnything drops payloads of random runs of all formats, while their files grow and gc leaves them alone. Then
// everything is taken back, and the archive is like one in which nothing was ever thinned.
func TestThinAnything(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-seed %d", *seed)
	r := rand.New(rand.NewPCG(*seed, 5))
	source := filepath.Join(t.TempDir(), "runs")
	if err := os.CopyFS(source, os.DirFS(runs)); err != nil {
		t.Fatal(err)
	}
	largeOutputs(t, source)
	grows := halve(t, r, source)
	calm, dir := filepath.Join(t.TempDir(), "calm"), filepath.Join(t.TempDir(), "archive")
	both := func(line ...string) {
		t.Helper()
		tx(t, calm, 0, line...)
		tx(t, dir, 0, line...)
	}
	both("ingest", "-q", source)
	all := runIDs(t, dir)
	thin := func() {
		t.Helper()
		some := []string{}
		for _, i := range r.Perm(len(all))[:1+r.IntN(len(all))] {
			some = append(some, all[i])
		}
		tx(t, dir, 0, "prune", "--policy", thinPolicy(t, r, some), "--yes", "-q", "--allow-empty")
		tx(t, dir, 0, "verify")
	}
	for range 2 {
		thin()
	}
	putBack(t, grows)
	both("ingest", "-q", source)
	if out := tx(t, dir, 0, "ingest", "--json", source); !strings.Contains(out, `"new":0,"grown":0,"rewritten":0`) {
		t.Errorf("the source was archived again: %s", out)
	}
	thin()
	if r.IntN(2) == 0 {
		tx(t, dir, 0, "prune", "--run", all[r.IntN(len(all))], "--yes", "-q")
	}
	const cost = "format,model,flow,step,agent,status,source"
	if got, want := tx(t, dir, 0, "cost", "--json", "--by", cost), tx(t, calm, 0, "cost", "--json", "--by", cost); got != want {
		t.Errorf("costs are\n%s\nand were\n%s", got, want)
	}
	thinned := dumpViews(t, dir)
	tx(t, dir, 0, "reindex", "-q")
	if again := dumpViews(t, dir); !slices.Equal(thinned, again) {
		t.Errorf("reindex changed something: %s", firstDifference(again, thinned))
	}
	if r.IntN(2) == 0 {
		tx(t, dir, 0, "gc", "--grace", "7d", "-q")
		tx(t, dir, 0, "verify")
	}
	undoAll(t, program(t), dir)
	tx(t, dir, 0, "verify", "--deep")
	whole := dumpViews(t, calm)
	if back := dumpViews(t, dir); !slices.Equal(whole, back) {
		t.Errorf("undone: %s", firstDifference(back, whole))
	}
	tx(t, dir, 0, "reindex", "-q")
	if back := dumpViews(t, dir); !slices.Equal(whole, back) {
		t.Errorf("undone and indexed again: %s", firstDifference(back, whole))
	}
	tx(t, dir, 0, "gc", "-q")
	tx(t, dir, 0, "verify", "--deep")
	back := filepath.Join(t.TempDir(), "back")
	tx(t, dir, 0, "restore", "--all", "--to", back, "-q")
	if n := compareMarked(t, source, filepath.Join(back, "runs")); n != 0 {
		t.Errorf("%d originals have marks", n)
	}
	for p, b := range everyByte(t, dir) {
		if bytes.Contains(b, []byte("[payload dropped by policy")) {
			t.Errorf("%s has marks", p)
		}
	}
}
