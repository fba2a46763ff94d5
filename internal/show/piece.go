package show

import (
	"context"
	"strings"

	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/toolcall"
	"github.com/txarchive/txarchive/internal/transcript"
)

// piece prints one part of an event, with the result of a call.
func (v *viewer) piece(ctx context.Context, p *search.Piece) {
	tool := p.Kind == transcript.KindToolCall || p.Kind == transcript.KindToolResult
	if tool && v.o.Tools == "none" {
		return
	}
	head := describe(&p.Event)
	if p.Failed == transcript.Yes {
		head += ", failed"
	}
	if !p.Counted && p.Part == 0 && p.Verdict != "" && p.Verdict != transcript.Counted {
		head += ", " + string(p.Verdict)
	}
	var result *shown
	if p.Result != nil && p.Result.ID != p.ID {
		result = v.shown(ctx, p.Result, outcome(p.Result), true)
	}
	v.sheet.event(v.shown(ctx, p, head, tool), result)
}

// outcome says how a call ended.
func outcome(result *search.Piece) string {
	switch result.Failed {
	case transcript.Yes:
		return "failed"
	case transcript.No:
		return "succeeded"
	}
	return "result"
}

// shown returns what is shown of a piece.
func (v *viewer) shown(ctx context.Context, p *search.Piece, head string, tool bool) *shown {
	e := &shown{Piece: p, head: terminal.OneLine(head), tool: tool}
	if p.Err != nil {
		e.body, e.unread = "cannot be read: "+terminal.OneLine(p.Err.Error()), true
		return e
	}
	text := p.Text
	if tool {
		text = v.toolText(ctx, p)
	}
	text = terminal.Clean(text)
	switch {
	case strings.TrimSpace(text) == "":
	case tool && v.o.Tools == "short" && v.o.Format != "html": // which folds it
		e.body = shorten(text)
	default:
		e.body = text
	}
	return e
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
