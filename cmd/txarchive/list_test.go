package main

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// listRun prints runs as list does.
func listRun(t *testing.T, o listOptions, runs ...index.Run) string {
	t.Helper()
	var out bytes.Buffer
	a := &app{Printer: printer.Printer{Out: &out, Err: new(bytes.Buffer), Now: time.Now, Color: "never", UTC: true,
		Getenv: func(string) string { return "" }}, log: slog.New(slog.DiscardHandler)}
	must(t, o.settle(a, runColumns))
	w, err := newListWriter(a, o, runColumns)
	must(t, err)
	err = w.write(o.ordered(func(yield func(listRow, error) bool) {
		for i := range runs {
			if !yield(listRow{run: &runs[i]}, nil) {
				return
			}
		}
	}))
	must(t, err)
	return out.String()
}

func TestListIsHarmless(t *testing.T) {
	r := index.Run{ID: "r1", Format: "awf", Title: "a\x1b]0;evil\ab\x1b[2J\u202ec|d", Status: "x\ny", Project: "<b>"}
	for _, format := range []string{"table", "csv", "json", "ndjson", "markdown"} {
		out := listRun(t, listOptions{sort: "started", output: format, columns: []string{"run", "title", "status", "project"}}, r)
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
	runs := []index.Run{
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
			out := listRun(t, listOptions{sort: c.sort, reverse: reverse, output: "csv", columns: []string{"run"}}, runs...)
			if got := strings.Join(strings.Fields(out)[1:], " "); got != want {
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
		if got := strings.Join(columnNames(fitting(runColumns, c.width, c.sort)), " "); got != c.want {
			t.Errorf("%d, %s: %s", c.width, c.sort, got)
		}
	}
	for _, all := range [][]listColumn{runColumns, conversationColumns} {
		names := columnNames(all)
		slices.Sort(names)
		if len(slices.Compact(names)) != len(all) {
			t.Errorf("two columns of one name: %v", names)
		}
	}
}

func TestShortForms(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 12345: "12.3k", 999499: "999k", 1234567: "1.2M", 5e9: "5G"} {
		if got := terminal.CompactCount(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "1s", 90 * time.Minute: "1h", 26 * time.Hour: "26h", 80 * time.Hour: "3d"} {
		if got := terminal.Duration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	for width := 2; width < 12; width++ {
		if s := terminal.TruncateStart("/数据/库/abc", width); terminal.Width(s) > width || !strings.HasSuffix("/数据/库/abc", strings.TrimPrefix(s, "…")) {
			t.Errorf("%d: %q", width, s)
		}
	}
}

func TestTagWords(t *testing.T) {
	for tag, ok := range map[string]bool{"release": true, "v1.2": true, "要点": true, "a/b": true, "": false, "a b": false, "a,b": false,
		"*": false, `"a"`: false, "-a": false, "a\x1b[1m": false, strings.Repeat("x", 101): false} {
		if err := checkTag(tag); (err == nil) != ok {
			t.Errorf("%q: %v", tag, err)
		}
	}
}
