package terminal

import (
	"strings"
	"testing"
)

func TestTableFits(t *testing.T) {
	g := Table{Columns: []Column{{Head: "id"}, {Head: "n", Right: true}, {Head: "title", Shorten: Truncate}, {Head: "path", Shorten: TruncateMiddle}}}
	g.Add("c123456789012", "1,234", "帮我修复这个bug：TypeError: Cannot read property 'name' of undefined!!!", "shop/.leslie/threads/thread-031e2055/x.txt")
	g.Add("c123456789012", "7", "🚀 short\x1b[31m", strings.Repeat("long/", 30))
	for _, width := range []int{40, 80, 200} {
		for _, line := range strings.Split(g.Render(width, Style{Enabled: true}), "\n") {
			if n := Width(line); n > width {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
	}
	if whole := g.Render(0, Style{}); strings.Contains(whole, "…") || strings.Contains(whole, "\x1b") {
		t.Errorf("a pipe gets a cut or colored table:\n%s", whole)
	}
}

// TestTableWide: one wide cell does not make a table many times as large as its contents.
func TestTableWide(t *testing.T) {
	g := Table{Columns: []Column{{Head: "text"}, {Head: "id"}}}
	wide := strings.Repeat("x", 1<<16)
	g.Add(wide, "c1")
	for range 1000 {
		g.Add("short", "c2")
	}
	out := g.Render(0, Style{})
	lines := strings.Split(out, "\n")
	if len(out) > 3<<20 || lines[1] != wide+"  c1" || lines[2] != "short"+strings.Repeat(" ", maxPadding-3)+"c2" {
		t.Errorf("%d bytes for %d rows, the second %q", len(out), len(lines), lines[2])
	}
}

// TestTableLean: a table drops columns by rank before it shortens names beyond recognition.
func TestTableLean(t *testing.T) {
	g := &Table{Columns: []Column{{Head: "model", Shorten: TruncateMiddle}, {Head: "in", Right: true, DropRank: 2}, {Head: "cost", Right: true}, {Head: "share", Right: true, DropRank: 1}}}
	g.Add("claude-sonnet-4-5-20250929", "12,345", "$0.2797", "99.9%")
	for width, want := range map[int]string{
		100: "model in cost share", 50: "model in cost share", 42: "model in cost share", 41: "model cost share", 34: "model cost share", 33: "model cost",
		27: "model cost", 20: "model cost",
	} {
		var heads []string
		for _, c := range g.dropColumns(width).Columns {
			heads = append(heads, c.Head)
		}
		if got := strings.Join(heads, " "); got != want {
			t.Errorf("%d columns: %s, want %s", width, got, want)
		}
	}
}

// TestTableNumbers: numbers are never shortened, only their headings.
func TestTableNumbers(t *testing.T) {
	g := &Table{Columns: []Column{{Head: "path", Shorten: Truncate}, {Head: "cost_microusd", Right: true, Shorten: Truncate}}}
	g.Add("swarm/runs/run-20261121", "1234567890")
	if got, want := g.Render(22, Style{}), "path        cost_micr…\nswarm/run…  1234567890"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if g.fits(19) {
		t.Errorf("a number is cut:\n%s", g.Render(19, Style{}))
	}
}

// TestTableHeadingsGiveWay: what a column holds tells rows apart, so headings of numbers are shortened before names get unrecognizable.
func TestTableHeadingsGiveWay(t *testing.T) {
	g := &Table{Columns: []Column{{Head: "step", Shorten: Truncate}, {Head: "input_tokens", Right: true, Shorten: Truncate}, {Head: "output_tokens", Right: true, Shorten: Truncate}}}
	g.Add("critique_tests", "3162", "512")
	g.Add("critique_reqs", "1159", "87")
	const want = "step            input_t…  output_…\ncritique_tests      3162       512\ncritique_reqs       1159        87"
	if got := g.Fit(34, Style{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTableFolds: columns that do not fit beside the first one continue below it.
func TestTableFolds(t *testing.T) {
	g := &Table{Columns: []Column{{Head: ""}, {Head: "awf", Right: true}, {Head: "leslie", Right: true}, {Head: "total", Right: true}}, Fold: true}
	g.Add("files", "17", "24", "41")
	want := "       awf  leslie\nfiles   17      24\n\n       total\nfiles     41"
	if got := g.renderFolded(20, Style{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTruncateMiddle(t *testing.T) {
	for width, want := range map[int]string{0: "claude-opus-4-2025", 20: "claude-opus-4-2025", 10: "claud…2025", 2: "c…"} {
		if got := TruncateMiddle("claude-opus-4-2025", width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	if got, want := TruncateMiddle("leslie/修复这个bug/transcript-7.txt", 20), "leslie/修…ipt-7.txt"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The day of a model says less than its name, which is cut only when that alone is too long.
	for width, want := range map[int]string{26: "claude-sonnet-4-5-20250929", 24: "claude-sonnet-4-5…250929", 18: "claude-sonnet-4-5…", 12: "claude…t-4-5"} {
		if got := TruncateMiddle("claude-sonnet-4-5-20250929", width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}
