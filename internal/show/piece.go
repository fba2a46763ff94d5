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

// piece prints one part of an event for people, with the result of a call below it.
func (v *viewer) piece(ctx context.Context, p *search.Piece) {
	tool := p.Kind == transcript.KindToolCall || p.Kind == transcript.KindToolResult
	if tool && v.o.Tools == "none" {
		return
	}
	fmt.Fprintln(v.Out)
	v.heading(p)
	v.body(ctx, p, tool)
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
	v.body(ctx, p, true)
}

// toolText returns the input of a call, with names, or what a tool gave.
func (v *viewer) toolText(ctx context.Context, p *search.Piece) string {
	lines := []string{toolcall.WithoutName(p.Text, p.Tool)}
	if call := v.call(ctx, p); call.Input.Exists() {
		lines = append(call.Fields(), terminal.NonEmpty(call.Rest)...)
	}
	if v.o.Tools != "short" {
		return terminal.Clean(strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		lines[i] = terminal.OneLine(line)
	}
	short := strings.Join(lines, ", ")
	if terminal.Width(short) > maxShortText {
		short = terminal.Truncate(short, maxShortText) + "  (" + terminal.Bytes(int64(len(p.Text))) + ", --tools full shows all)"
	}
	return short
}

// call returns what the bytes of a call say about its input, nothing for other pieces.
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

// maxShortText is how many columns of a tool's input or output are shown with --tools short.
const maxShortText = 160

func (v *viewer) body(ctx context.Context, p *search.Piece, tool bool) {
	if p.Err != nil {
		fmt.Fprintln(v.Out, v.style.Red("    cannot be read: "+terminal.OneLine(p.Err.Error())))
		return
	}
	body := terminal.Clean(p.Text)
	if tool {
		body = v.toolText(ctx, p)
	}
	if strings.TrimSpace(body) == "" {
		return
	}
	if v.o.Format == "markdown" { // as code, so that nothing in it is a heading, a tag or an image to fetch
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

// fence puts text into a fenced code block that nothing in it can end.
func fence(s string) string {
	ticks := "```"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	return ticks + "\n" + strings.TrimRight(s, "\n") + "\n" + ticks
}
