package show

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// hitPrinter prints hits for people, consecutive ones of a conversation under one heading.
type hitPrinter struct {
	*printer.Printer
	style        terminal.Style
	width        int
	conversation string
}

func (h *hitPrinter) hit(r *search.Result) {
	if r.Event.Conversation != h.conversation {
		if h.conversation != "" {
			fmt.Fprintln(h.Out)
		}
		h.conversation = r.Event.Conversation
		fmt.Fprintln(h.Out, h.heading(r))
	}
	for i := range r.Before {
		h.row(&r.Before[i].Event, r.Before[i].Snippet, false)
	}
	h.row(&r.Event, r.Snippet, true)
	for i := range r.After {
		h.row(&r.After[i].Event, r.After[i].Snippet, false)
	}
}

func (h *hitPrinter) heading(r *search.Result) string {
	agent := cmp.Or(r.Conversation.Agent, r.Run.Agent)
	title := terminal.FirstNonEmpty(r.Title(), strings.Join(terminal.NonEmpty(r.Flow(), r.Step()), " / "))
	if title == "" && agent == "" { // as lists call it
		title = terminal.FirstNonEmpty(r.Conversation.NativeID, r.Run.NativeID)
	}
	parts := terminal.NonEmpty(r.Event.Conversation, r.Place.Format, title, r.Project(), agent)
	return h.style.Bold(terminal.Truncate(strings.Join(parts, "  "), h.width))
}

func (h *hitPrinter) row(e *index.Event, s search.Snippet, found bool) {
	what := describe(e)
	if e.Verdict != "" && !e.Counted && e.Part == 0 {
		what += " (" + string(e.Verdict) + ")"
	}
	at := h.FormatTime(e.Time)
	if at == "" && e.Near > 0 { // the time by which it is sorted
		at = "~" + h.FormatClock(time.UnixMicro(e.Near))
	}
	head := eventHead(h.width-2, e.ID, at, what)
	if found {
		head = h.style.Cyan(head)
	} else {
		head = h.style.Dim(head)
	}
	fmt.Fprintln(h.Out, "  "+head)
	body := marked(h.style, s)
	if s.Err != nil {
		body = h.style.Red("cannot be read: " + terminal.OneLine(s.Err.Error()))
	}
	if body == "" {
		return
	}
	if h.width > 20 {
		body = terminal.Wrap(body, h.width-5)
	}
	fmt.Fprintln(h.Out, terminal.Indent(body, "    "))
}

// eventHead returns the line above an event: its id, time and what it is. The time gives way where a terminal is too narrow for all.
func eventHead(width int, id, at, what string) string {
	head := strings.Join(terminal.NonEmpty(id, at, what), "  ")
	if width > 0 && terminal.Width(head) > width {
		head = strings.Join(terminal.NonEmpty(id, what), "  ")
	}
	return terminal.Truncate(head, max(width, 0))
}

// describe returns the role, kind and tool of an event.
func describe(e *index.Event) string {
	words := []string{strings.ReplaceAll(string(e.Kind), "_", " ")}
	if e.Role != "" && e.Role != string(e.Kind) && e.Role != "tool" {
		words = append([]string{e.Role}, words...)
	}
	switch {
	case e.Tool != "":
		words = append(words, e.Tool)
	case e.Kind == transcript.KindLifecycle || e.Kind == transcript.KindUnknown || e.Kind == transcript.KindNotice:
		words = append(words, e.Type)
	}
	return terminal.OneLine(strings.Join(words, " "))
}

// marked returns a snippet on one line with its matches highlighted.
func marked(k terminal.Style, s search.Snippet) string {
	var b strings.Builder
	at := 0
	for _, span := range s.Highlights {
		if span.Start < at || span.End > len(s.Text) || span.Start >= span.End {
			continue
		}
		b.WriteString(collapseSpace(s.Text[at:span.Start]))
		b.WriteString(k.Highlight(collapseSpace(s.Text[span.Start:span.End])))
		at = span.End
	}
	b.WriteString(collapseSpace(s.Text[at:]))
	out := strings.TrimSpace(b.String())
	before, after := "… ", " …"
	first, _ := utf8.DecodeRuneInString(out)
	if last, _ := utf8.DecodeLastRuneInString(out); terminal.Width(string(last)) == 2 {
		after = "…"
	}
	if terminal.Width(string(first)) == 2 { // between characters like these there are no spaces, so that the mark would have a line of its own
		before = "…"
	}
	if s.Start > 0 {
		out = before + out
	}
	if s.Rest > 0 {
		out += after
	}
	return out
}

// collapseSpace is terminal.Clean with each run of white space as one space, also at the ends.
func collapseSpace(s string) string {
	s = terminal.Clean(s)
	words := strings.Join(strings.Fields(s), " ")
	if words == "" {
		if s != "" {
			return " "
		}
		return ""
	}
	if strings.TrimLeft(s, " \t\n") != s {
		words = " " + words
	}
	if strings.TrimRight(s, " \t\n") != s {
		words += " "
	}
	return words
}
