package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/seedtest"
)

const formats = "../../internal/ingest/format"

// samples copies what the formats are tested with to a source. Each is "<package>/<case>", or "runs/<format or a directory of it>".
func samples(t *testing.T, source string, all ...string) {
	t.Helper()
	for _, s := range all {
		of, name, _ := strings.Cut(s, "/")
		from := filepath.Join(formats, of, "testdata", name, "in")
		if of == "runs" {
			from = filepath.Join(runs, name)
		}
		must(t, os.CopyFS(filepath.Join(source, of, name), os.DirFS(from)))
	}
}

// studio has the runs of Flow Studio among the examples.
const studio = "flow-studio/swarm/runs/"

// fewRuns copies the examples without most runs of Flow Studio, which have 252 of 352 files.
func fewRuns(t *testing.T, to string) {
	t.Helper()
	for _, of := range []string{"awf", "chibi", "devflow", "leslie", studio + "run-20261121-000533-1bj1cw", studio + "run-20261121-000535-yhmzca"} {
		must(t, os.CopyFS(filepath.Join(to, of), os.DirFS(filepath.Join(runs, of))))
	}
}

// kin are samples of agents that say something of each other's runs: forks and resumes with the history of another, sub-agents, models and
// titles that stand in other files, copies, empty files.
var kin = []string{"claudecode/fork", "claudecode/advisor", "claudecode/layouts", "claudecode/lines", "codex/forks", "codex/unnamed-turns", "codex/moved",
	"codex/pages", "geminicli/subagent", "geminicli/migrated", "opencode/tree", "opencode/second", "copilotcli/resumed", "cline/copied", "cline/subagents",
	"chatgpt/tree", "chatgpt/twice", "claudeai/twice", "amp/fork",
	"openclaw/chats", "pi/fork", "pi/first"}

// loaded ingests samples, of which some lines are wrong.
func loaded(t *testing.T, dir string, line ...string) {
	t.Helper()
	if code, stdout, stderr := inside(t.Context(), dir, "", append([]string{"ingest", "-q"}, line...)...); code != 0 && code != 3 {
		t.Fatalf("ingest: exit %d\n%s%s", code, stdout, stderr)
	}
}

// inParts runs a command with so little room for plans that each family of runs is a part of its own.
func inParts(t *testing.T, dir string, line ...string) {
	t.Helper()
	if code, stderr := faulty(t, &bench{writing: &writing{room: 1, line: func(string) []string { return line }}, dir: dir}, nil); code != 0 {
		t.Fatalf("%s: exit %d\n%s", strings.Join(line, " "), code, stderr)
	}
}

// TestDropsWhatManyRunsHave interrupts a plan that drops ledgers after the first of its two runs. That run is gone then, and nothing tells any
// more that files which many runs have are its own as well: the rest of the plan must find them without it.
func TestDropsWhatManyRunsHave(t *testing.T) {
	t.Parallel()
	dir, source := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "runs")
	must(t, os.CopyFS(source, os.DirFS(filepath.Join(runs, "awf"))))
	var later []string // so that the runs' own files come before them
	for _, name := range []string{"audit.jsonl", "history.db"} {
		content, err := os.ReadFile(filepath.Join(source, "storage", name))
		must(t, err)
		must(t, os.Remove(filepath.Join(source, "storage", name)))
		later = append(later, name, string(content))
	}
	call(t, dir, "ingest", source)
	for i := 0; i < len(later); i += 2 {
		written(t, filepath.Join(source, "storage", later[i]), []byte(later[i+1]))
	}
	call(t, dir, "ingest", source)
	plan := filepath.Join(t.TempDir(), "plan.json")
	all := runIDs(t, dir)
	for i, first := range all[1:] {
		second := all[i]
		call(t, dir, "prune", "--run", first, "--run", second, "--drop-ledger", "--plan", plan)
		calm, torn := filepath.Join(t.TempDir(), "calm"), filepath.Join(t.TempDir(), "torn")
		copyArchiveTo(t, dir, calm)
		copyArchiveTo(t, dir, torn)
		inParts(t, calm, "prune", "--apply", plan)
		packs := 0
		b := &bench{writing: &writing{room: 1, line: func(string) []string { return []string{"prune", "--apply", plan} }}, dir: torn}
		faulty(t, b, func(op, path string) error {
			if op == disk.OpCreate && strings.Contains(path, "packs") {
				packs++
			}
			if packs > 1 {
				return syscall.EIO
			}
			return nil
		})
		inParts(t, torn, "prune", "--apply", plan)
		if got, want := dumpViews(t, torn), dumpViews(t, calm); !slices.Equal(got, want) {
			t.Errorf("%s and %s: %s", first, second, firstDifference(got, want))
		}
	}
}

