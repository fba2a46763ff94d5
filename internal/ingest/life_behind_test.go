package ingest_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// behind are cases of which a shorter copy changes what counts, with the reason.
var behind = map[string]string{
	"claudecode/layouts": "a line that tells whose the file is comes too late",
	"claudecode/stream":  "has output of Cursor, see there",
	"copilotcli/stream":  "only the last line of an output names the session",
	"cursor/stream":      "until a line with a time, or the last one, an output is known by all that there is of it",
	"geminicli/replaced": "what the log took back stands in the copy",
	"kimi/cli":           "a wire without an id is known by its first line",
	"mux/broken":         "messages without an id",
	"reasonix/forks":     "a copy of a fork that ends before its first prompt does not tell that the parent has what it says",
}

// TestBehind has an outdated copy of each case: its logs are shorter than those of the original, and its files have other times.
// In either order, what is in both counts once. (In which of two runs with a common history it counts is not tested.)
func TestBehind(t *testing.T) {
	t.Parallel()
	for name, in := range someCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if unlike[name]+behind[name] != "" {
				return
			}
			s := newTree(t)
			if err := os.CopyFS(filepath.Join(s.dir, "new", "ada"), os.DirFS(in)); err != nil {
				t.Fatal(err)
			}
			files := s.files()
			for _, p := range slices.Sorted(maps.Keys(files)) {
				content := files[p]
				old := "old/ada" + strings.TrimPrefix(p, "new/ada")
				first := strings.IndexByte(content, '\n') + 1
				switch ext := path.Ext(p); {
				case ext == ".json" || ext == ".gz" || ext == ".zst" || ext == ".eval" || first == 0: // no log: half a zip of Inspect is an evaluation without samples
					s.write(old, content)
				default: // its head is there, which says whose it is
					s.write(old, content[:(first+len(content))/2])
				}
			}
			whole := newWorld(t)
			whole.ingestNamed(filepath.Join(s.dir, "new/ada"))
			want := whole.formatTotals()
			for _, order := range [][]string{{"old/ada", "new/ada"}, {"new/ada", "old/ada"}} {
				w := newWorld(t)
				for _, dir := range order {
					w.ingestNamed(filepath.Join(s.dir, dir))
				}
				if got := w.formatTotals(); !slices.Equal(got, want) {
					t.Errorf("%q:\n%s", order, difference(got, want))
				}
			}
		})
	}
}

// formatTotals returns the totals of each format.
func (w *world) formatTotals() (all []string) {
	for _, line := range w.counted(false) {
		if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, `["usage"`) || strings.HasPrefix(line, `["receipts"`) {
			all = append(all, line)
		}
	}
	return all
}
