package show

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
)

// listRuns prints runs as list does.
func listRuns(t *testing.T, o ListOptions, runs ...index.Run) string {
	t.Helper()
	var out bytes.Buffer
	p := &printer.Printer{Out: &out, Err: new(bytes.Buffer), Now: time.Now, Color: "never", UTC: true, Getenv: func(string) string { return "" }}
	_, err := List(p, o, RunColumns, func(yield func(Row, error) bool) {
		for i := range runs {
			if !yield(Row{Run: &runs[i]}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestListIsHarmless(t *testing.T) {
	r := index.Run{ID: "r1", Format: "awf", Title: "a\x1b]0;evil\ab\x1b[2J\u202ec|d", Status: "x\ny", Project: "<b>"}
	for _, format := range []string{"table", "csv", "json", "ndjson", "markdown"} {
		out := listRuns(t, ListOptions{Sort: "started", Output: format, Columns: []string{"run", "title", "status", "project"}}, r)
		if format != "csv" && strings.ContainsAny(out, "\x1b\a\u202e") {
			t.Errorf("%s: %q", format, out)
		}
		if format == "markdown" && (!strings.Contains(out, `c\|d`) || strings.Contains(out, "<b>")) {
			t.Errorf("%s: %q", format, out)
		}
	}
}

func TestListColumns(t *testing.T) {
	for _, c := range []struct {
		width int
		sort  string
		want  string
	}{
		{80, "started", "run started format status events what"},
		{80, "cost", "run started format status events cost what"},
		{100, "started", "run started format status events tokens cost what"},
		{0, "started", "run started format status events tokens cost project model tags what"},
	} {
		if got := strings.Join(ColumnNames(fitting(RunColumns, c.width, c.sort)), " "); got != c.want {
			t.Errorf("%d, %s: %s", c.width, c.sort, got)
		}
	}
	for _, all := range [][]Column{RunColumns, ConversationColumns} {
		names := ColumnNames(all)
		slices.Sort(names)
		if len(slices.Compact(names)) != len(all) {
			t.Errorf("two columns of one name: %v", names)
		}
	}
}