// TestPrunedKeepsItsName prunes runs that are their directory's own, of a file that has others too. What is left of it is parsed again by a
// reindex, which has no other run for what a run hints at whose statements are gone.
func TestPrunedKeepsItsName(t *testing.T) {
	t.Parallel()
	dir, source := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "source")
	samples(t, source, "opencode/stream")
	loaded(t, dir, source)
	for _, id := range runIDs(t, dir) {
		call(t, dir, "prune", "--run", id, "--allow-empty", "--yes")
		call(t, dir, "verify", "--deep")
	}
}

// TestPruneAmongKin prunes runs whose originals say something of others, and others of theirs. Nobody pays for it, no index says what its
// packs do not, and all comes back. What a crash of gc leaves is one of two ends, of which a soak takes both. Samples of an archive have
// nothing to do with each other but what is said of them here.
func TestPruneAmongKin(t *testing.T) {
	for name, c := range map[string]struct {
		samples []string
		runs    []string // by native id; none: all
		beside  string   // a file of no program, which goes with the runs around it
	}{
		"some": {samples: []string{
			"codex/unnamed-turns",                   // origin of a fork
			"codex/forks",                           // origin of several
			"pi/fork", "pi/first", "openclaw/chats", // origin and copies
			"claudecode/fork", "claudecode/layouts", // same event
			"runs/" + studio + "run-20261121-000534-vg2eqy", "runs/" + studio + "run-20261121-000540-e2k47t", // one of two contents
			"chatgpt/twice", "claudeai/twice", // some of an export
			"chatgpt/tree", // origin of a branch
		}, runs: []string{
			"019b0000-aaaa-7000-8000-000000000001",
			"019c1111-aaaa-7000-8000-000000000001", "019c1111-dddd-7000-8000-000000000004",
			"019a0000-0000-7000-8000-00000000000a", "0a000000-0000-4000-8000-00000000000b",
			"0f200000-0000-4000-8000-00000000000f", "0b000000-0000-4000-8000-00000000000b",
			"run-20261121-000534-vg2eqy",
			"c-1", "k-2",
			"00000064-0000-4000-8000-000000000064",
		}},
		"all": {samples: []string{
			"claudecode/fork", "claudecode/advisor", "codex/forks", // forks and origins
			"claudecode/lines", // only in problems
		}},
		"beside another root": {samples: []string{"opencode/early"}, beside: "opencode/notes.txt"},
		"nothing left":        {samples: []string{"awf/resumed"}},
		"torn end":            {samples: []string{"droid/output"}, runs: []string{"d0000000-0000-4000-8000-000000000042"}}, // the last of its file
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			pruneAmong(t, c.samples, c.beside, func(base string) (ids []string) {
				for _, native := range c.runs {
					ids = append(ids, runNamed(t, base, native))
				}
				return ids
			})
		})
	}
}

