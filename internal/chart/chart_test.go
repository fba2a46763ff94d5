package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/terminal"
)

func chartReport(by []string, rows ...[]string) *cost.Report {
	r := &cost.Report{By: by}
	total := int64(0)
	for i, keys := range rows {
		micro := int64(i+1) * 1_000_000
		total += micro
		row := cost.Row{Figures: cost.Figures{Cost: &micro}}
		for j, k := range keys {
			row.Keys = append(row.Keys, cost.Key{Name: by[j], Value: &k})
		}
		r.Rows = append(r.Rows, row)
	}
	r.Totals.Cost = &total
	return r
}

func TestChartDraws(t *testing.T) {
	c := New(chartReport([]string{"day", "model"}, []string{"2026-03-01", "a"}, []string{"2026-03-04", "a"}, []string{"2026-03-04", "b"}))
	want := `2026-03-01  ████                  $1.0000
2026-03-02                        $0.0000
2026-03-03                        $0.0000
2026-03-04  ████████████████████  $5.0000

a  ▄  █  $3.0000
b     █  $3.0000`
	if got := c.Draw(41, terminal.Style{}); got != want {
		t.Errorf("drawn is\n%s\nnot\n%s", got, want)
	}
	// What has no known cost did not cost nothing; a day without usage did.
	r := chartReport([]string{"day", "model"}, []string{"2026-03-01", "a"}, []string{"2026-03-03", "b"})
	r.Rows[1].Cost = nil
	want = `2026-03-01  ████  $1.0000
2026-03-02        $0.0000
2026-03-03              -

a  █    $1.0000
b             -`
	if got := New(r).Draw(25, terminal.Style{}); got != want {
		t.Errorf("drawn is\n%s\nnot\n%s", got, want)
	}
	// A long gap is not left out without a word; what there is room for is drawn.
	r = chartReport([]string{"day"}, []string{"2024-03-01"}, []string{"2026-03-03"})
	if got, want := New(r).Draw(25, terminal.Style{}), "2024-03-01  ██    $1.0000\n…                        \n2026-03-03  ████  $2.0000"; got != want {
		t.Errorf("drawn is\n%s\nnot\n%s", got, want)
	}
	r = chartReport([]string{"day"}, []string{"2026-01-01"}, []string{"2026-02-03"})
	if got, want := New(r).Draw(25, terminal.Style{}), "2026-01-01  ██    $1.0000\n… 32 days                \n2026-02-03  ████  $2.0000"; got != want {
		t.Errorf("drawn is\n%s\nnot\n%s", got, want)
	}
	if got := strings.Count(New(chartReport([]string{"month"}, []string{"2024-03"}, []string{"2026-03"})).Draw(25, terminal.Style{}), "\n"); got != 24 {
		t.Errorf("%d months between two years, not 24", got)
	}
	if got := New(chartReport([]string{"project"}, []string{"x"}, []string{"\x1b[31my"})).Draw(30, terminal.Style{}); strings.Contains(got, "\x1b") || !strings.Contains(got, "x  ") {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		v, most float64
		want    string
	}{{0, 8, ""}, {8, 8, "█"}, {1, 8, "▏"}, {0.001, 8, "▏"}, {4, 8, "▌"}, {-1, 8, ""}, {1, 0, ""}} {
		if got := bar(c.v, c.most, 1); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.v, c.most, got, c.want)
		}
	}
	if got := sparkline([]float64{1, 1, 4, 4, 0, 0}, 3); got != "▂█ " {
		t.Errorf("%q", got)
	}
}

// TestFileNamesBars checks that each bar of a file that is no time has its name, however many there are, and that names stay in the picture.
func TestFileNamesBars(t *testing.T) {
	var rows [][]string
	for i := range 40 {
		rows = append(rows, []string{fmt.Sprintf("%02d-a-model-with-a-long-name", i)})
	}
	picture := string(New(chartReport([]string{"model"}, rows...)).SVG())
	for _, r := range rows {
		if name := terminal.TruncateMiddle(r[0], labelWidth); !strings.Contains(picture, ">"+name+"<") {
			t.Errorf("no label %s", name)
		}
	}
	// A character is some 7 pixels wide, and labels are turned by 40 degrees.
	if long := float64(labelWidth) * 7; long*0.77 > marginLeft || long*0.65+14 > marginBottom {
		t.Errorf("labels of %d characters do not fit into the margins", labelWidth)
	}
}
