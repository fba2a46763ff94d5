package ingest_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var cases = flag.Int("cases", 1, "how many cases of each format TestNestedSources and TestBehind take; 0 is every one, 1 is one of every sixth format; other than 1, the tests of cases take all of them, those of lives ingest more in pieces, and a reindex is compared after every state, by dumps too")

// someCases returns cases of every format, by name; by default one of each format of a sixth of them.
func someCases(t *testing.T) map[string]string {
	all, err := filepath.Glob("format/*/testdata/*/in")
	if err != nil || len(all) < 150 {
		t.Fatalf("%d cases: %v", len(all), err)
	}
	r := seedtest.Rand(t)
	taken, of := map[string]string{}, map[string]int{}
	for _, i := range r.Perm(len(all)) {
		parts := strings.Split(filepath.ToSlash(all[i]), "/")
		if *cases == 1 && of[parts[1]] == 0 && r.IntN(6) > 0 {
			of[parts[1]]++ // none of this format
		}
		if of[parts[1]]++; *cases == 0 || of[parts[1]] <= *cases {
			taken[parts[1]+"/"+parts[3]] = all[i]
		}
	}
	return taken
}

// unlike are cases of which a copy in a directory of another name counts besides the original, since nothing in the files identifies the run.
var unlike = map[string]string{
	"chibi/destroyed": "an inbox alone", "chibi/empty": "empty logs", "chibi/oldest": "a context without messages", "chibi/places": "an empty log",
	"chibi/readable": "entries without ids or times", "devflow/bases": "a run without an id is called as its directory",
	"flowstudio/elsewhere": "a run is called as its directory", "sweagent/retry": "a run without attempts is called as its file",
}

// guessed are cases whose directories do not identify the program: the detected format depends on where the source begins.
var guessed = map[string]string{"openclaw/places": "sessions of an agent, in no directory agents, are like those of Pi"}

// TestNestedSources ingests each file of each case, or each directory in it, as a source before the whole case, which is then copied and
// moved: what is in several sources counts once.
func TestNestedSources(t *testing.T) {
	t.Parallel()
	for name, in := range someCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNest(t, in)
			if guessed[name] != "" {
				return
			}
			n.checkAfter("directories", n.levels...)
			w := n.checkAfter("files", n.files)
			n.checkElsewhere(w, unlike[name] == "")
			w.checkReindex(name)
		})
	}
}

// nest is a directory tree, alone in a home directory, and what an archive of it counts.
type nest struct {
	t                *testing.T
	home, tree       string
	levels           [][]string // the directories in it, the innermost first
	files            []string
	counted, tallied []string
}

// strayedUsage lists usage that counts in a conversation which has only copied what it belongs to, and not where that counts.
const strayedUsage = `WITH beside AS (SELECT u.usage_id, u.path, u.counted AS used, e.verdict FROM v_usage u JOIN v_events e USING (source, path, version)
	WHERE CASE WHEN u.line IS NULL THEN e.offset <= u.offset + u.length AND u.offset <= e.offset + e.length ELSE e.line = u.line END)
	SELECT path FROM beside GROUP BY usage_id
	HAVING sum(used AND verdict = 'copied history') AND NOT sum(used AND verdict = 'counted') AND sum(NOT used AND verdict = 'counted')`

