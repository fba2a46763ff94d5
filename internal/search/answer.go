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

// Answer holds one query and its outcome: the results, which can be iterated once, and then their coverage.
type Answer struct {
	ctx          context.Context
	s            *Searcher
	tree         *query.Tree
	o            Options
	typedTimes   query.TypedTimes
	alternatives []alternative
	candidates   *candidates
	highlighter  *highlighter
	checker      *checker
	accept       func(*found) bool // hits for which it returns true are accepted without checking their texts
	labels       *labelCache
	resumeAt     *cursor

	top      int64  // time of the newest hit that Relevance ranked
	weights  string // weights of the phrases, one letter each; see weightsOf
	windowed bool   // there are more hits than Relevance ranks
	skimmed  bool   // ranked hits come from Index.Skim and must be completed before they are shown
	position string // with Newest: cursor of the last row that was examined

	shown      int
	more       bool
	next       string
	partial    string
	ended      bool // all hits were seen
	elapsed    time.Duration
	prefetched *Coverage       // the part of the coverage that was determined while the first hits were read
	stepsDone  int             // how many of the coverage's steps prefetched includes
	inspect    func() []Source // inspects the sources; see Searcher.Sources
}

// Results yields the hits in the requested order as they are found, and ends at the first error. It can be ranged
// over only once. A search that stops early (Timeout, Budget) ends without an error, and Coverage says so.
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

// stopped handles the error with which a search ended. If it only means that the result is partial, stopped records
// that for Coverage and returns nil.
func (a *Answer) stopped(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errBudget):
		a.partial = "the search would have to read too many texts"
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

// How many hits are gathered before their texts are read in parallel, and the largest text that is read this way.
const (
	aheadHits  = 24
	aheadBytes = 1 << 20
)

// readAhead gathers hits, reads their texts in parallel, cuts snippets out of them, and looks up the conversations
// and runs to show with them. The texts of hits that were checked have been read already.
func (a *Answer) readAhead(ctx context.Context, hits iter.Seq2[found, error]) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		var batch []found
		flush := func() bool {
			shown := len(batch) // the last one may be needed only to know that there is more
			if a.o.Limit > 0 {
				shown = min(shown, a.o.Limit-a.shown)
			}
			unread := make([]*found, max(shown, 0))
			for i := range unread {
				unread[i] = &batch[i]
			}
			var err error
			loadLabels := func() { err = a.labels.load(ctx, batch) }
			if a.o.NoSnippets { // without texts to wait for, the coverage must not delay the hits
				loadLabels()
			} else {
				finish := a.s.startReading(ctx, unread, func(f *found) { f.snippet = a.highlighter.snippet(f.text) })
				loadLabels()
				a.prefetchCoverage(ctx)
				finish()
			}
			if err != nil {
				yield(found{}, err)
				return false
			}
			for _, f := range batch {
				if !yield(f, nil) {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		for f, err := range hits {
			if err != nil {
				if flush() {
					yield(found{}, err)
				}
				return
			}
			if batch = append(batch, f); (len(batch) == aheadHits || f.read) && !flush() {
				return
			}
		}
		flush()
	}
}

// startReading begins to read the texts of hits in parallel, and calls then for each that has one. It returns a function that reads
// texts too, until all are read; before, the calling goroutine may query the index: all index queries come from one
// goroutine, which has a connection and a grown stack. Texts that are large or unreadable are skipped and left to whoever
// needs them. Adjacent hits often lie in the same pack member, and all but one of their readers would wait for it, so half
// of the readers start at the end of the list.
func (s *Searcher) startReading(ctx context.Context, hits []*found, then func(*found)) (finish func()) {
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
	return func() {
		read(false)
		group.Wait()
	}
}

// placed returns a function that reads the texts of hits, after looking up the locations of all of them at once.
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
	r.Conversation, r.Run = a.labels.conversations[f.Conversation], a.labels.runs[f.Run] // those missing have been pruned meanwhile
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
			r.Snippet = a.highlighter.snippet(text)
		}
	}
	if a.o.Context > 0 {
		return r, a.addContext(ctx, &r)
	}
	return r, nil
}

// addContext adds the events before and after a hit.
func (a *Answer) addContext(ctx context.Context, r *Result) error {
	n := a.o.Context
	if r.Seq > 1 {
		before, err := a.contextRows(ctx, r.Conversation.ID, index.Span{To: r.Seq - 1, Limit: n, Last: true, Duplicates: a.o.AllVersions})
		if err != nil {
			return err
		}
		r.Before = before
	}
	after, err := a.contextRows(ctx, r.Conversation.ID, index.Span{From: r.Seq + 1, Limit: n, Duplicates: a.o.AllVersions})
	r.After = after
	return err
}

// maxContext bounds the rows on either side of a hit: events may have many parts.
const maxContext = 1000

// contextRows returns the rows of a span of a conversation with their snippets.
func (a *Answer) contextRows(ctx context.Context, conversation string, span index.Span) ([]Row, error) {
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
		rows[i].Snippet = a.highlighter.snippet(text)
	}
	return rows, nil
}
