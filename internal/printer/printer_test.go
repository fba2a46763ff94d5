package printer

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// newPrinter returns a printer that writes to buffers, in an environment.
func newPrinter(env map[string]string) (p *Printer, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	return &Printer{Out: out, Err: errs, Now: time.Now, Color: "auto", Getenv: func(key string) string { return env[key] }}, out, errs
}

// TestNote: what a note says of a transcript stays on its line, and does nothing to a terminal. Only its own words are completed.
func TestNote(t *testing.T) {
	p, out, errs := newPrinter(nil)
	p.Complete = func(format string) string { return strings.ReplaceAll(format, "txarchive", "txarchive --archive x") }
	p.Note("Try: txarchive show %s", "a\nb \x1b[31m txarchive")
	if got, want := errs.String(), "Try: txarchive --archive x show a b  txarchive\n"; got != want || out.Len() > 0 {
		t.Errorf("%q, want %q; results: %q", got, want, out)
	}
	p.Quiet = true
	p.Note("more")
	if strings.Contains(errs.String(), "more") {
		t.Error("a quiet printer notes something")
	}
}

// screen is a terminal of 20 columns.
type screen struct{ bytes.Buffer }

func (*screen) Columns() int { return 20 }

// TestMessageWidth: what is said beside the results is broken at words, below its own indentation.
func TestMessageWidth(t *testing.T) {
	p, _, _ := newPrinter(nil)
	s := new(screen)
	p.Err = s
	p.Note("two words, three words")
	p.Note("  a name  and its meaning")
	p.Message("hint: ", "`txarchive ingest` mends it")
	want := "two words, three\n  words\n  a name  and its\n    meaning\nhint: `txarchive ingest`\n  mends it\n"
	if got := s.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestListing: a list is a table or, for programs, an object per line; one without rows says so to people alone.
func TestListing(t *testing.T) {
	for _, json := range []bool{false, true} {
		for rows, want := range map[int]string{0: "", 1: "name\none\n"} {
			p, out, errs := newPrinter(nil)
			p.JSON = json
			l := p.Listing(terminal.Column{Head: "name"})
			for range rows {
				if err := l.Row(map[string]string{"name": "<one>"}, "one"); err != nil {
					t.Fatal(err)
				}
			}
			l.End("There are none.")
			if json && rows > 0 {
				want = `{"name":"<one>"}` + "\n"
			}
			if out.String() != want || (errs.Len() > 0) != (rows == 0 && !json) {
				t.Errorf("json %v, %d rows: %q, %q", json, rows, out, errs)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	p, _, errs := newPrinter(map[string]string{"TZ": "Mars/Olympus"})
	at := time.Date(2026, 11, 20, 23, 51, 14, 0, time.UTC)
	if got := p.FormatTime(transcript.Time{}); got != "" {
		t.Errorf("an unknown time is %q", got)
	}
	p.UTC = true
	for _, c := range []struct{ got, want string }{
		{p.FormatClock(at), "2026-11-20 23:51:14Z"}, {p.FormatMinute(at), "2026-11-20 23:51Z"},
		{p.FormatTime(transcript.Time{UnixMicro: at.UnixMicro(), Valid: true}), "2026-11-20 23:51:14Z"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	if _, ok := p.FormatStamp("yesterday"); ok {
		t.Error("a word is a time")
	}
	if errs.Len() > 0 {
		t.Errorf("with --utc the local zone does not matter: %s", errs)
	}
	if got := Encode([]any{Stamp(at), Stamp(time.Time{}), OrNull(""), Value[int](nil)}); got != `["2026-11-20T23:51:14.000000Z",null,null,null]` {
		t.Error(got)
	}
}
