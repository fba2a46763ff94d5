package show

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sheet lays out a run, a conversation or an event for people.
type sheet interface {
	// title begins with what is shown.
	title(title, id string)
	// fields prints names and values, which are on one line and not empty.
	fields(fields [][2]string)
	// conversations prints those of a run, a line each that begins with the id.
	conversations(all *terminal.Table)
	// event prints a part of an event, with the result of a call; nil for none.
	event(e, result *shown)
	// end ends what title began.
	end()
}

// shown is a part of an event as people see it, or the result of a call.
type shown struct {
	*search.Piece
	head   string // what it is, on one line
	body   string // harmless text; "" for none
	tool   bool   // it is what a tool got or gave
	unread bool   // body says why the text cannot be read
}

func newSheet(p *printer.Printer, o *Options) sheet {
	switch o.Format {
	case "markdown":
		return markdownSheet{p}
	case "html":
		return &htmlSheet{Printer: p, unfolded: o.Tools == "full"}
	}
	return &textSheet{Printer: p, style: p.Style(), width: p.Width()}
}

// textSheet is for terminals.
type textSheet struct {
	*printer.Printer
	style terminal.Style
	width int
	bare  bool // the event before has no body
}

func (s *textSheet) title(title, id string) {
	fmt.Fprintln(s.Out, s.style.Bold(terminal.Truncate(cmp.Or(terminal.OneLine(title), id), s.width)))
}

func (s *textSheet) fields(fields [][2]string) {
	for _, f := range fields {
		head := s.style.Dim(fmt.Sprintf("%-13s", f[0]))
		if f[0] == "original" {
			fmt.Fprintln(s.Out, head+f[1]) // whole on one line: paths are copied
			continue
		}
		fmt.Fprintln(s.Out, s.Wrap(head, f[1], strings.Repeat(" ", 13))) // wrapped, never shortened
	}
}

func (s *textSheet) conversations(all *terminal.Table) { fmt.Fprintf(s.Out, "\n%s\n", s.Fit(all)) }

// event prints a part of an event. Those that say nothing have no lines between them.
func (s *textSheet) event(e, result *shown) {
	bare := e.body == "" && result == nil
	if !bare || !s.bare {
		fmt.Fprintln(s.Out)
	}
	s.bare = bare
	marker := ""
	if e.Marked {
		marker = "> "
	}
	head := eventHead(s.width, marker+e.ID, s.FormatTime(e.Time), e.head)
	switch {
	case e.Kind == transcript.KindError || e.Failed == transcript.Yes:
		head = s.style.Red(head)
	case e.Role == "user":
		head = s.style.Green(head)
	case e.Role == "assistant" && e.Kind == transcript.KindMessage:
		head = s.style.Cyan(head)
	default:
		head = s.style.Dim(head)
	}
	fmt.Fprintln(s.Out, head)
	s.print(e)
	if result == nil {
		return
	}
	head = eventHead(s.width-2, result.ID, s.FormatTime(result.Time), result.head)
	if result.Failed == transcript.Yes {
		head = s.style.Red(head)
	} else {
		head = s.style.Dim(head)
	}
	fmt.Fprintln(s.Out, "  "+head)
	s.print(result)
}

func (s *textSheet) print(e *shown) {
	body, margin := e.body, "  "
	if e.tool {
		margin = "    "
	}
	switch {
	case body == "":
		return
	case e.unread:
		body = s.style.Red(body)
	}
	if s.width > 20 {
		body = terminal.Wrap(body, s.width-len(margin)-1)
	}
	fmt.Fprintln(s.Out, terminal.Indent(body, margin))
}

func (s *textSheet) end() {}

// markdownSheet writes texts as code, so that nothing in them is a heading, a tag or an image to fetch.
type markdownSheet struct{ *printer.Printer }

func (s markdownSheet) title(title, _ string) {
	fmt.Fprintf(s.Out, "# %s\n\n", rows.EscapeMarkdown(terminal.OneLine(title)))
}

func (s markdownSheet) fields(fields [][2]string) {
	for _, f := range fields {
		fmt.Fprintf(s.Out, "- %s: %s\n", f[0], rows.EscapeMarkdown(f[1]))
	}
}

func (s markdownSheet) conversations(all *terminal.Table) {
	fmt.Fprintf(s.Out, "\n%s\n", fence(all.Render(0, terminal.Style{})))
}

func (s markdownSheet) event(e, result *shown) {
	fmt.Fprintf(s.Out, "\n## %s\n\n`%s` %s\n\n", rows.EscapeMarkdown(e.head), e.ID, s.FormatTime(e.Time))
	s.print(e)
	if result != nil {
		fmt.Fprintf(s.Out, "`%s` %s %s\n\n", result.ID, s.FormatTime(result.Time), result.head)
		s.print(result)
	}
}

func (s markdownSheet) print(e *shown) {
	if e.body != "" {
		fmt.Fprintf(s.Out, "%s\n\n", fence(e.body))
	}
}

func (s markdownSheet) end() {}

// fence puts text into a fenced code block that nothing in it can end.
func fence(s string) string {
	ticks := "```"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	return ticks + "\n" + strings.TrimRight(s, "\n") + "\n" + ticks
}
