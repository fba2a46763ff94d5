package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// thing is what an id names: a run, a conversation with its run, or an event with both. What it does not go down to is "".
type thing struct{ run, conversation, event string }

// find looks up an id. Ids of runs begin with r and those of conversations with c; native ids may begin with anything.
func find(ctx context.Context, store *archive.Archive, id string) (thing, error) {
	if strings.Contains(id, ":") {
		rows, err := store.Index().Event(ctx, id)
		if err == nil {
			event := rows[0].ID
			if len(rows) > 1 {
				event, _, _ = strings.Cut(event, ".")
			}
			return thing{rows[0].Run, rows[0].Conversation, event}, nil
		}
		if !errors.Is(err, index.ErrNotFound) {
			return thing{}, err
		}
	}
	run := func() (thing, error) {
		r, err := store.Index().Run(ctx, id)
		return thing{run: r.ID}, err
	}
	conversation := func() (thing, error) {
		c, err := store.Index().Conversation(ctx, id)
		return thing{run: c.Run, conversation: c.ID}, err
	}
	one, other := run, conversation
	if strings.HasPrefix(id, "c") {
		one, other = conversation, run
	}
	found, err := one()
	if errors.Is(err, index.ErrNotFound) {
		if found, err = other(); errors.Is(err, index.ErrNotFound) {
			hint := "`txarchive search WORDS` shows ids; any beginning that no other id has will do"
			before, _, _ := strings.Cut(id, ":")
			if r, err := store.Index().Run(ctx, before); err == nil {
				hint = "events are numbered by conversation, not by run: `txarchive show " + r.ID + "` names them"
			} else if c, err := store.Index().Conversation(ctx, before); err == nil && before != id {
				hint = "`txarchive show " + c.ID + " --last 1` shows the last event that it has"
			}
			return thing{}, notFound(fmt.Sprintf("there is no run, conversation or event %q", id), hint)
		}
	}
	if errors.Is(err, index.ErrAmbiguous) {
		return thing{}, ambiguous(ctx, store, id)
	}
	return found, err
}

// findRun is the id of the run that an id names: its own, or that of a conversation or event in it.
func findRun(ctx context.Context, store *archive.Archive, id string) (string, error) {
	what, err := find(ctx, store, id)
	return what.run, err
}

// onlyRun is the id of the run that an id names, which must be none of a conversation or event.
func onlyRun(ctx context.Context, store *archive.Archive, id, hint string) (string, error) {
	what, err := find(ctx, store, id)
	if err == nil && what.conversation != "" {
		err = usage(fmt.Sprintf("%q is no run", id), hint)
	}
	return what.run, err
}

// nothingOf says of which of some runs that the index knows there is nothing to decide on, and why; any other error stays.
func nothingOf(ctx context.Context, store *archive.Archive, err error, runs ...string) error {
	if !errors.Is(err, index.ErrNotFound) {
		return err
	}
	for _, id := range runs {
		switch r, bad := store.Index().Run(ctx, id); {
		case bad != nil:
		case r.Pruned:
			return notFound(fmt.Sprintf("the run %s was pruned already", id), "`txarchive prune --undo "+id+"` brings it back, until gc")
		case !r.Counted:
			return notFound(fmt.Sprintf("the archive has no transcript of the run %s that could go", id),
				"`txarchive show "+id+" --all` names what tells of it; `txarchive forget` takes words out of that")
		}
	}
	return err
}

// candidatesNamed is how many things an ambiguous id is said to mean.
const candidatesNamed = 5

// ambiguous says which things have an id: of native ids, which two homes may both have, there is no more to give.
func ambiguous(ctx context.Context, store *archive.Archive, id string) error {
	called := func(field string) index.Selection {
		return index.Selection{Query: &query.Tree{Root: query.Field{Name: field, Values: []query.Value{{Text: id}}}}}
	}
	var ids []string
	begun := true
	add := func(short, native string) {
		if is := strings.HasPrefix(short, id); is || native == id {
			ids, begun = append(ids, short), begun && is
		}
	}
	for r, err := range store.Index().Runs(ctx, called("run"), index.Page{Limit: candidatesNamed + 1}) {
		if err != nil {
			break // what is ambiguous stays so
		}
		add(r.ID, r.NativeID)
	}
	if len(ids) < 2 {
		ids = nil
		for r, err := range store.Index().Runs(ctx, called("conversation"), index.Page{Limit: candidatesNamed + 1}) {
			for c, bad := range store.Index().Conversations(ctx, r.ID) {
				if err == nil && bad == nil {
					add(c.ID, c.NativeID)
				}
			}
		}
	}
	text, hint := fmt.Sprintf("several ids begin with %q", id), "give more of it"
	if !begun {
		text, hint = fmt.Sprintf("several things are called %q", id), "take the id of one"
	}
	if len(ids) > 0 {
		more := ""
		if len(ids) > candidatesNamed {
			more = " ..."
		}
		hint += ": " + strings.Join(ids[:min(len(ids), candidatesNamed)], ", ") + more
	}
	return usage(text, hint)
}
