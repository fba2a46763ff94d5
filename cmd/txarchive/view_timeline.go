package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// timeline shows all of a run in the order of time; of a conversation, or an event, the run that it belongs to.
func (v *viewer) timeline(ctx context.Context, what thing) error {
	o := v.o.options()
	o.Around = what.event
	line, err := v.a.searcher(v.store).Timeline(ctx, what.run, o)
	if err != nil {
		return err
	}
	show := v.lane(line.Conversations)
	switch {
	case v.o.format == "json":
		show = func(p *search.Piece) error { return v.a.printJSON(toJSON(p)) }
	case v.o.format == "markdown" || v.o.tools == "full":
		show = func(p *search.Piece) error { v.piece(p); return nil }
	}
	if v.o.format != "json" {
		if err := v.header(ctx, &line.Run); err != nil {
			return err
		}
	}
	for p, err := range line.Rows {
		if err == nil {
			v.look(&p)
			err = show(&p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lane prints a row as one line, below the day and the conversation when these are others than before.
func (v *viewer) lane(all []index.Conversation) func(*search.Piece) error {
	names := map[string]string{}
	for i := range all {
		c := &all[i]
		names[c.ID] = firstOf(strings.Join(said(c.Step, c.Agent), ", "), c.Title, c.NativeID)
	}
	day, conversation := "", ""
	return func(p *search.Piece) error {
		if v.o.tools == "none" && (p.Kind == transcript.KindToolCall || p.Kind == transcript.KindToolResult) {
			return nil
		}
		date, clock := v.dayAndTime(p.Time)
		if conversation == "" || date != "" && date != day {
			fmt.Fprintln(v.a.out)
		}
		if date != "" && date != day {
			day = date
			fmt.Fprintln(v.a.out, v.ink.bold(date))
		}
		if p.Conversation != conversation {
			conversation = p.Conversation
			head := strings.Join(said(p.Conversation, names[p.Conversation]), "  ")
			fmt.Fprintln(v.a.out, v.ink.cyan(cut("── "+head, v.width)))
		}
		fmt.Fprintln(v.a.out, v.moment(p, clock))
		return nil
	}
}

// dayAndTime are the two halves of when an event was.
func (v *viewer) dayAndTime(t transcript.Time) (day, clock string) {
	if !t.Valid {
		return "", ""
	}
	at := time.UnixMicro(t.UnixMicro).In(v.a.location())
	return at.Format("2006-01-02"), at.Format("15:04:05")
}

// momentText is how much of a text stands on a line of the timeline where no terminal says how wide it is.
const momentText = 160

// moment is one row on one line: time, number in its conversation, who or what, and how its text begins.
func (v *viewer) moment(p *search.Piece, clock string) string {
	number := p.ID[strings.IndexByte(p.ID, ':')+1:]
	marker := "  "
	if p.Marked {
		marker = "> "
	}
	who := actor(p)
	head := fmt.Sprintf("%s%-8s  %-4s  ", marker, clock, number)
	body := line(p.Text)
	if p.Err != nil {
		body = "cannot be read: " + line(p.Err.Error())
	}
	if rest, ok := strings.CutPrefix(body, p.Tool); ok && p.Tool != "" {
		body = strings.TrimSpace(rest)
	}
	room := momentText
	if v.width > 0 {
		room = max(v.width-widthOf(head), 8)
	}
	said := cut(strings.TrimRight(text.Pad(cut(who, room), min(14, room), ' ')+"  "+body, " "), room)
	switch {
	case p.Failed == transcript.Yes || p.Kind == transcript.KindError || p.Err != nil:
		said = v.ink.red(said)
	case p.Role == "user":
		said = v.ink.green(said)
	case p.Kind != transcript.KindMessage:
		said = v.ink.dim(said)
	}
	return v.ink.dim(head) + said
}

// actor says in a word or two who speaks or what happens.
func actor(p *search.Piece) string {
	switch p.Kind {
	case transcript.KindMessage:
		return line(firstOf(p.Role, "message"))
	case transcript.KindToolCall:
		return line("call " + p.Tool)
	case transcript.KindToolResult:
		if p.Failed == transcript.Yes {
			return line("failed " + p.Tool)
		}
		return line("result " + p.Tool)
	case transcript.KindLifecycle, transcript.KindNotice, transcript.KindUnknown:
		return line(firstOf(p.Type, string(p.Kind)))
	}
	return line(string(p.Kind))
}
