package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/cost"
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
	c := chartOf(chartReport([]string{"day", "model"}, []string{"2026-03-01", "a"}, []string{"2026-03-04", "a"}, []string{"2026-03-04", "b"}))
	want := `2026-03-01  ████                  $1.0000
2026-03-02                        $0.0000
2026-03-03                        $0.0000
2026-03-04  ████████████████████  $5.0000

a  ▄  █  $3.0000
b     █  $3.0000`
	if got := c.draw(41, ink{}); got != want {
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
	if got := chartOf(r).draw(25, ink{}); got != want {
		t.Errorf("drawn is\n%s\nnot\n%s", got, want)
	}
	if got := chartOf(chartReport([]string{"project"}, []string{"x"}, []string{"\x1b[31my"})).draw(30, ink{}); strings.Contains(got, "\x1b") || !strings.Contains(got, "x  ") {
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
	if got := spark([]float64{1, 1, 4, 4, 0, 0}, 3); got != "▂█ " {
		t.Errorf("%q", got)
	}
}

// Names of models and projects are hostile text: in a picture they are text, and nothing runs or is loaded.
func TestChartFilesAreInert(t *testing.T) {
	var rows [][]string // the last ones are the largest
	for i := range 20 {
		rows = append(rows, []string{"2026-04-01", strings.Repeat("m", i+1)})
	}
	rows = append(rows, [][]string{{"2026-03-01", `</text><script>alert(1)</script>`}, {"2026-03-02", `"><img src=x onerror=alert(1)> & <b>`}, {"2026-03-02", "ä 日本 \x1b[31m\x00"}}...)
	r := chartReport([]string{"day", "project"}, rows...)
	reason := "<i>because</i>"
	r.Unpriced = []cost.Unpriced{{Model: &reason, Reason: reason}}
	a := newApp()
	for _, name := range []string{"c.svg", "c.html"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 { // the second replaces the first
			must(t, a.writeChart(path, r))
		}
		b, err := os.ReadFile(path)
		must(t, err)
		text := string(b)
		for _, bad := range []string{"<script", "<img", "<i>", "<b>", "href", "url(", "@import", "\x1b", "\x00"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
		for _, address := range strings.Split(text, "://")[1:] {
			if !strings.HasPrefix(address, "www.w3.org/") { // names of XML, which nothing fetches
				t.Errorf("%s names %.40q", name, address)
			}
		}
		if !strings.Contains(text, "&lt;script&gt;") || strings.Count(text, "<rect") < 10 {
			t.Errorf("%s: %s", name, text)
		}
		d := xml.NewDecoder(strings.NewReader(text))
		d.Strict = name == "c.svg"
		for d.Strict {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}
