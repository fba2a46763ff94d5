package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/txarchive/txarchive/internal/transcript"
)

// terminal says whether a stream is one, or goes to one through a pager, and how wide.
func terminal(stream any) (width int, ok bool) {
	if paged, ok := stream.(interface{ columns() int }); ok {
		return paged.columns(), true
	}
	if results, ok := stream.(*outlet); ok {
		stream = results.to
	}
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width, true
	}
	return 80, true
}

// outlet is where results go. It remembers that they did not arrive, so that no command need look at every line that it
// prints, and none is fine when the disk under its results was full.
type outlet struct {
	to       io.Writer
	optional bool // it does not matter that nobody reads them any more
	failed   error
}

func (o *outlet) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if o.optional && errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

// colored says whether a stream gets colors.
func (a *app) colored(stream io.Writer) bool {
	switch {
	case a.color == "always":
		return true
	case a.color == "never", a.getenv("NO_COLOR") != "", a.getenv("TERM") == "dumb":
		return false
	}
	_, ok := terminal(stream)
	return ok
}

// ink colors what people read; the zero value leaves it as it is.
type ink struct{ on bool }

func (a *app) ink() ink { return ink{a.colored(a.out)} }

func (i ink) paint(s, code string) string {
	if !i.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (i ink) bold(s string) string   { return i.paint(s, "1") }
func (i ink) dim(s string) string    { return i.paint(s, "2") }
func (i ink) red(s string) string    { return i.paint(s, "31") }
func (i ink) green(s string) string  { return i.paint(s, "32") }
func (i ink) yellow(s string) string { return i.paint(s, "33") }
func (i ink) cyan(s string) string   { return i.paint(s, "36") }
func (i ink) mark(s string) string   { return i.paint(s, "1;33") }

// width is how many columns a line of output may have; 0 is any number, as in a pipe.
func (a *app) width() int {
	w, _ := terminal(a.out)
	return w
}

// wrapped is words behind a lead, which go on below margin where the terminal is narrow.
func (a *app) wrapped(lead, words, margin string) string {
	var b strings.Builder
	b.WriteString(lead)
	width, used := a.width(), widthOf(lead)
	for i, word := range strings.Split(words, " ") {
		n := widthOf(word)
		switch {
		case i == 0:
		case width > 0 && used+1+n > width:
			b.WriteString("\n" + margin)
			used = len(margin)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// folded is a text in lines of a width, with nothing behind their last words.
func folded(s string, width int) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// size is bytes for people.
func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// number is a count for people.
func number[N int | int64](n N) string { return humanize.Comma(int64(n)) }

// known is a count that may be unknown.
func known(n *int64) string {
	if n == nil {
		return "-"
	}
	return number(*n)
}

// dollars is micro-USD for people, "-" when unknown.
func dollars(micro *int64) string {
	if micro == nil {
		return "-"
	}
	return "$" + humanize.FormatFloat("#,###.####", float64(*micro)/1e6)
}

// when is an instant for people: local time, or UTC with --utc. Empty when it is not stated.
func (a *app) when(t transcript.Time) string {
	if !t.Valid {
		return ""
	}
	return a.clock(time.UnixMicro(t.UnixMicro))
}

func (a *app) clock(t time.Time) string { return a.dated(t, time.DateTime) }

// minute is a time without its seconds.
func (a *app) minute(t time.Time) string { return a.dated(t, "2006-01-02 15:04") }

func (a *app) dated(t time.Time, layout string) string {
	if a.utc {
		layout += "Z"
	}
	return t.In(a.location()).Format(layout)
}

// location is the zone of dates that people type.
func (a *app) location() *time.Location {
	if a.utc {
		return time.UTC
	}
	return time.Local
}

// stampLayout is how scripts get times: RFC 3339 in UTC.
const stampLayout = "2006-01-02T15:04:05.000000Z"

// instant is a time in a report, null for scripts when it is zero.
type instant struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t instant) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(t.UTC().Format(`"` + stampLayout + `"`)), nil
}

// wire is the time of a record for scripts, nil when it is not stated.
func wire(t transcript.Time) *string {
	if !t.Valid {
		return nil
	}
	return new(time.UnixMicro(t.UnixMicro).UTC().Format(stampLayout))
}

// text of an optional value for scripts: null when it is unknown.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func count(c transcript.Count) *int64 {
	if !c.Known {
		return nil
	}
	return &c.N
}

// indent puts a margin before every line.
func indent(s, margin string) string {
	return margin + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+margin)
}

// plural is "1 file" or "2,000 files".
func plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}
