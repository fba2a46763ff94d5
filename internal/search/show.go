package search

import (
	"context"
	"iter"

	"github.com/txarchive/txarchive/internal/index"
)

// ShowOptions configure a view.
type ShowOptions struct {
	Before, After int    // events before and after the one that is shown; for Event only
	Limit         int    // events; 0 is no limit
	Last          bool   // the last Limit events rather than the first
	Around        string // id of an event in the middle; for Timeline only
	// Duplicates adds rows that repeat others, and those of earlier versions of the original.
	Duplicates bool
}

// View is a conversation, or part of one.
type View struct {
	Conversation index.Conversation
	Run          index.Run
	// Turns yields events in order. A result is attached to its call, and not repeated at its own place, if it is at
	// most pairWindow events away.
	Turns iter.Seq2[Turn, error]
}

// pairWindow is how many events a view looks ahead for the result of a call.
const pairWindow = 256

// Turn is one event.
type Turn struct {
	ID     string // public, without part
	Marked bool   // the event that was requested
	Pieces []Piece
}

// Piece is one part of an event.
type Piece struct {
	index.Event
	Marked bool
	Text   string
	Err    error  // the text could not be read
	Result *Piece // result of a call, if known
}

// Conversation shows a conversation by its id or an unambiguous prefix of it. Errors: index.ErrNotFound,
// index.ErrAmbiguous.
func (s *Searcher) Conversation(ctx context.Context, id string, o ShowOptions) (*View, error) {
	info, err := s.Index.Conversation(ctx, id)
	if err != nil {
		return nil, err
	}
	run, err := s.Index.Run(ctx, info.Run)
	if err != nil {
		return nil, err
	}
	return s.View(ctx, run, info, o), nil
}

// View shows a conversation that the index has returned, of a run that it has returned.
func (s *Searcher) View(ctx context.Context, run index.Run, info index.Conversation, o ShowOptions) *View {
	return s.view(ctx, run, info, index.Span{Limit: o.Limit, Last: o.Last, Duplicates: o.Duplicates}, "")
}

// Event shows an event by its id, with the events before and after it. Errors: index.ErrNotFound, index.ErrAmbiguous.
func (s *Searcher) Event(ctx context.Context, id string, o ShowOptions) (*View, error) {
	rows, err := s.Index.Event(ctx, id)
	if err != nil {
		return nil, err
	}
	info, err := s.Index.Conversation(ctx, rows[0].Conversation)
	if err != nil {
		return nil, err
	}
	run, err := s.Index.Run(ctx, info.Run)
	if err != nil {
		return nil, err
	}
	span, err := s.around(ctx, rows[0], o)
	if err != nil {
		return nil, err
	}
	mark := rows[0].ID
	if len(rows) > 1 {
		mark = eventOf(rows[0].ID)
	}
	return s.view(ctx, run, info, span, mark), nil
}

func (s *Searcher) view(ctx context.Context, run index.Run, info index.Conversation, span index.Span, mark string) *View {
	v := &View{Conversation: info, Run: run}
	v.Turns = func(yield func(Turn, error) bool) {
		p := pairing{s: s, ctx: ctx, mark: mark, yield: yield}
		p.run(info.ID, span)
	}
	return v
}
