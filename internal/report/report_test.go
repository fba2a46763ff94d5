package report

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/terminal"
)

// TestNarrowReport: on a narrow terminal a report stays a table with a line for each row, and keeps its keys and the cost.
func TestNarrowReport(t *testing.T) {
	month, model, spent := "2026-11", "claude-sonnet-4-5-20250929", int64(12_345_678_900)
	f := cost.Figures{Tokens: cost.Tokens{Requests: 12_345, Input: 123_400_000, Output: 12_300_000, CacheRead: 1_234_500_000}, Cost: &spent}
	r := &cost.Report{By: []string{"month", "model"}, Totals: f,
		Rows: []cost.Row{{Keys: []cost.Key{{Name: "month", Value: &month}, {Name: "model", Value: &model}}, Figures: f}}}
	for width, want := range map[int]string{
		80: "month model req in out read write cost", 55: "month model in out cost", 50: "month model out cost", 43: "month model cost", 32: "month model cost",
	} {
		lines := strings.Split(reportGrid(r, true).Fit(width, terminal.Style{}), "\n")
		if heads := strings.Join(strings.Fields(lines[0]), " "); heads != want || len(lines) != 3 {
			t.Errorf("%d columns: %q in %d lines, want %q in 3", width, heads, len(lines), want)
		}
	}
}
