package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// viewer prints what show is asked for.
type viewer struct {
	a     *app
	o     showOptions
	store *archive.Archive
	ink   ink
	width int

	unread  int64 // texts that could not be read
	because error // the first of them
}

// look notes what could not be read, and shows the rest all the same.
func (v *viewer) look(p *search.Piece) {
	for ; p != nil; p = p.Result {
		if p.Err != nil {
			if v.unread++; v.because == nil {
				v.because = p.Err
			}
		}
	}
}

// verdict is what a view ends in that went through.
func (v *viewer) verdict(err error) error {
	if err != nil || v.unread == 0 {
		return err
	}
	text := plural(v.unread, "text", "texts") + " could not be read"
	if errors.Is(v.because, blob.ErrCorrupt) || errors.Is(v.because, blob.ErrNotFound) {
		return corrupt(text, "`txarchive verify` names what is damaged and which runs it touches")
	}
	return problems(text+": "+v.because.Error(), "show --format raw prints the original bytes")
}

func (v *viewer) event(ctx context.Context, id string) error {
	view, err := v.a.searcher(v.store).Event(ctx, id, v.o.options())
	if err != nil {
		return err
	}
	return v.view(ctx, view)
}

func (v *viewer) conversation(ctx context.Context, id string) error {
	view, err := v.a.searcher(v.store).Conversation(ctx, id, v.o.options())
	if err != nil {
		return err
	}
	return v.view(ctx, view)
}

func (v *viewer) view(ctx context.Context, view *search.View) error {
	switch v.o.format {
	case "json":
		return v.json(ctx, &view.Run, []index.Conversation{view.Conversation}, func(yield func(*search.View, error) bool) { yield(view, nil) })
	case "raw":
		out := v.a.original()
		return errors.Join(v.raw(ctx, out, view.Turns), out.Close())
	case "openai":
		return v.openai(ctx, func(yield func(*search.View, error) bool) { yield(view, nil) })
	}
	c, r := &view.Conversation, &view.Run
	title := firstOf(c.Title, r.Title, c.NativeID, r.NativeID, c.ID)
	v.title(title, c.ID)
	v.fields([][2]string{
		{"conversation", c.ID}, {"run", c.Run}, {"format", c.Format}, {"agent", firstOf(c.Agent, r.Agent)}, {"model", firstOf(c.Model, r.Model)},
		{"flow", strings.Trim(firstOf(c.Flow, r.Flow)+" / "+c.Step, " /")}, {"project", firstOf(c.Project, r.Project)},
		{"time", v.span(c.Started, c.Ended)}, {"status", firstOf(c.Status, r.Status)},
		{"original", fmt.Sprintf("%s/%s, version %d", c.Key.Source, c.Key.Path, c.Key.Number)}, {"counts", verdictOf(c)},
	})
	return v.turns(view.Turns)
}

// verdictOf says why a conversation does not count; "" when it does.
func verdictOf(c *index.Conversation) string {
	if c.Verdict == "" || c.Verdict == transcript.Counted {
		return ""
	}
	if c.Of != "" {
		return "no: " + string(c.Verdict) + " of " + c.Of
	}
	return "no: " + string(c.Verdict)
}

// notCounted is the same behind the title of a conversation.
func notCounted(c *index.Conversation) string {
	if why := verdictOf(c); why != "" {
		return " (counts " + why + ")"
	}
	return ""
}

func (v *viewer) turns(turns iter.Seq2[search.Turn, error]) error {
	for t, err := range turns {
		if err != nil {
			return err
		}
		for i := range t.Pieces {
			v.look(&t.Pieces[i])
			v.piece(&t.Pieces[i])
		}
	}
	return nil
}

func (v *viewer) title(title, id string) {
	if v.o.format == "markdown" {
		fmt.Fprintf(v.a.out, "# %s\n\n", markdown(line(title)))
		return
	}
	title = cmp.Or(line(title), id)
	fmt.Fprintln(v.a.out, v.ink.bold(cut(title, v.width)))
}

// fields prints what is known of a thing.
func (v *viewer) fields(fields [][2]string) {
	for _, f := range fields {
		value := line(f[1])
		if value == "" {
			continue
		}
		if v.o.format == "markdown" {
			fmt.Fprintf(v.a.out, "- %s: %s\n", f[0], markdown(value))
			continue
		}
		head := v.ink.dim(fmt.Sprintf("%-13s", f[0]))
		if f[0] == "original" {
			fmt.Fprintln(v.a.out, head+value) // a path is copied as it stands
			continue
		}
		fmt.Fprintln(v.a.out, v.a.wrapped(head, value, strings.Repeat(" ", 13))) // whole: to be read
	}
}

// raw prints the original bytes of events, each once. An event alone comes as it stands; several are put on lines.
func (v *viewer) raw(ctx context.Context, out io.Writer, turns iter.Seq2[search.Turn, error]) error {
	n := 0
	var last []byte
	for t, err := range turns {
		if err != nil {
			return err
		}
		pieces := t.Pieces
		for _, p := range t.Pieces { // a result stands with its call, and in an event of its own
			if p.Result != nil {
				pieces = append(pieces[:len(pieces):len(pieces)], *p.Result)
			}
		}
		for _, place := range places(pieces) {
			raw, err := v.store.Raw(ctx, place)
			if err != nil {
				return err
			}
			if n++; n > 1 && len(last) > 0 && last[len(last)-1] != '\n' {
				if _, err := io.WriteString(out, "\n"); err != nil {
					return err
				}
			}
			if _, err := out.Write(raw); err != nil {
				return err
			}
			last = raw
		}
	}
	return nil
}

// places are the bytes that hold the pieces, one place for each event.
func places(pieces []search.Piece) []index.Place {
	var all []index.Place
	event := ""
	for _, p := range pieces {
		at := p.Place
		id, _, _ := strings.Cut(p.ID, ".")
		if n := len(all) - 1; n >= 0 && id == event {
			from, to := min(all[n].Offset, at.Offset), max(all[n].End(), at.End())
			all[n].Offset, all[n].Length = from, to-from
			continue
		}
		event = id
		all = append(all, at)
	}
	return all
}