// TestPruneOrigin prunes a session of which another has a copy. Where that came from stays known, whichever goes first.
func TestPruneOrigin(t *testing.T) {
	t.Parallel()
	const origin, fork = "0f300000-0000-4000-8000-00000000000a", "0f300000-0000-4000-8000-00000000000b"
	line := func(session, uuid string) string {
		return `{"type":"user","sessionId":"` + session + `","uuid":"` + uuid + `","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":"weave"}}` + "\n"
	}
	source, base := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "archive")
	for name, lines := range map[string]string{origin: line(origin, "u1"), fork: line(fork, "u1") + line(fork, "u2")} {
		file := filepath.Join(source, ".claude", "projects", "-home-ada", name+".jsonl")
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		written(t, file, []byte(lines))
	}
	call(t, base, "ingest", source)
	edges := func(dir string) string {
		return call(t, dir, "sql", "--json", "SELECT kind, from_native_id, to_native_id FROM v_links WHERE counted")
	}
	id := func(native string) string {
		return runNamed(t, base, native)
	}
	whole, known := dumpViews(t, base), edges(base)
	if !strings.Contains(known, fork) {
		t.Fatalf("links are %s", known)
	}
	for _, order := range [][]string{{origin, fork}, {fork, origin}} {
		dir := filepath.Join(t.TempDir(), "archive")
		copyArchiveTo(t, base, dir)
		for _, native := range order {
			call(t, dir, "prune", "--yes", "--allow-empty", "--run", id(native))
			if got := edges(dir); got != known {
				t.Errorf("without %s links are %s", native, got)
			}
			call(t, dir, "verify", "--deep")
		}
		call(t, dir, "prune", "--undo", id(order[0]))
		call(t, dir, "prune", "--undo", id(order[1]))
		if got := dumpViews(t, dir); !slices.Equal(got, whole) {
			t.Errorf("undone: %s", firstDifference(got, whole))
		}
		call(t, dir, "verify", "--deep")
	}
}

// TestPruneAmongAnybody does the same to random runs of random samples of all formats.
func TestPruneAmongAnybody(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	for range *draws {
		some := anySamples(t, r, 8)
		pruneAmong(t, some, "", func(base string) (ids []string) {
			known := runIDs(t, base)
			for _, i := range r.Perm(len(known))[:min(len(known), 1+r.IntN(1+len(known)))] {
				ids = append(ids, known[i])
			}
			return ids
		})
		if t.Failed() {
			t.Fatalf("of %s", strings.Join(some, " "))
		}
	}
}

// anySamples returns some random samples of all formats.
func anySamples(t *testing.T, r *rand.Rand, most int) (some []string) {
	t.Helper()
	var all []string
	for _, in := range []string{filepath.Join(formats, "*", "testdata", "*", "in"), filepath.Join(runs, "*")} {
		found, err := filepath.Glob(in)
		must(t, err)
		for _, dir := range found {
			if filepath.Base(dir) == "in" {
				dir = filepath.Dir(dir)
				all = append(all, filepath.Base(filepath.Dir(filepath.Dir(dir)))+"/"+filepath.Base(dir))
			} else {
				all = append(all, "runs/"+filepath.Base(dir))
			}
		}
	}
	for _, i := range r.Perm(len(all))[:1+r.IntN(most)] {
		some = append(some, all[i])
	}
	return some
}

