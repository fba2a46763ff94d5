package ingest_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNestedSources has the directory of one run as a source of its own, and what it lies in as another, whichever comes first: what is in
// both counts once.
func TestNestedSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tree, dir string }{
		{"format/flowstudio/testdata/names/in", "swarm"},
		{"format/flowstudio/testdata/sdk/in", "swarm/runs"},
		{"../../testdata/runs/flow-studio", "swarm/runs/run-20261121-000535-yhmzca"},
		{"format/flowstudio/testdata/products/in", "swarm/runs/run-20261120-100000-abc123"},
		{"format/flowstudio/testdata/older/in", "swarm/runs/health-check"},
		{"format/flowstudio/testdata/elsewhere/in", "copy/old-run"},
		{"format/flowstudio/testdata/aside/in", "swarm/runs/_corrupt"},
		{"format/flowstudio/testdata/aside/in", "swarm/examples/good-run"},
		{"format/kimi/testdata/cli/in", "home/.kimi/sessions/0123456789abcdef0123456789abcdef"},
		{"format/kimi/testdata/cli/in", "home/.kimi/sessions/0123456789abcdef0123456789abcdef/5a000000-0000-4000-8000-0000000000c1"},
		{"format/kimi/testdata/code/in", "home/.kimi-code/sessions/wd_shop_0123456789ab/session_5a000000-0000-4000-8000-000000000001/agents/agent-0"},
		{"format/cline/testdata/zoo/in", "saoudrizwan.claude-dev/tasks/1790000000000"},
		{"format/cline/testdata/copied/in", "data/sessions/1791000000000_aaaaa"},
		{"format/cursor/testdata/chat/in", "home/.cursor/chats/0123456789abcdef0123456789abcdef/cc000000-0000-4000-8000-00000000000a"},
		{"format/cursor/testdata/rows/in", "home/.config/Cursor/User/workspaceStorage/0f"},
		{"format/copilotvscode/testdata/document/in", "Code/User/workspaceStorage/0123456789abcdef0123456789abcdef"},
	} {
		t.Run(strings.TrimPrefix(c.tree, "../../testdata/")+"/"+c.dir, func(t *testing.T) {
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
