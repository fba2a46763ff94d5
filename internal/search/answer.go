package search

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Answer is what a query gives: results once, and their coverage.
type Answer struct {
	ctx          context.Context
	s            *Searcher
	tree         *query.Tree
	o            Options
	typed        query.Typed
	alternatives []alternative
	candidates   *candidates
	marks        *marker
	checker      *checker
	pass         func(*found) bool // hits that are taken for such without a look at their texts
	found        *lookup
	from         *cursor

	top      int64  // newest hit that Relevance ranked
	weights  string // of the phrases, a letter each
	windowed bool   // there are more hits than Relevance ranks
	skimmed  bool   // what is ranked lacks what is shown
	position string // cursor of the last row that was looked at, with Newest

	shown   int
	more    bool
	next    string
	partial string
	ended   bool // all hits were seen
	elapsed time.Duration
	told    *Coverage // as far as it was asked for beside the first hits
	asked   int       // of its steps
	look    func() []Source
}

// Results yields the hits in the order that was asked for, as they are found. An error ends it. To be ranged over
// once; a search that stops early (Timeout, Budget) ends without an error, and Coverage says so.
func (a *Answer) Results() iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		started := a.s.Now()
		defer func() { a.elapsed = a.s.Now().Sub(started) }()
		ctx, cancel := a.ctx, func() {}
		if a.o.Timeout > 0 {
			ctx, cancel = context.WithTimeout(a.ctx, a.o.Timeout)
		}
		defer cancel()
		a.next = a.o.After
		for f, err := range a.readAhead(ctx, a.ordered(ctx)) {
			if err == nil && a.o.Limit > 0 && a.shown == a.o.Limit {
				a.more = true
				return
			}
			var r Result
			if err == nil {
				r, err = a.result(ctx, &f)
			}
			if err != nil {
				if err = a.stopped(ctx, err); err != nil {
					yield(Result{}, err)
				}
				return
			}
			a.shown++
			a.next = r.Cursor
			if !yield(r, nil) {
				a.more = true
				return
			}
		}
		a.ended = true
	}
}

// stopped turns an error that only means "not all" into what Coverage says.
func (a *Answer) stopped(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errBudget):
		a.partial = "more texts would have to be read than this search may"
	case a.ctx.Err() == nil && ctx.Err() != nil:
		a.partial = "stopped after " + a.o.Timeout.String()
	default:
		return err
	}
	if a.more = true; a.o.Sort == Newest && a.position != "" && len(a.patterns()) > 0 {
		a.next = a.position
	}
	return nil
}

// How many hits are gathered before their texts are read, on all cores, and up to which size of a text.
const (
	aheadHits  = 24
	aheadBytes = 1 << 20
)

// readAhead reads the texts of some hits at once, cuts snippets out of them, and looks up what they are shown with. Those of hits
// that were checked were read already.
func (a *Answer) readAhead(ctx context.Context, hits iter.Seq2[found, error]) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		var some []found
		give := func() bool {
			wanted := len(some) // the last one may only tell that there is more
			if a.o.Limit > 0 {
				wanted = min(wanted, a.o.Limit-a.shown)
			}
			unread := make([]*found, max(wanted, 0))
			for i := range unread {
				unread[i] = &some[i]
			}
			var err error
			learn := func() { err = a.found.learn(ctx, some) }
			if a.o.NoSnippets { // hits that wait for no texts wait for no coverage
				learn()
			} else {
				beside := func() { learn(); a.aside(ctx) }
				a.s.readAll(ctx, unread, beside, func(f *found) { f.snippet = a.marks.snippet(f.text) })
			}
			if err != nil {
				yield(found{}, err)
				return false
			}
			for _, f := range some {
				if !yield(f, nil) {
					return false
				}
			}
			some = some[:0]
			return true
		}
		for f, err := range hits {
			if err != nil {
				if give() {
					yield(found{}, err)
				}
				return
			}
			if some = append(some, f); (len(some) == aheadHits || f.read) && !give() {
				return
			}
		}
		give()
	}
}