// pruneAmong prunes runs of samples, all of them where none are chosen. beside is a file of no program among them, if any.
func pruneAmong(t *testing.T, all []string, beside string, choose func(dir string) []string) {
	t.Helper()
	root := t.TempDir()
	source, base, plan := filepath.Join(root, "source"), filepath.Join(root, "base"), filepath.Join(root, "plan")
	samples(t, source, all...)
	if beside != "" {
		written(t, filepath.Join(source, beside), []byte("notes\n"))
	}
	loaded(t, base, "--all", source)
	line := []string{"prune", "--allow-empty", "--plan", plan}
	ids := choose(base)
	if ids == nil {
		line = append(line, "--query", "after:1970 OR before:1970")
	}
	for _, id := range ids {
		line = append(line, "--run", id)
	}
	call(t, base, line...)
	costs := func(dir string) []string {
		return strings.Split(call(t, dir, "cost", "--json", "--by", "format,model,source,agent"), "},{")
	}
	whole, paid := dumpViews(t, base), costs(base)
	one, parts, died := filepath.Join(root, "one"), filepath.Join(root, "parts"), filepath.Join(root, "died")
	copyArchiveTo(t, base, one)
	copyArchiveTo(t, base, parts)
	call(t, one, "prune", "--apply", plan)
	inParts(t, parts, "prune", "--apply", plan)
	pruned := dumpViews(t, one)
	if got := dumpViews(t, parts); !slices.Equal(got, pruned) {
		t.Errorf("in parts: %s", firstDifference(got, pruned))
	}
	if got := costs(one); !slices.Equal(got, paid) {
		t.Errorf("costs: %s", firstDifference(got, paid))
	}
	call(t, one, "verify", "--deep")
	loaded(t, one, "--all", source) // brings nothing back
	if got := dumpViews(t, one); !slices.Equal(got, pruned) {
		t.Errorf("ingested again: %s", firstDifference(got, pruned))
	}
	if !slices.Equal(pruned, whole) { // there was something to prune
		undo := []string{"prune", "--undo"}
		if beside != "" { // its ledger names a run
			for _, run := range decode[[]map[string]string](t, call(t, parts, "sql", "--json", "SELECT run_id FROM v_runs WHERE pruned = 1")) {
				undo = append(undo, run["run_id"])
			}
		}
		inParts(t, parts, undo...)
	}
	if got := dumpViews(t, parts); !slices.Equal(got, whole) {
		t.Errorf("undone: %s", firstDifference(got, whole))
	}
	copyArchiveTo(t, one, died)
	call(t, one, "gc")
	unknown(t, one, died) // as after a crash of gc before its packs were indexed
	ends := []string{one, died}
	if *draws == 1 {
		i := rand.IntN(2)
		ends = ends[i : i+1]
	}
	for _, dir := range ends {
		t.Logf("after gc: %s", filepath.Base(dir))
		call(t, dir, "gc")
		call(t, dir, "verify", "--deep")
		loaded(t, dir, "--pruned", "--all", source)
		call(t, dir, "verify", "--deep")
		if got := costs(dir); !slices.Equal(got, paid) {
			t.Errorf("all is back: costs: %s", firstDifference(got, paid))
		}
	}
}

// unknown copies the packs that an archive lacks, and does not tell its index.
func unknown(t *testing.T, from, to string) {
	t.Helper()
	packs := filesIn(t, filepath.Join(from, "packs"))
	for name, data := range packs {
		file := filepath.Join(to, "packs", name)
		if _, err := os.Stat(file); err != nil {
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			written(t, file, []byte(data))
		}
	}
}

// TestThinnedPrunedBack has a run back that was thinned, then pruned, and dropped by gc. In a reindex the ledger of the thinning is the first to tell of
// the original, whose tombstone was taken back.
func TestThinnedPrunedBack(t *testing.T) {
	t.Parallel()
	const everything = "after:1970 OR before:1970"
	source, dir := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "archive")
	samples(t, source, "pi/first")
	call(t, dir, "ingest", source)
	call(t, dir, "prune", "--query", everything, "--thin", "search", "--yes")
	call(t, dir, "prune", "--query", everything, "--allow-empty", "--yes")
	call(t, dir, "gc")
	call(t, dir, "ingest", "--pruned", source)
	call(t, dir, "verify", "--deep")
}

// TestUndoOfNothing prunes an empty original for good: it does not come back into an index of which no pack knows.
func TestUndoOfNothing(t *testing.T) {
	source, dir := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "archive")
	samples(t, source, "codex/inside")
	loaded(t, dir, source)
	tx(t, dir, 0, "prune", "--query", "before:1970 OR after:1970", "--allow-empty", "--yes", "-q")
	tx(t, dir, 0, "gc", "-q")
	tx(t, dir, 8, "prune", "--undo", "-q")
	for _, run := range decode[[]map[string]string](t, tx(t, dir, 0, "sql", "--json", "SELECT run_id FROM v_runs WHERE pruned = 1")) {
		tx(t, dir, 8, "prune", "--undo", "-q", run["run_id"])
	}
	tx(t, dir, 0, "verify", "--deep")
}
