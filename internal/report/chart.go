package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/chart"
	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/terminal"
)

// writeChart writes the chart of a report to the file of the options: SVG, or an HTML page that also has the numbers.
func (v *reporter) writeChart(r *cost.Report) error {
	path := v.o.Out
	picture := chart.New(r).SVG()
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		return chart.WriteFile(path, picture)
	}
	title := "What was spent, by " + terminal.OneLine(terminal.FirstNonEmpty(strings.Join(r.By, " and "), "nothing"))
	var notes []string
	for _, u := range r.Unpriced {
		which := terminal.Plural(u.Requests, "request", "requests")
		if u.Model != nil {
			which += " of " + *u.Model
		}
		notes = append(notes, terminal.OneLine(fmt.Sprintf("Cost unknown for %s: %s", which, u.Reason)))
	}
	return chart.WriteFile(path, chart.Page(title, picture, reportGrid(r, false), notes))
}