// readAll reads the texts of hits, and then does something with each; what asks the index beside that does it meanwhile, and then
// reads, too: all questions come from one goroutine, which has a connection and a deep stack. One that cannot be read, or is large, is left to who wants it.
// Neighbours often lie in one member, for which all but one of those who want it would wait: so half of the readers come from the end.
func (s *Searcher) readAll(ctx context.Context, hits []*found, beside func(), then func(*found)) {
	text := s.placed(ctx, hits)
	var mu sync.Mutex
	next := func(last bool) (f *found) {
		mu.Lock()
		defer mu.Unlock()
		switch n := len(hits); {
		case n == 0:
		case last:
			f, hits = hits[n-1], hits[:n-1]
		default:
			f, hits = hits[0], hits[1:]
		}
		return f
	}
	read := func(last bool) {
		for f := next(last); f != nil; f = next(last) {
			if !f.read && f.TextBytes <= aheadBytes {
				if text, err := textBy(ctx, text, &f.Event); err == nil {
					f.text, f.read = text, true
				}
			}
			if f.read {
				then(f)
			}
		}
	}
	var group sync.WaitGroup
	for i := range min(runtime.GOMAXPROCS(0), len(hits)) - 1 {
		group.Go(func() { read(i%2 == 0) })
	}
	beside()
	read(false)
	group.Wait()
}

// placed reads texts of hits, after a look where all of them lie.
func (s *Searcher) placed(ctx context.Context, hits []*found) func(context.Context, index.Place, int) (string, error) {
	if len(hits) < 2 {
		return s.Texts.Text
	}
	places := make([]index.Place, 0, len(hits))
	for _, f := range hits {
		if !f.read && f.TextBytes <= aheadBytes {
			places = append(places, f.Place)
		}
	}
	return s.Texts.Placed(ctx, places)
}

func (a *Answer) result(ctx context.Context, f *found) (Result, error) {
	r := Result{Hit: f.Hit, Score: f.score}
	r.Conversation, r.Run = a.found.conversations[f.Conversation], a.found.runs[f.Run] // what was not learned went with a prune
	if a.o.NoSnippets {
		return r, nil
	}
	if r.Snippet = f.snippet; !f.read {
		text, err := a.s.text(ctx, &f.Event)
		if _, ok := errors.AsType[*textError](err); ok {
			a.checker.unreadable++
			r.Snippet.Err = err
		} else if err != nil {
			return r, err
		} else {
			r.Snippet = a.marks.snippet(text)
		}
	}
	if a.o.Context > 0 {
		return r, a.around(ctx, &r)
	}
	return r, nil
}

// around adds the events before and after a hit.
func (a *Answer) around(ctx context.Context, r *Result) error {
	n := a.o.Context
	if r.Seq > 1 {
		before, err := a.rows(ctx, r.Conversation.ID, index.Span{To: r.Seq - 1, Limit: n, Last: true, Duplicates: a.o.AllVersions})
		if err != nil {
			return err
		}
		r.Before = before
	}
	after, err := a.rows(ctx, r.Conversation.ID, index.Span{From: r.Seq + 1, Limit: n, Duplicates: a.o.AllVersions})
	r.After = after
	return err
}

// maxContext bounds the rows around one hit: events may have many parts.
const maxContext = 1000

func (a *Answer) rows(ctx context.Context, conversation string, span index.Span) ([]Row, error) {
	var rows []Row
	for e, err := range a.s.Index.Events(ctx, conversation, span) {
		if errors.Is(err, index.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if rows = append(rows, Row{Event: e}); len(rows) == maxContext {
			break
		}
	}
	for i := range rows {
		text, err := a.s.text(ctx, &rows[i].Event)
		if _, ok := errors.AsType[*textError](err); ok {
			rows[i].Snippet.Err = err
			continue
		}
		if err != nil {
			return nil, err
		}
		rows[i].Snippet = a.marks.snippet(text)
	}
	return rows, nil
}
