package ingest_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// TestNestedSources has the directory of one run as a source of its own, and what it lies in as another, whichever comes first: what is in
// both counts once.
func TestNestedSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tree, dir string }{
		{"../../testdata/runs/flow-studio", "swarm"},
		{"../../testdata/runs/flow-studio", "swarm/runs"},
		{"../../testdata/runs/flow-studio", "swarm/runs/run-20261121-000535-yhmzca"},
		{"format/flowstudio/testdata/cli/in", "swarm/runs/run-20261120-100000-abc123"},
		{"format/flowstudio/testdata/products/in", "swarm/runs/run-20261120-100000-abc123"},
		{"format/flowstudio/testdata/older/in", "swarm/runs/health-check"},
		{"format/flowstudio/testdata/elsewhere/in", "copy/old-run"},
		{"format/flowstudio/testdata/aside/in", "swarm/runs/_corrupt"},
		{"format/flowstudio/testdata/aside/in", "swarm/examples/good-run"},
	} {
		t.Run(filepath.Base(filepath.Dir(c.tree))+"/"+c.dir, func(t *testing.T) {
			t.Parallel()
			tree, err := filepath.Abs(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			first, last, whole := newWorld(t), newWorld(t), newWorld(t)
			first.ingest("inner", filepath.Join(tree, c.dir), ".")
			first.ingest("outer", tree, ".")
			last.ingest("outer", tree, ".")
			last.ingest("inner", filepath.Join(tree, c.dir), ".")
			whole.ingest("outer", tree, ".")
			for order, w := range map[string]*world{"inner first": first, "outer first": last} {
				if got, want := w.counted(), whole.counted(); !maps.Equal(got, want) {
					t.Errorf("%s:\n got %+v\nwant %+v", order, got, want)
				}
				if got, want := w.ask("SELECT run_id || ' ' || native_id FROM v_runs ORDER BY 1"), whole.ask("SELECT run_id || ' ' || native_id FROM v_runs ORDER BY 1"); !slices.Equal(got, want) {
					t.Errorf("%s: runs %q, want %q", order, got, want)
				}
				w.madeAgain(order)
			}
		})
	}
}

// counted are the totals of each format.
func (w *world) counted() map[string]counts {
	w.t.Helper()
	all := map[string]counts{}
	for name, sums := range w.totals().Formats {
		all[name] = countsOf(sums)
	}
	return all
}
