package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// rewritable are the JSON documents below a directory that have a list of some length, with what they are.
func rewritable(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".json") {
			return err
		}
		b, err := os.ReadFile(p)
		if cut(b, 0) != nil {
			all[p] = b
		}
		return err
	}))
	return all
}

// cut returns a JSON document with only a part of its longest list, as it was before the rest was written; nil if it has no list.
func cut(document []byte, part float64) []byte {
	var root any
	if json.Unmarshal(document, &root) != nil {
		return nil
	}
	var longest []any
	var put func([]any)
	var walk func(x any, set func([]any))
	walk = func(x any, set func([]any)) {
		switch x := x.(type) {
		case []any:
			if len(x) > len(longest) {
				longest, put = x, set
			}
			for _, y := range x {
				walk(y, func([]any) {}) // lists in lists stay whole
			}
		case map[string]any:
			for key, y := range x {
				walk(y, func(l []any) { x[key] = l })
			}
		}
	}
	walk(root, func(l []any) { root = l })
	if len(longest) < 2 {
		return nil
	}
	put(longest[:int(part*float64(len(longest)))])
	b, err := json.Marshal(root)
	if err != nil {
		return nil
	}
	return b
}

// documents writes some sessions of Continue as they are after so many messages.
func documents(t *testing.T, dir string, sessions, messages int) {
	t.Helper()
	files := map[string][]byte{}
	for i := range sessions {
		name := fmt.Sprintf(".continue/sessions/doc-%d.json", i)
		files[filepath.Join(dir, name)] = documentOf(name, messages)
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
	}
	putBack(t, files)
}

// documentOf is a document by its name as it is after so many messages, nil if it is the name of another file.
func documentOf(name string, messages int) []byte {
	id, isDocument := strings.CutPrefix(filepath.Base(name), "doc-")
	if !isDocument {
		return nil
	}
	id = strings.TrimSuffix(id, ".json")
	var history []string
	for n := range messages {
		role := []string{"user", "assistant"}[n%2]
		var words strings.Builder
		for r := rand.New(rand.NewPCG(uint64(n), uint64(len(id)+int(id[0])))); words.Len() < 400; {
			fmt.Fprintf(&words, "w%x ", r.IntN(1<<uint(4+r.IntN(14))))
		}
		history = append(history, fmt.Sprintf(`{"message":{"role":%q,"content":"%s","id":"m%s-%d"},"contextItems":[]}`, role, words.String(), id, n))
	}
	return []byte(fmt.Sprintf(`{"sessionId":"doc-%s","title":"Session %s","workspaceDirectory":"/home/ada/p","history":[%s]}`, id, id, strings.Join(history, ",\n")))
}

// countedRows are the rows of all views that count, but for what says that a run was thinned.
func countedRows(t *testing.T, dir string) []string {
	t.Helper()
	return dumpRows(t, dir, "thinned", "SELECT * FROM v_runs", "SELECT * FROM v_conversations WHERE verdict = 'counted'", "SELECT * FROM v_steps WHERE verdict = 'counted'",
		"SELECT * FROM v_events WHERE verdict = 'counted'", "SELECT * FROM v_tool_calls WHERE counted", "SELECT * FROM v_usage WHERE verdict = 'counted'",
		"SELECT * FROM v_receipts WHERE verdict = 'counted'", "SELECT DISTINCT kind, from_run_id, from_conversation_id, to_run_id, to_conversation_id FROM v_links WHERE counted",
		"SELECT * FROM v_problems", "SELECT * FROM v_cost_daily")
}

// rewriteAll ingests states of documents one after another, of which some are shorter than the one before and some come back, and
// then the documents themselves.
func rewriteAll(t *testing.T, r *rand.Rand, dir, source string, documents map[string][]byte) {
	t.Helper()
	for range 4 {
		some := map[string][]byte{}
		for p, b := range documents {
			if state := cut(b, []float64{0.25, 0.5, 0.75}[r.IntN(3)]); r.IntN(4) > 0 {
				some[p] = state
			}
		}
		putBack(t, some)
		loaded(t, dir, "--all", source)
	}
	putBack(t, documents)
	loaded(t, dir, "--all", source)
}

