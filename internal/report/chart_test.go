package report

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

// Names of models and projects are hostile text: in a picture they are text, and nothing runs or is loaded.
func TestChartFilesAreInert(t *testing.T) {
	var rows [][]string // the last ones are the largest
	for i := range 20 {
		rows = append(rows, []string{"2026-04-01", strings.Repeat("m", i+1)})
	}
	rows = append(rows, [][]string{{"2026-03-01", `</text><script>alert(1)</script>`}, {"2026-03-02", `"><img src=x onerror=alert(1)> & <b>`}, {"2026-03-02", "ä 日本 \x1b[31m\x00"}}...)
	r := &cost.Report{By: []string{"day", "project"}}
	total := int64(0)
	for i, keys := range rows {
		micro := int64(i+1) * 1_000_000
		total += micro
		r.Rows = append(r.Rows, cost.Row{Figures: cost.Figures{Cost: &micro}, Keys: []cost.Key{{Name: "day", Value: &keys[0]}, {Name: "project", Value: &keys[1]}}})
	}
	r.Totals.Cost = &total
	reason := "<i>because</i>"
	r.Unpriced = []cost.Unpriced{{Model: &reason, Reason: reason}}
	for _, name := range []string{"c.svg", "c.html"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 { // the second replaces the first
			must(t, (&reporter{o: Options{Out: path}}).writeChart(r))
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
