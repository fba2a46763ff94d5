package show

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// timeline prints everything in a run in order of time. For a conversation or an event it is the run that it belongs to.
func (v *viewer) timeline(ctx context.Context, what lookup.Target) error {
	o := v.o.search()
	o.Around = what.Event
	line, err := v.search.Timeline(ctx, what.Run, o)
	if err != nil {
		return err
	}
	show := v.timelineRows(line.Conversations)
	switch {
	case v.o.Format == "json":
		show = func(p *search.Piece) error { return v.PrintJSON(v.pieceJSON(ctx, p)) }
	case v.o.Format == "markdown" || v.o.Tools == "full":
		show = func(p *search.Piece) error { v.piece(ctx, p); return nil }
	}
	if v.o.Format != "json" {
		if err := v.header(ctx, &line.Run); err != nil {
			return err
		}
	}
	for p, err := range line.Rows {
		if err == nil {
			v.noteUnread(&p)
			err = show(&p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// timelineRows returns a function that prints a piece on one line, below its day and its conversation when these change.
func (v *viewer) timelineRows(all []index.Conversation) func(*search.Piece) error {
	names := map[string]string{}
	for i := range all {
		c := &all[i]
		names[c.ID] = terminal.FirstNonEmpty(strings.Join(terminal.NonEmpty(c.Step, c.Agent), ", "), c.Title, c.NativeID)
	}
	day, conversation := "", ""
	return func(p *search.Piece) error {
		if v.o.Tools == "none" && (p.Kind == transcript.KindToolCall || p.Kind == transcript.KindToolResult) {
			return nil
		}
		date, clock := v.dayAndTime(p.Time)
		if conversation == "" || date != "" && date != day {
			fmt.Fprintln(v.Out)
		}
		if date != "" && date != day {
			day = date
			fmt.Fprintln(v.Out, v.style.Bold(date))
		}
		if p.Conversation != conversation {
			conversation = p.Conversation
			head := strings.Join(terminal.NonEmpty(p.Conversation, names[p.Conversation]), "  ")
			fmt.Fprintln(v.Out, v.style.Cyan(terminal.Truncate("── "+head, v.width)))
		}
		fmt.Fprintln(v.Out, v.timelineRow(p, clock))
		return nil
	}
}

// dayAndTime returns the date and the time of an event.
func (v *viewer) dayAndTime(t transcript.Time) (day, clock string) {
	if !t.Valid {
		return "", ""
	}
	at := time.UnixMicro(t.UnixMicro).In(v.Location())
	return at.Format("2006-01-02"), at.Format("15:04:05")
}

// maxTimelineText is how many columns of text a line of the timeline has if no terminal tells its width.
const maxTimelineText = 160

// timelineRow formats a piece on one line: time, number in its conversation, speaker or action, and the start of its text.
func (v *viewer) timelineRow(p *search.Piece, clock string) string {
	number := p.ID[strings.IndexByte(p.ID, ':')+1:]
	marker := "  "
	if p.Marked {
		marker = "> "
	}
	who := speaker(p)
	head := fmt.Sprintf("%s%-8s  %-4s  ", marker, clock, number)
	body := terminal.OneLine(p.Text)
	if p.Err != nil {
		body = "cannot be read: " + terminal.OneLine(p.Err.Error())
	}
	if rest, ok := strings.CutPrefix(body, p.Tool); ok && p.Tool != "" {
		body = strings.TrimSpace(rest)
	}
	width := maxTimelineText
	if v.width > 0 {
		width = max(v.width-terminal.Width(head), 8)
	}
	text := terminal.Truncate(strings.TrimRight(terminal.Pad(terminal.Truncate(who, width), min(14, width))+"  "+body, " "), width)
	switch {
	case p.Failed == transcript.Yes || p.Kind == transcript.KindError || p.Err != nil:
		text = v.style.Red(text)
	case p.Role == "user":
		text = v.style.Green(text)
	case p.Kind != transcript.KindMessage:
		text = v.style.Dim(text)
	}
	return v.style.Dim(head) + text
}

// speaker says in a word or two who speaks, or what happens.
func speaker(p *search.Piece) string {
	switch p.Kind {
	case transcript.KindMessage:
		return terminal.OneLine(terminal.FirstNonEmpty(p.Role, "message"))
	case transcript.KindToolCall:
		return terminal.OneLine("call " + p.Tool)
	case transcript.KindToolResult:
		if p.Failed == transcript.Yes {
			return terminal.OneLine("failed " + p.Tool)
		}
		return terminal.OneLine("result " + p.Tool)
	case transcript.KindLifecycle, transcript.KindNotice, transcript.KindUnknown:
		return terminal.OneLine(terminal.FirstNonEmpty(p.Type, string(p.Kind)))
	}
	return terminal.OneLine(string(p.Kind))
}