// TestThinVersions removes the earlier versions of documents that programs write again with every message, in a third of the cases of all formats. Nothing that
// counts changes, not even when the index is made again; nothing is archived again; undone, all is as before.
func TestThinVersions(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	source, dir := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive")
	cases, err := filepath.Glob("../../internal/ingest/format/*/testdata/*/in")
	must(t, err)
	for _, in := range cases {
		if r.IntN(3) > 0 {
			continue
		}
		name := strings.Split(filepath.ToSlash(in), "/")
		must(t, os.CopyFS(filepath.Join(source, name[5]+"-"+name[7]), os.DirFS(in)))
	}
	documents := rewritable(t, source)
	rewriteAll(t, r, dir, source, documents)
	counted, whole := countedRows(t, dir), dumpViews(t, dir)
	answers := func() (all []string) {
		for _, line := range [][]string{{"cost", "--json", "--by", "format,model,flow,step,agent,status,source"}, {"search", "--json", "--limit", "0", "the"},
			{"search", "--json", "--limit", "0", "kind:tool_call"}, {"list", "--json", "--limit", "0"}} {
			all = append(all, strings.ReplaceAll(tx(t, dir, 0, line...), `"thinned":"versions"`, `"thinned":null`))
		}
		return all
	}
	before := answers()
	tx(t, dir, 0, "prune", "--query", "after:1970 OR before:1970", "--thin", "versions", "--yes", "-q")
	same := func(when string) {
		t.Helper()
		if now := countedRows(t, dir); !slices.Equal(counted, now) {
			t.Errorf("%s: %s", when, firstDifference(now, counted))
		}
		for i, now := range answers() {
			if now != before[i] {
				t.Errorf("%s: answer %d is\n%.2000s\nand was\n%.2000s", when, i, now, before[i])
			}
		}
	}
	same("thinned")
	if plan := decode[struct {
		Runs []struct{} `json:"runs"`
	}](t, tx(t, dir, 0, "prune", "--query", "after:1970 OR before:1970", "--thin", "versions", "--json")); len(plan.Runs) > 0 {
		t.Errorf("%d runs can be thinned again", len(plan.Runs))
	}
	tx(t, dir, 0, "verify")
	var gone []struct{ Gone, Others int }
	must(t, json.Unmarshal([]byte(tx(t, dir, 0, "sql", "--json", `SELECT (SELECT count(*) FROM v_pruned WHERE tier = 'versions' AND removed) AS gone,
		(SELECT count(*) FROM v_files WHERE version > 1) AS others`)), &gone))
	t.Logf("%d versions went, %d later ones are left", gone[0].Gone, gone[0].Others)
	if gone[0].Gone < len(documents)/2 {
		t.Errorf("only %d versions of %d documents went", gone[0].Gone, len(documents))
	}
	thinned := dumpViews(t, dir)
	tx(t, dir, 0, "reindex", "-q")
	if again := dumpViews(t, dir); !slices.Equal(thinned, again) {
		t.Errorf("reindex changed something: %s", firstDifference(again, thinned))
	}
	loaded(t, dir, "--all", source)
	if again := dumpViews(t, dir); !slices.Equal(thinned, again) {
		t.Errorf("the source was archived again: %s", firstDifference(again, thinned))
	}
	back := copyArchive(t, dir)
	tx(t, back, 0, "prune", "--undo", "-q")
	if now := dumpViews(t, back); !slices.Equal(whole, now) {
		t.Errorf("undone: %s", firstDifference(now, whole))
	}
	tx(t, back, 0, "verify", "--deep")
	tx(t, dir, 0, "gc", "-q")
	same("collected")
	tx(t, dir, 0, "reindex", "-q")
	same("collected and indexed again")
	tx(t, dir, 0, "verify", "--deep")
	restored := filepath.Join(t.TempDir(), "back")
	tx(t, dir, 0, "restore", "--all", "--to", restored, "-q")
	for p, b := range documents {
		rel, err := filepath.Rel(source, p)
		must(t, err)
		if got, err := os.ReadFile(filepath.Join(restored, "runs", rel)); err != nil || string(got) != string(b) {
			t.Errorf("%s: restored %d bytes, want %d: %v", rel, len(got), len(b), err)
		}
	}
}

// TestThinVersionsOfCopies: what an earlier version had in the place of a copy with the same bytes, the copy has when that version is gone.
func TestThinVersionsOfCopies(t *testing.T) {
	t.Parallel()
	source, dir := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive")
	var lists []string
	for _, home := range []string{"a", "b"} {
		must(t, os.CopyFS(filepath.Join(source, home), os.DirFS("../../internal/ingest/format/continuedev/testdata/ide/in")))
		lists = append(lists, filepath.Join(source, home, "home/.continue/sessions/sessions.json"))
	}
	whole, err := os.ReadFile(lists[0])
	must(t, err)
	for _, sessions := range [][2]int{{2, 1}, {1, 0}, {2, 2}, {3, 3}} { // of which the lists are: what is in one is in an earlier version of the other
		files := map[string][]byte{}
		for i, name := range lists {
			files[name] = cut(whole, []float64{0, 0.5, 0.75, 1}[sessions[i]])
		}
		putBack(t, files)
		loaded(t, dir, "--all", source)
	}
	tx(t, dir, 0, "prune", "--query", "after:1970 OR before:1970", "--thin", "versions", "--yes", "-q")
	thinned := dumpViews(t, dir)
	tx(t, dir, 0, "reindex", "-q")
	if again := dumpViews(t, dir); !slices.Equal(thinned, again) {
		t.Errorf("reindex changed something: %s", firstDifference(again, thinned))
	}
}

