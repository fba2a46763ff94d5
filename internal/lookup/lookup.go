// Package lookup finds what people name: runs, conversations and events by an id, the beginning of one or a native id; originals by a
// path, on this machine or in the archive. Its errors say what the name may have meant.
package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Index is what names are looked up in.
type Index interface {
	index.Reader
	index.ConversationLister
	index.Lookup
	index.Originals
	index.FactReader
}

// Target is what an id names: a run, a conversation with its run, or an event with both. What is not named is "".
type Target struct{ Run, Conversation, Event string }

// Resolve looks up an id or the start of one. Ids of runs begin with r and those of conversations with c; native ids may begin with
// anything.
func Resolve(ctx context.Context, ix Index, id string) (Target, error) {
	if strings.Contains(id, ":") {
		rows, err := ix.Event(ctx, id)
		if err == nil {
			event := rows[0].ID
			if len(rows) > 1 {
				event, _, _ = strings.Cut(event, ".")
			}
			return Target{rows[0].Run, rows[0].Conversation, event}, nil
		}
		if !errors.Is(err, index.ErrNotFound) {
			return Target{}, err
		}
	}
	run := func() (Target, error) {
		r, err := ix.Run(ctx, id)
		return Target{Run: r.ID}, err
	}
	conversation := func() (Target, error) {
		c, err := ix.Conversation(ctx, id)
		return Target{Run: c.Run, Conversation: c.ID}, err
	}
	one, other := run, conversation
	if strings.HasPrefix(id, "c") {
		one, other = conversation, run
	}
	found, err := one()
	if errors.Is(err, index.ErrNotFound) {
		if found, err = other(); errors.Is(err, index.ErrNotFound) {
			if what, bad := resolvePasted(ctx, ix, id); bad == nil {
				return what, nil
			}
			return Target{}, failure.NotFound(fmt.Sprintf("no run, conversation or event %q", id), explainUnknown(ctx, ix, id))
		}
	}
	if errors.Is(err, index.ErrAmbiguous) {
		return Target{}, ambiguous(ctx, ix, id)
	}
	return found, err
}

// resolvePasted looks up an id that was copied with the quotes, commas or spaces around it, or in capitals.
func resolvePasted(ctx context.Context, ix Index, id string) (Target, error) {
	bare := strings.Trim(id, " \t\r\n\"'`,;")
	if bare == id {
		bare = strings.ToLower(id)
	}
	if bare == id || bare == "" {
		return Target{}, index.ErrNotFound
	}
	return Resolve(ctx, ix, bare)
}

// explainUnknown returns the hint for an id that nothing has, by what has the beginning of it.
func explainUnknown(ctx context.Context, ix Index, id string) string {
	before, _, isEvent := strings.Cut(id, ":")
	if r, err := ix.Run(ctx, before); err == nil {
		return "events are numbered by conversation, not by run: `txarchive show " + r.ID + "` lists them"
	}
	c, err := ix.Conversation(ctx, before)
	if err != nil || !isEvent {
		return "`txarchive search WORDS` shows ids; any unique prefix of an id works"
	}
	if i := strings.LastIndexByte(id, '.'); i > len(before) {
		if rows, err := ix.Event(ctx, id[:i]); err == nil {
			event, _, _ := strings.Cut(rows[0].ID, ".")
			return fmt.Sprintf("the event has %s: `txarchive show %s` shows it", terminal.Plural(len(rows), "part", "parts"), event)
		}
	}
	return "`txarchive show " + c.ID + " --last 1` shows its last event"
}

// Run returns the id of the run that an id names: a run, or the run of a conversation or event.
func Run(ctx context.Context, ix Index, id string) (string, error) {
	what, err := Resolve(ctx, ix, id)
	return what.Run, err
}

// RequireRun returns the id of the run that an id names. An id of a conversation or event is an error of usage.
func RequireRun(ctx context.Context, ix Index, id, hint string) (string, error) {
	what, err := Resolve(ctx, ix, id)
	if err == nil && what.Conversation != "" {
		err = failure.Usage(fmt.Sprintf("%q is not a run", id), hint)
	}
	return what.Run, err
}

// ExplainNothing explains index.ErrNotFound for a decision about runs: it returns an error that says which of them was pruned already
// or has no transcript. Any other error is returned as it is.
func ExplainNothing(ctx context.Context, ix Index, err error, runs ...string) error {
	if !errors.Is(err, index.ErrNotFound) {
		return err
	}
	for _, id := range runs {
		switch r, bad := ix.Run(ctx, id); {
		case bad != nil:
		case r.Pruned:
			return failure.NotFound(fmt.Sprintf("the run %s is already pruned", id), "`txarchive prune --undo "+id+"` restores it, until gc has run; `txarchive show "+id+"` says when and why it was pruned")
		case !r.Counted:
			return failure.NotFound(fmt.Sprintf("the archive has no transcript of the run %s to prune", id),
				"`txarchive show "+id+" --all` lists what refers to it; `txarchive forget` removes text from that")
		}
	}
	return err
}

// maxCandidates is how many candidates the error for an ambiguous name names.
const maxCandidates = 5

// ambiguous returns the error for an id that several things share. A longer prefix does not help with equal native ids, which two homes
// may both have.
func ambiguous(ctx context.Context, ix Index, id string) error {
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
	for r, err := range ix.Runs(ctx, called("run"), index.Page{Limit: maxCandidates + 1}) {
		if err != nil {
			break // the id stays ambiguous
		}
		add(r.ID, r.NativeID)
	}
	if len(ids) < 2 {
		ids = nil
		for r, err := range ix.Runs(ctx, called("conversation"), index.Page{Limit: maxCandidates + 1}) {
			for c, bad := range ix.Conversations(ctx, r.ID) {
				if err == nil && bad == nil {
					add(c.ID, c.NativeID)
				}
			}
		}
	}
	text, hint := fmt.Sprintf("several ids start with %q", id), "use a longer prefix"
	if !begun {
		text, hint = fmt.Sprintf("several things are called %q", id), "use the id of one"
	}
	if len(ids) > 0 {
		hint += ": " + few(ids)
	}
	return failure.Usage(text, hint)
}
