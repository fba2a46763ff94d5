package show

import (
	"context"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/toolcall"
	"github.com/txarchive/txarchive/internal/transcript"
)

// piece prints one part of an event for people, with the result of a call below it. Events that say nothing have no lines between them.
func (v *viewer) piece(ctx context.Context, p *search.Piece) {
	tool := p.Kind == transcript.KindToolCall || p.Kind == transcript.KindToolResult
	if tool && v.o.Tools == "none" {
		return
	}
	body := v.body(ctx, p, tool)
	bare := body == "" && (p.Result == nil || p.Result.ID == p.ID) && v.o.Format != "markdown"
	if !bare || !v.bare {
		fmt.Fprintln(v.Out)
	}
	v.bare = bare
	v.heading(p)
	v.print(body, tool)
	if p.Result != nil && p.Result.ID != p.ID {
		v.result(ctx, p.Result)
	}
}

func (v *viewer) heading(p *search.Piece) {
	head := describe(&p.Event)
	if p.Failed == transcript.Yes {
		head += ", failed"
	}
	if !p.Counted && p.Part == 0 && p.Verdict != "" && p.Verdict != transcript.Counted {
		head += ", " + string(p.Verdict)
	}
	if v.o.Format == "markdown" {
		fmt.Fprintf(v.Out, "## %s\n\n`%s` %s\n\n", rows.EscapeMarkdown(terminal.OneLine(head)), p.ID, v.FormatTime(p.Time))
		return
	}
	marker := ""
	if p.Marked {
		marker = "> "
	}
	head = eventHead(v.width, marker+p.ID, v.FormatTime(p.Time), head)
	switch {
	case p.Kind == transcript.KindError || p.Failed == transcript.Yes:
		head = v.style.Red(head)
	case p.Role == "user":
		head = v.style.Green(head)
	case p.Role == "assistant" && p.Kind == transcript.KindMessage:
		head = v.style.Cyan(head)
	default:
		head = v.style.Dim(head)
	}
	fmt.Fprintln(v.Out, head)
}

// result prints the result of a call.
func (v *viewer) result(ctx context.Context, p *search.Piece) {
	word := "result"
	switch p.Failed {
	case transcript.Yes:
		word = "failed"
	case transcript.No:
		word = "succeeded"
	}
	if v.o.Format == "markdown" {
		fmt.Fprintf(v.Out, "`%s` %s %s\n\n", p.ID, v.FormatTime(p.Time), word)
	} else {
		head := eventHead(v.width-2, p.ID, v.FormatTime(p.Time), word)
		if p.Failed == transcript.Yes {
			head = v.style.Red(head)
		} else {
			head = v.style.Dim(head)
		}
		fmt.Fprintln(v.Out, "  "+head)
	}
	v.print(v.body(ctx, p, true), true)
}

// body returns what is shown of the text of a piece; "" for nothing.
func (v *viewer) body(ctx context.Context, p *search.Piece, tool bool) string {
	if p.Err != nil {
		text := "cannot be read: " + terminal.OneLine(p.Err.Error())
		if v.o.Format == "markdown" {
			return text
		}
		return v.style.Red(text)
	}
	text := p.Text
	if tool {
		text = v.toolText(ctx, p)
	}
	text = terminal.Clean(text)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	if tool && v.o.Tools == "short" {
		text = shorten(text)
	}
	return text
}

// print prints the body of a piece.
func (v *viewer) print(body string, tool bool) {
	switch {
	case body == "":
		return
	case v.o.Format == "markdown": // as code, so that nothing in it is a heading, a tag or an image to fetch
		fmt.Fprintf(v.Out, "%s\n\n", fence(body))
		return
	}
	margin := "  "
	if tool {
		margin = "    "
	}
	if v.width > 20 {
		body = terminal.Wrap(body, v.width-len(margin)-1)
	}
	fmt.Fprintln(v.Out, terminal.Indent(body, margin))
}

// toolText returns the input of a call, with the names of its fields, or what a tool gave.
func (v *viewer) toolText(ctx context.Context, p *search.Piece) string {
	if call := v.call(ctx, p); call.Input.Exists() {
		return strings.Join(append(call.Fields(), terminal.NonEmpty(call.Rest)...), "\n")
	}
	return toolcall.WithoutName(p.Text, p.Tool)
}

// call returns what the bytes of a call say about its input, nothing for other pieces. They are compared with the text, so that nothing is
// shown that --redact has removed from it.
func (v *viewer) call(ctx context.Context, p *search.Piece) (call toolcall.Call) {
	if p.Kind != transcript.KindToolCall {
		return call
	}
	raw, err := v.store.Raw(ctx, p.Place)
	if err != nil {
		return call // the text could be read, and is shown without names
	}
	return toolcall.Parse(raw, p.Tool, p.Text)
}

// maxShortLines and maxShortText are how many lines, and columns in all of them, are shown of a tool's input or output with --tools short.
const (
	maxShortLines = 6
	maxShortText  = 320
)

// shorten returns the first lines of a text, with a note of how long it is if that is not all of it.
func shorten(text string) string {
	text = strings.Trim(text, "\n")
	note := "…  (" + terminal.Bytes(int64(len(text))) + ", --tools full shows all)"
	lines := strings.SplitN(text, "\n", maxShortLines+1)
	left := maxShortText
	for i, line := range lines {
		switch width := terminal.Width(line); {
		case i == maxShortLines || left == 0:
			return strings.Join(append(lines[:i], note), "\n")
		case width > left:
			lines[i] = strings.TrimSuffix(terminal.Truncate(line, left), "…") + note
			return strings.Join(lines[:i+1], "\n")
		default:
			left -= width
		}
	}
	return text
}

// fence puts text into a fenced code block that nothing in it can end.
func fence(s string) string {
	ticks := "```"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	return ticks + "\n" + strings.TrimRight(s, "\n") + "\n" + ticks
}