// TestThinVersionsHalfDone: a plan that could not be finished goes on with the versions that it names, though there are others by now that
// could go as well.
func TestThinVersionsHalfDone(t *testing.T) {
	t.Parallel()
	source, base, plan := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "base"), filepath.Join(t.TempDir(), "plan.json")
	for _, n := range []int{2, 5, 9} {
		documents(t, source, 3, n)
		tx(t, base, 0, "ingest", "-q", source)
	}
	tx(t, base, 0, "prune", "--query", "format:continue", "--thin", "versions", "--plan", plan, "-q")
	rows := func(dir, query string) []string {
		return strings.Fields(tx(t, dir, 0, "sql", "--format", "csv", query))[1:]
	}
	for left := 1; ; left += 3 {
		dir, done := copyArchive(t, base), 0
		code, stderr := faulty(t, &bench{writing: &writing{room: 1, line: func(string) []string { return []string{"prune", "--apply", plan} }}, dir: dir}, func(string, string) error {
			if done++; done > left {
				return syscall.ENOSPC
			}
			return nil
		})
		if code == 0 {
			t.Fatalf("no part of the plan was applied alone: %s", stderr)
		}
		tx(t, dir, 0, "ingest", "-q", source)
		begun := rows(dir, "SELECT DISTINCT path FROM v_pruned")
		if len(begun) == 0 || len(begun) == 3 {
			continue
		}
		for _, name := range begun {
			putBack(t, map[string][]byte{filepath.Join(source, name): documentOf(name, 12)})
		}
		tx(t, dir, 0, "ingest", "-q", source)
		tx(t, dir, 0, "prune", "--apply", plan, "-q")
		want := []string{"3,3", fmt.Sprintf("4,%d", len(begun))}
		if now := rows(dir, "SELECT version, count(*) FROM v_files GROUP BY 1 ORDER BY 1"); !slices.Equal(now, want) {
			t.Errorf("left are %v, want %v", now, want)
		}
		tx(t, dir, 0, "verify", "--deep", "--quiet")
		return
	}
}

// TestThinnedVersionsMeetCopy: two copies of an archive come together, of which one has removed an earlier version, and the other has met
// the file when it had that content again. The present version is there, and what was removed stays removed.
func TestThinnedVersionsMeetCopy(t *testing.T) {
	t.Parallel()
	source, dir := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive")
	for _, n := range []int{5, 6} {
		documents(t, source, 1, n)
		tx(t, dir, 0, "ingest", "-q", source)
	}
	other := copyArchive(t, dir)
	documents(t, source, 1, 5)
	tx(t, other, 0, "ingest", "-q", source)
	tx(t, dir, 0, "prune", "--query", "format:continue", "--thin", "versions", "--yes", "-q")
	for _, step := range []string{"adopted", "indexed again", "collected"} {
		switch step {
		case "adopted":
			must(t, filepath.WalkDir(filepath.Join(other, "packs"), func(p string, e fs.DirEntry, err error) error {
				to := filepath.Join(dir, strings.TrimPrefix(p, other))
				if _, missing := os.Stat(to); err != nil || e.IsDir() || missing == nil {
					return err
				}
				b, err := os.ReadFile(p)
				must(t, err)
				written(t, to, b)
				return nil
			}))
			tx(t, dir, 0, "ingest", "-q", source)
		case "indexed again":
			tx(t, dir, 0, "reindex", "-q")
		case "collected":
			tx(t, dir, 0, "gc", "-q")
		}
		if got, want := tx(t, dir, 0, "sql", "--format", "csv", "SELECT version FROM v_files ORDER BY 1"), "version\n2\n3\n"; got != want {
			t.Errorf("%s: versions are\n%s\nwant\n%s", step, got, want)
		}
		back := filepath.Join(t.TempDir(), "back")
		tx(t, dir, 0, "restore", "--all", "--to", back, "-q")
		name := ".continue/sessions/doc-0.json"
		if got, err := os.ReadFile(filepath.Join(back, "runs", name)); err != nil || string(got) != string(documentOf(name, 5)) {
			t.Errorf("%s: %d bytes were restored: %v", step, len(got), err)
		}
		tx(t, dir, 0, "verify", "--deep", "--quiet")
	}
}
