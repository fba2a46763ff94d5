package show

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/transcript"
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

func TestListOrders(t *testing.T) {
	at := func(us int64) transcript.Time { return transcript.Time{UnixMicro: us, Valid: true} }
	rows := []index.Conversation{
		{ID: "r1", Started: at(5), Ended: at(6), Counts: index.Counts{Events: 2, Input: transcript.Known(7), CostUsed: transcript.Known(0)}},
		{ID: "r2", Started: at(4), Ended: at(9), Counts: index.Counts{Events: 9}},
		{ID: "r3", Started: at(3), Counts: index.Counts{Events: 4, Input: transcript.Known(3), Output: transcript.Known(5), CostUsed: transcript.Known(2)}},
		{ID: "r4", Counts: index.Counts{Events: 4, Output: transcript.Known(0)}},
	}
	for _, c := range []struct{ sort, want, reverse string }{
		{"started", "r1 r2 r3 r4", "r4 r3 r2 r1"},
		{"ended", "r2 r1 r3 r4", "r3 r4 r1 r2"},
		{"events", "r2 r3 r4 r1", "r1 r3 r4 r2"},
		{"tokens", "r3 r1 r4 r2", "r2 r4 r1 r3"},
		{"cost", "r3 r1 r2 r4", "r2 r4 r1 r3"},
	} {
		for reverse, want := range map[bool]string{false: c.want, true: c.reverse} {
			o := ListOptions{Sort: c.sort, Reverse: reverse}
			var ids []string
			for r := range o.ordered(func(yield func(Row, error) bool) {
				for i := range rows {
					if !yield(Row{Run: &index.Run{}, Conversation: &rows[i]}, nil) {
						return
					}
				}
			}) {
				ids = append(ids, r.Conversation.ID)
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("%s, reverse %v: %s, want %s", c.sort, reverse, got, want)
			}
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
