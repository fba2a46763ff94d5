package search

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Timeline is a run with the rows of all its conversations in chronological order.
type Timeline struct {
	Run           index.Run
	Conversations []index.Conversation
	// Rows yields the rows. Those of one conversation stay in the order of the conversation, whatever their times.
	Rows iter.Seq2[Piece, error]
}

// Timeline shows a run. It uses the options Limit and Last (in rows) and Duplicates; with Around, the id of an event
// or of a part, it uses Before and After (in rows). Errors: index.ErrNotFound, index.ErrAmbiguous; Rows ends with
// index.ErrNotFound if the run has no such event.
func (s *Searcher) Timeline(ctx context.Context, run string, o ShowOptions) (*Timeline, error) {
	r, err := s.Index.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	t := &Timeline{Run: r}
	for c, err := range s.Index.Conversations(ctx, r.ID) {
		if err != nil {
			return nil, err
		}
		if o.Duplicates || c.Verdict == transcript.Counted || c.Verdict == transcript.Uncounted {
			t.Conversations = append(t.Conversations, c)
		}
	}
	slices.SortStableFunc(t.Conversations, func(a, b index.Conversation) int { return cmp.Compare(startOf(&a), startOf(&b)) })
	t.Rows = func(yield func(Piece, error) bool) {
		m := &lanes{s: s, ctx: ctx, o: o}
		for _, c := range t.Conversations {
			m.lanes = append(m.lanes, &lane{conversation: c.ID, near: startOf(&c)})
		}
		m.run(yield)
	}
	return t, nil
}

// startOf returns when a conversation began, or a time before everything if that is unknown.
func startOf(c *index.Conversation) int64 {
	if !c.Started.Valid {
		return -1 << 62
	}
	return c.Started.UnixMicro
}

// lane is one conversation of a timeline, read in batches so that any number can be open at once.
type lane struct {
	conversation string
	near         int64 // time of the next row
	rows         []index.Event
	seq          int64 // seq of the last row that was read
	ended        bool
}

const laneBatch = 32

type lanes struct {
	s     *Searcher
	ctx   context.Context
	o     ShowOptions
	lanes []*lane
}

// run yields the requested rows with their texts.
func (m *lanes) run(yield func(Piece, error) bool) {
	rows := m.merged
	switch {
	case m.o.Around != "":
		rows = m.around
	case m.o.Last && m.o.Limit > 0:
		rows = m.last
	}
	n := 0
	for p, err := range rows {
		if err == nil {
			err = m.s.readPiece(m.ctx, &p)
		}
		if err != nil {
			yield(Piece{}, err)
			return
		}
		if n++; !yield(p, nil) || n == m.o.Limit {
			return
		}
	}
}

// merged yields all rows, without their texts.
func (m *lanes) merged(yield func(Piece, error) bool) {
	for {
		l, err := m.next()
		if err != nil {
			yield(Piece{}, err)
			return
		}
		if l == nil {
			return
		}
		p := Piece{Event: l.rows[0]}
		l.rows = l.rows[1:]
		if len(l.rows) > 0 {
			l.near = max(l.near, l.rows[0].Near)
		}
		if !yield(p, nil) {
			return
		}
	}
}

// last yields the last Limit rows.
func (m *lanes) last(yield func(Piece, error) bool) {
	var kept []Piece
	for p, err := range m.merged {
		if err != nil {
			yield(Piece{}, err)
			return
		}
		if kept = append(kept, p); len(kept) > m.o.Limit {
			kept = kept[1:]
		}
	}
	for _, p := range kept {
		if !yield(p, nil) {
			return
		}
	}
}

// around yields the rows of an event, marked, and those before and after them.
func (m *lanes) around(yield func(Piece, error) bool) {
	var before []Piece
	after, found := m.o.After, false
	for p, err := range m.merged {
		if err != nil {
			yield(Piece{}, err)
			return
		}
		p.Marked = p.ID == m.o.Around || eventOf(p.ID) == m.o.Around
		switch {
		case p.Marked:
			for _, b := range before {
				if !yield(b, nil) {
					return
				}
			}
			before, found = nil, true
		case !found:
			if before = append(before, p); len(before) > m.o.Before {
				before = before[1:]
			}
			continue
		default:
			if after--; after < 0 {
				return
			}
		}
		if !yield(p, nil) {
			return
		}
	}
	if !found {
		yield(Piece{}, index.ErrNotFound)
	}
}

// next returns the lane with the earliest row, or nil at the end.
func (m *lanes) next() (*lane, error) {
	for len(m.lanes) > 0 {
		first := slices.MinFunc(m.lanes, func(a, b *lane) int { return cmp.Compare(a.near, b.near) })
		if len(first.rows) > 0 {
			return first, nil
		}
		if !first.ended {
			if err := m.read(first); err != nil {
				return nil, err
			}
		}
		if len(first.rows) == 0 {
			m.lanes = slices.DeleteFunc(m.lanes, func(l *lane) bool { return l == first })
		}
	}
	return nil, nil
}

func (m *lanes) read(l *lane) error {
	events := 0
	last := l.seq
	for e, err := range m.s.Index.Events(m.ctx, l.conversation, index.Span{From: l.seq + 1, Limit: laneBatch, Duplicates: m.o.Duplicates}) {
		if err != nil {
			return err
		}
		if e.Seq != last {
			last, events = e.Seq, events+1
		}
		l.rows = append(l.rows, e)
	}
	l.ended = events < laneBatch
	l.seq = max(l.seq, last)
	if len(l.rows) > 0 {
		l.near = max(l.near, l.rows[0].Near)
	}
	return nil
}
