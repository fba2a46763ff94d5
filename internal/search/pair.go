package search

import (
	"context"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// around returns the span of a conversation that contains an event and its neighbours.
func (s *Searcher) around(ctx context.Context, e index.Event, o ShowOptions) (index.Span, error) {
	span := index.Span{From: e.Seq, To: e.Seq, Duplicates: o.Duplicates || e.Verdict != transcript.Counted && e.Verdict != transcript.Uncounted}
	extend := func(side index.Span) error {
		side.Duplicates = span.Duplicates
		for row, err := range s.Index.Events(ctx, e.Conversation, side) {
			if err != nil {
				return err
			}
			span.From, span.To = min(span.From, row.Seq), max(span.To, row.Seq)
		}
		return nil
	}
	if o.Before > 0 && e.Seq > 1 {
		if err := extend(index.Span{To: e.Seq - 1, Limit: o.Before, Last: true}); err != nil {
			return span, err
		}
	}
	if o.After > 0 {
		if err := extend(index.Span{From: e.Seq + 1, Limit: o.After}); err != nil {
			return span, err
		}
	}
	return span, nil
}

// errLeft means that the consumer stopped the iteration.
var errLeft = errors.New("left")

// pairing walks a conversation and attaches results to their calls. It holds back at most pairWindow events.
type pairing struct {
	s     *Searcher
	ctx   context.Context
	mark  string // public id of the requested row or event
	yield func(Turn, error) bool

	conversation string
	known        map[string]string // ids of results by the ids of their calls, from the index
	until        int64             // known covers calls up to this seq
	turns        []*turn
	open         []*Piece          // calls whose result is still to come, in order
	callByResult map[string]*Piece // calls by the ids of the results that the index has for them
}

type turn struct {
	Turn
	pieces []*Piece
}

func (p *pairing) run(conversation string, span index.Span) {
	p.conversation, p.callByResult = conversation, map[string]*Piece{}
	err := p.walk(span)
	for err == nil && len(p.turns) > 0 {
		err = p.flush()
	}
	if err != nil && !errors.Is(err, errLeft) {
		p.yield(Turn{}, err)
	}
}

func (p *pairing) walk(span index.Span) error {
	for e, err := range p.s.Index.Events(p.ctx, p.conversation, span) {
		if err != nil {
			return err
		}
		n := len(p.turns)
		if n == 0 || p.turns[n-1].ID != eventOf(e.ID) {
			for len(p.turns) > pairWindow || len(p.turns) > 0 && !p.waiting(p.turns[0]) {
				if err := p.flush(); err != nil {
					return err
				}
			}
			id := eventOf(e.ID)
			p.turns = append(p.turns, &turn{Turn: Turn{ID: id, Marked: p.mark != "" && p.mark == id}})
			n = len(p.turns)
		}
		if err := p.add(p.turns[n-1], e); err != nil {
			return err
		}
	}
	return nil
}

// add attaches a row to its event, or a result to its call.
func (p *pairing) add(t *turn, e index.Event) error {
	piece := &Piece{Event: e, Marked: p.mark != "" && (p.mark == e.ID || p.mark == t.ID)}
	switch {
	case e.Call != "" || e.Kind == transcript.KindToolCall:
		if err := p.registerCall(piece); err != nil {
			return err
		}
	case e.Kind == transcript.KindToolResult:
		if call := p.callOf(piece); call != nil {
			call.Result = piece
			return nil
		}
	}
	t.pieces = append(t.pieces, piece)
	return nil
}

// registerCall registers a call that has a result.
func (p *pairing) registerCall(call *Piece) error {
	if call.Seq > p.until {
		p.until = call.Seq + pairWindow
		known, err := p.s.Index.Results(p.ctx, p.conversation, call.Seq, p.until)
		if err != nil {
			return err
		}
		p.known = known
	}
	if id := p.known[call.ID]; id != "" {
		p.callByResult[id] = call
		p.open = append(p.open, call)
	}
	return nil
}

// callOf returns the open call that a result belongs to, or nil.
func (p *pairing) callOf(result *Piece) *Piece {
	call := p.callByResult[result.ID]
	delete(p.callByResult, result.ID)
	if !slices.Contains(p.open, call) {
		return nil
	}
	p.close(call)
	return call
}

// close removes a call from the open ones.
func (p *pairing) close(call *Piece) {
	p.open = slices.DeleteFunc(p.open, func(c *Piece) bool { return c == call })
}

// waiting reports whether the result of a call of the turn is still to come.
func (p *pairing) waiting(t *turn) bool {
	return slices.ContainsFunc(t.pieces, func(piece *Piece) bool { return slices.Contains(p.open, piece) })
}

// flush yields the first turn, unless it consisted only of results that were attached to calls.
func (p *pairing) flush() error {
	t := p.turns[0]
	p.turns = p.turns[1:]
	for _, piece := range t.pieces {
		p.close(piece)
		for r := piece; r != nil; r = r.Result {
			if err := p.s.readPiece(p.ctx, r); err != nil {
				return err
			}
		}
		t.Pieces = append(t.Pieces, *piece)
	}
	if len(t.Pieces) > 0 && !p.yield(t.Turn, nil) {
		return errLeft
	}
	return nil
}

// readPiece reads the text of a piece.
func (s *Searcher) readPiece(ctx context.Context, p *Piece) error {
	text, err := s.text(ctx, &p.Event)
	if _, ok := errors.AsType[*textError](err); ok {
		p.Err = err
		return nil
	}
	p.Text = text
	return err
}
