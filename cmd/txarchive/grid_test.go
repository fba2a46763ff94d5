package main

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

func TestGridFits(t *testing.T) {
	g := grid{columns: []column{{head: "id"}, {head: "n", right: true}, {head: "title", flex: cut}, {head: "path", flex: cutMiddle}}}
	g.add("c123456789012", "1,234", "帮我修复这个bug：TypeError: Cannot read property 'name' of undefined!!!", "shop/.leslie/threads/thread-031e2055/x.txt")
	g.add("c123456789012", "7", "🚀 short\x1b[31m", strings.Repeat("long/", 30))
	for _, width := range []int{40, 80, 200} {
		for _, line := range strings.Split(g.render(width, ink{on: true}), "\n") {
			if n := text.StringWidthWithoutEscSequences(line); n > width {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
	}
	if whole := g.render(0, ink{}); strings.Contains(whole, "…") || strings.Contains(whole, "\x1b") {
		t.Errorf("a pipe gets a cut or colored table:\n%s", whole)
	}
}

// TestGridWide: a table is not many times what stands in it because of one wide cell.
func TestGridWide(t *testing.T) {
	g := grid{columns: []column{{head: "text"}, {head: "id"}}}
	wide := strings.Repeat("x", 1<<16)
	g.add(wide, "c1")
	for range 1000 {
		g.add("short", "c2")
	}
	out := g.render(0, ink{})
	lines := strings.Split(out, "\n")
	if len(out) > 3<<20 || lines[1] != wide+"  c1" || lines[2] != "short"+strings.Repeat(" ", farthest-3)+"c2" {
		t.Errorf("%d bytes for %d rows, the second %q", len(out), len(lines), lines[2])
	}
}

// TestGridLean: a table gives up what can be spared before it cuts names to pieces.
func TestGridLean(t *testing.T) {
	g := &grid{columns: []column{{head: "model", flex: cutMiddle}, {head: "in", right: true, spare: 2}, {head: "cost", right: true}, {head: "share", right: true, spare: 1}}}
	g.add("claude-sonnet-4-5-20250929", "12,345", "$0.2797", "99.9%")
	for width, want := range map[int]string{
		100: "model in cost share", 50: "model in cost share", 42: "model in cost share", 41: "model cost share", 34: "model cost share", 33: "model cost",
		27: "model cost", 20: "model cost",
	} {
		var heads []string
		for _, c := range g.lean(width).columns {
			heads = append(heads, c.head)
		}
		if got := strings.Join(heads, " "); got != want {
			t.Errorf("%d columns: %s, want %s", width, got, want)
		}
	}
}

// TestGridNumbers: of a number nothing is ever cut, only of its head.
func TestGridNumbers(t *testing.T) {
	g := &grid{columns: []column{{head: "path", flex: cut}, {head: "cost_microusd", right: true, flex: cut}}}
	g.add("swarm/runs/run-20261121", "1234567890")
	if got, want := g.render(22, ink{}), "path        cost_micr…\nswarm/run…  1234567890"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if g.fits(19) {
		t.Errorf("a number is cut:\n%s", g.render(19, ink{}))
	}
}

// TestGridFolds: what has no room beside the first column stands below it.
func TestGridFolds(t *testing.T) {
	g := &grid{columns: []column{{head: ""}, {head: "awf", right: true}, {head: "leslie", right: true}, {head: "total", right: true}}, folds: true}
	g.add("files", "17", "24", "41")
	want := "       awf  leslie\nfiles   17      24\n\n       total\nfiles     41"
	if got := g.folded(20, ink{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCutMiddle(t *testing.T) {
	for width, want := range map[int]string{0: "claude-opus-4-2025", 20: "claude-opus-4-2025", 10: "claud…2025", 2: "c…"} {
		if got := cutMiddle("claude-opus-4-2025", width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	if got, want := cutMiddle("leslie/修复这个bug/transcript-7.txt", 20), "leslie/修…ipt-7.txt"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The day of a model says less than its name, which is cut only when that alone is too long.
	for width, want := range map[int]string{26: "claude-sonnet-4-5-20250929", 24: "claude-sonnet-4-5…250929", 18: "claude-sonnet-4-5…", 12: "claude…t-4-5"} {
		if got := cutMiddle("claude-sonnet-4-5-20250929", width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}
