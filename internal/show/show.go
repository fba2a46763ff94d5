// Package show prints runs, conversations, events and hits: one of them in full, many as a list, a run with its sub-runs as a tree. For
// people it makes everything harmless that a transcript may contain; for programs it has the JSON of each.
package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Options say what of a run, conversation or event is shown, and how.
type Options struct {
	Format   string // text, markdown, html, json, raw or openai
	Tools    string // tool inputs and outputs: short, full or none
	First    int    // events, from the first
	Last     int    // events, up to the last
	Context  int    // events around the one that is shown
	Versions bool   // the originals and their versions instead
	Timeline bool   // all of a run in order of time
	All      bool   // documents beside conversations, copies and earlier versions, too
}

// viewer shows runs, conversations and events of an archive.
type viewer struct {
	*printer.Printer
	o      Options
	store  *archive.Archive
	search *search.Searcher
	sheet  sheet
	style  terminal.Style
	width  int

	unreadTexts int64 // texts that could not be read
	unreadErr   error // the first of them
}

// One prints the run, conversation or event that an id names. The searcher reads the texts; those that cannot be read do not stop it, and
// are the error at its end.
func One(ctx context.Context, p *printer.Printer, store *archive.Archive, texts *search.Searcher, what lookup.Target, o Options) error {
	v := &viewer{Printer: p, o: o, store: store, search: texts, sheet: newSheet(p, &o), style: p.Style(), width: p.Width()}
	err := v.show(ctx, what)
	if err == nil {
		v.sheet.end()
	}
	return v.finish(err)
}

func (v *viewer) show(ctx context.Context, what lookup.Target) error {
	switch {
	case v.o.Versions:
		return v.versions(ctx, what)
	case v.o.Timeline:
		return v.timeline(ctx, what)
	case what.Event != "":
		return v.event(ctx, what.Event)
	case what.Conversation != "":
		return v.conversation(ctx, what.Conversation)
	}
	return v.run(ctx, what.Run)
}

func (o *Options) search() search.ShowOptions {
	s := search.ShowOptions{Before: o.Context, After: o.Context, Limit: o.First, Duplicates: o.All}
	if o.Last > 0 {
		s.Limit, s.Last = o.Last, true
	}
	return s
}

// noteUnread records texts that could not be read. The rest is shown all the same.
func (v *viewer) noteUnread(p *search.Piece) {
	for ; p != nil; p = p.Result {
		if p.Err != nil {
			if v.unreadTexts++; v.unreadErr == nil {
				v.unreadErr = p.Err
			}
		}
	}
}

// finish returns err, or the error for texts that could not be read; nil for none.
func (v *viewer) finish(err error) error {
	if err != nil || v.unreadTexts == 0 {
		return err
	}
	text := terminal.Plural(v.unreadTexts, "text", "texts") + " could not be read"
	if errors.Is(v.unreadErr, blob.ErrCorrupt) || errors.Is(v.unreadErr, blob.ErrNotFound) {
		return failure.Corrupt(text, "`txarchive verify` lists what is damaged and which runs are affected")
	}
	return failure.Problems(text+": "+v.unreadErr.Error(), "show --format raw prints the original bytes")
}

func (v *viewer) event(ctx context.Context, id string) error {
	view, err := v.search.Event(ctx, id, v.o.search())
	if err != nil {
		return err
	}
	return v.view(ctx, view)
}

func (v *viewer) conversation(ctx context.Context, id string) error {
	view, err := v.search.Conversation(ctx, id, v.o.search())
	if err != nil {
		return err
	}
	return v.view(ctx, view)
}

func (v *viewer) view(ctx context.Context, view *search.View) error {
	switch v.o.Format {
	case "json":
		return v.json(ctx, &view.Run, []index.Conversation{view.Conversation}, func(yield func(*search.View, error) bool) { yield(view, nil) })
	case "raw":
		out := v.RawOutput()
		return errors.Join(v.raw(ctx, out, view.Turns), out.Close())
	case "openai":
		return v.openai(ctx, func(yield func(*search.View, error) bool) { yield(view, nil) })
	}
	c, r := &view.Conversation, &view.Run
	title := terminal.FirstNonEmpty(c.Title, r.Title, c.NativeID, r.NativeID, c.ID)
	v.sheet.title(title, c.ID)
	tokens, cost := used(&c.Counts.Used)
	v.fields([][2]string{
		{"conversation", c.ID}, {"run", c.Run}, {"format", c.Format}, {"agent", terminal.FirstNonEmpty(c.Agent, r.Agent)}, {"model", terminal.FirstNonEmpty(c.Model, r.Model)},
		{"flow", strings.Trim(terminal.FirstNonEmpty(c.Flow, r.Flow)+" / "+c.Step, " /")}, {"project", terminal.FirstNonEmpty(c.Project, r.Project)},
		{"time", v.span(c.Started, c.Ended)}, {"status", terminal.FirstNonEmpty(c.Status, r.Status)},
		{"tokens", tokens}, {"cost", cost},
		{"original", fmt.Sprintf("%s/%s, version %d", c.Key.Source, c.Key.Path, c.Key.Number)}, {"counts", whyNotCounted(c)},
	})
	return v.turns(ctx, view.Turns)
}

// whyNotCounted says why a conversation does not count; "" if it does.
func whyNotCounted(c *index.Conversation) string {
	if c.Verdict == "" || c.Verdict == transcript.Counted {
		return ""
	}
	if c.Of != "" {
		return "no: " + string(c.Verdict) + " of " + c.Of
	}
	return "no: " + string(c.Verdict)
}

// notCounted is whyNotCounted as a suffix of the title of a conversation.
func notCounted(c *index.Conversation) string {
	if why := whyNotCounted(c); why != "" {
		return " (counts " + why + ")"
	}
	return ""
}

func (v *viewer) turns(ctx context.Context, turns iter.Seq2[search.Turn, error]) error {
	for t, err := range turns {
		if err != nil {
			return err
		}
		for i := range t.Pieces {
			v.noteUnread(&t.Pieces[i])
			v.piece(ctx, &t.Pieces[i])
		}
	}
	return nil
}

// fields prints names and values, except empty ones.
func (v *viewer) fields(fields [][2]string) {
	var some [][2]string
	for _, f := range fields {
		if value := terminal.OneLine(f[1]); value != "" {
			some = append(some, [2]string{f[0], value})
		}
	}
	v.sheet.fields(some)
}

// raw prints the original bytes of events, each event once. A single event is printed unchanged; several are separated by line feeds.
func (v *viewer) raw(ctx context.Context, out io.Writer, turns iter.Seq2[search.Turn, error]) error {
	n := 0
	var last []byte
	for t, err := range turns {
		if err != nil {
			return err
		}
		pieces := t.Pieces
		for _, p := range t.Pieces { // a result is shown with its call, and is an event of its own
			if p.Result != nil {
				pieces = append(pieces[:len(pieces):len(pieces)], *p.Result)
			}
		}
		for _, place := range piecePlaces(pieces) {
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

// piecePlaces returns where the bytes of pieces are, one place per event.
func piecePlaces(pieces []search.Piece) []index.Place {
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