func newNest(t *testing.T, in string) *nest {
	n := &nest{t: t, home: filepath.Join(t.TempDir(), "home", "ada")}
	n.tree = filepath.Join(n.home, "tree")
	if err := os.CopyFS(n.tree, os.DirFS(in)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(n.tree, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || p == n.tree:
		case e.IsDir():
			depth := strings.Count(p[len(n.tree):], string(filepath.Separator))
			n.levels = append(n.levels, make([][]string, max(0, depth-len(n.levels)))...)
			n.levels[depth-1] = append(n.levels[depth-1], p)
		default:
			n.files = append(n.files, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(n.levels)
	w := newWorld(t)
	w.ingestNamed(append(slices.Concat(append(n.levels, n.files)...), n.tree)...) // together they are one source
	n.counted, n.tallied = w.counted(true), w.counted(false)
	if strayed := w.query(strayedUsage); len(strayed) > 0 {
		t.Errorf("usage counts where the fork of a conversation has copied the answer: %q", strayed)
	}
	link := filepath.Join(n.home, "link")
	if err := os.Symlink(n.tree, link); err != nil {
		t.Fatal(err)
	}
	for _, p := range append(slices.Concat(n.levels...), link) {
		w.ingestNamed(p)
	}
	if got := w.counted(true); !slices.Equal(got, n.counted) {
		t.Errorf("what lies in it later:\n%s", difference(got, n.counted))
	}
	if sources := w.query("SELECT DISTINCT source FROM v_files"); len(sources) > 1 {
		t.Errorf("sources %q", sources)
	}
	return n
}

// checkAfter ingests the tree after sources inside it, and expects what the tree alone counts.
func (n *nest) checkAfter(what string, places ...[]string) *world {
	n.t.Helper()
	w := newWorld(n.t)
	for _, some := range places {
		if len(some) > 0 {
			w.ingestNamed(some...)
		}
	}
	w.ingestNamed(n.tree)
	if got := w.counted(true); !slices.Equal(got, n.counted) {
		n.t.Errorf("%s first:\n%s", what, difference(got, n.counted))
		for _, p := range slices.Concat(places...) {
			one := newWorld(n.t)
			one.ingestNamed(p)
			one.ingestNamed(n.tree)
			if got := one.counted(true); !slices.Equal(got, n.counted) {
				n.t.Errorf("%s first:\n%s", strings.TrimPrefix(p, n.tree), difference(got, n.counted))
			}
		}
	}
	return w
}

// checkElsewhere ingests a copy of the tree, and the tree after its home directory was moved.
func (n *nest) checkElsewhere(w *world, same bool) {
	n.t.Helper()
	copied := filepath.Join(filepath.Dir(filepath.Dir(n.home)), "mnt", "copy")
	if err := os.CopyFS(copied, os.DirFS(n.tree)); err != nil {
		n.t.Fatal(err)
	}
	moved := filepath.Join(filepath.Dir(n.home), "bob")
	if err := os.Rename(n.home, moved); err != nil {
		n.t.Fatal(err)
	}
	for _, p := range []string{copied, filepath.Join(moved, filepath.Base(n.tree))} {
		w.ingestNamed(p)
		if got := w.counted(false); same && !slices.Equal(got, n.tallied) {
			n.t.Errorf("%s:\n%s", p, difference(got, n.tallied))
		}
	}
	if err := os.Rename(moved, n.home); err != nil {
		n.t.Fatal(err)
	}
}

// ingestNamed ingests paths as the command line does.
func (w *world) ingestNamed(places ...string) {
	w.t.Helper()
	roots, err := source.Resolve(w.t.Context(), w.index, places)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Run(w.t.Context(), roots); err != nil {
		w.t.Fatal(err)
	}
}

// countedRows selects the counted rows of the views, without ids that depend on paths.
const countedRows = `SELECT json_array('run', format, native_id, conversations, events, messages, tool_calls, tool_results, input_tokens, output_tokens, cost_microusd)
		FROM v_runs WHERE counted
	UNION ALL SELECT json_array('conversation', c.format, r.native_id, c.native_id) FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.counted
	UNION ALL SELECT json_array('usage', format, count(*), sum(input_tokens), sum(output_tokens), sum(cost_microusd)) FROM v_usage WHERE counted GROUP BY format
	UNION ALL SELECT json_array('receipts', format, kind, count(*)) FROM v_receipts WHERE counted GROUP BY format, kind
	UNION ALL SELECT json_array('link', format, kind, from_native_id, to_native_id) FROM v_links WHERE counted`

// counted returns the totals and the counted rows of the views, without ids that depend on paths; problems includes the number of problems.
func (w *world) counted(problems bool) (all []string) {
	w.t.Helper()
	for name, sums := range w.totals().Formats {
		c := countsOf(sums)
		if !problems {
			c.problems = 0
		}
		if c != (counts{}) {
			all = append(all, fmt.Sprintf("%s %+v", name, c))
		}
	}
	all = append(all, w.query(countedRows)...)
	slices.Sort(all)
	return all
}

// difference lists the lines that only one of two lists has.
func difference(got, want []string) string {
	var b strings.Builder
	left := map[string]int{}
	for _, line := range want {
		left[line]++
	}
	for _, line := range got {
		if left[line]--; left[line] < 0 {
			fmt.Fprintln(&b, "  +", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(left)) {
		if left[line] > 0 {
			fmt.Fprintln(&b, "  -", line)
		}
	}
	return b.String()
}
