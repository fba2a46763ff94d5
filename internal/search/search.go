// Package search is the way out for words: it turns the text of a query into hits with snippets, and the id of
// something into a view of it. It owns what an index cannot do by itself: substrings and regular expressions
// (candidates from the index, verified on the original texts), other orders than newest first, what stands around
// a hit, how calls and results belong together, the tree of a run; and the coverage that goes with every answer.
// It knows no SQL, no pack and no terminal: the index, the texts and the state of the sources are plugged in.
//
// Promises: results stream, and memory is bounded whatever the number of hits; a context that ends, ends the work;
// recall is 1.0 or the coverage says what is partial and why; a cursor goes on where a page ended, without repeating
// or skipping what was there, also while more is ingested.
package search

import (
	"context"
	"iter"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Texts gives the text of one part of an event, as the index was fed with it. part counts from 0. It serves several
// goroutines.
type Texts interface {
	Text(ctx context.Context, place index.Place, part int) (string, error)
	// Placed returns what Text does, for places of these: it looks up at once where they lie.
	Placed(ctx context.Context, places []index.Place) func(ctx context.Context, place index.Place, part int) (string, error)
}

// Index is what is asked: for rows, for things by their ids, and for what it can tell without fetching rows.
type Index interface {
	index.Reader
	index.Lookup
	Vocabulary
	Counter
	Tallier
	Ranker
	Labeler
	// Pace returns about when so many rows have come since a time; the greatest time when there are not so many.
	Pace(ctx context.Context, from int64, rows int) (to int64, err error)
	// Results returns the public ids of the rows with the results of calls, by the public ids of the calls,
	// for calls of one conversation with from <= seq <= to. Calls without a result are missing.
	Results(ctx context.Context, conversation string, from, to int64) (map[string]string, error)
	// Explain tells how the index would find something.
	Explain(ctx context.Context, q *query.Tree, page index.Page) ([]string, error)
}

// Vocabulary is the words of an index, folded as terms are. Parts of identifiers stand in the words that they are parts of.
type Vocabulary interface {
	// TermsOrCut yields the words that contain a text, and those of at least size bytes that end with the beginning of the text: they
	// may be pieces of words that were too long for one term.
	TermsOrCut(ctx context.Context, contains string, size int) iter.Seq2[string, error]
	// TermsFrom yields the words that begin so.
	TermsFrom(ctx context.Context, prefix string) iter.Seq2[string, error]
	// TermsAny yields the words of least to most bytes that contain one of some texts.
	TermsAny(ctx context.Context, contain []string, least, most int) iter.Seq2[string, error]
}

// Counter counts without fetching.
type Counter interface {
	// Count returns how many rows match, at most page.Limit (0 is no limit). page.After is not looked at.
	Count(ctx context.Context, q *query.Tree, page index.Page) (int64, error)
	// Size returns the events that count, all rows that are searched (parts, and what is searchable but no event),
	// and the problems.
	Size(ctx context.Context) (events, rows, problems int64, err error)
	// Thinned returns how many runs have originals that a policy has taken words of out of the index.
	Thinned(ctx context.Context) (runs int64, err error)
}

// Labeler tells what a hit is shown with at less cost than a look at the whole run.
type Labeler interface {
	// Labels calls take with conversations and their runs, without their counts, versions and places. Those that are not
	// there are missing.
	Labels(ctx context.Context, conversations []string, take func(index.Conversation, index.Run)) error
}

// Source is what is known of a source at the moment of a search.
type Source struct {
	Name   string     `json:"source"`
	Path   string     `json:"path"`
	State  string     `json:"state"` // ok, stale, missing
	Reason string     `json:"reason"`
	Last   *time.Time `json:"last_ingest"` // nil when not known
	// Problems is how many of its files or lines could not be read.
	Problems int64 `json:"problems"`
}

// Searcher answers. Index, Texts and Now are needed.
type Searcher struct {
	Index    Index
	Texts    Texts
	Now      func() time.Time
	Location *time.Location // of dates in queries; nil is UTC
	// Sources asks the index about the sources; what it gives then looks at their directories, which may take any time, and tells how
	// they are. nil leaves that unknown.
	Sources func(ctx context.Context) (look func() []Source, err error)
}

// Sort is an order of hits.
type Sort string

// The orders. Newest is the default. Relevance ranks the newest hits only, as many as Options.Window says.
const (
	Newest    Sort = "newest"
	Oldest    Sort = "oldest"
	Relevance Sort = "relevance"
)

// Options say what a search should give.
type Options struct {
	Limit       int    // results; 0 is no limit
	After       string // cursor of the last result that was seen
	Sort        Sort   // "" is Newest
	Context     int    // events before and after each hit
	AllVersions bool   // also earlier versions, copies and copied history
	NoSnippets  bool   // results without texts
	// Timeout ends the search early with what it has; 0 is none.
	Timeout time.Duration
	// Budget is how many bytes of text may be read to check substrings and expressions: 0 is DefaultBudget, less
	// is no limit.
	Budget int64
	// Window is how many of the newest hits Relevance ranks; 0 is DefaultWindow.
	Window  int
	Explain bool // Coverage.Explain is filled in
}

// What the zero Options mean.
const (
	DefaultBudget = 2 << 30
	DefaultWindow = 500
)

func (o Options) defaults() Options {
	if o.Sort == "" {
		o.Sort = Newest
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	return o
}

// Find understands a query. Nothing is searched before the Answer's Results are ranged over.
//
// Errors: *query.SyntaxError; *index.UnsupportedError for a cursor or an order that there is not.
func (s *Searcher) Find(ctx context.Context, text string, o Options) (*Answer, error) {
	now := s.Now()
	tree, err := query.Parse(text, now, s.Location)
	if err != nil {
		return nil, err
	}
	a, err := s.FindTree(ctx, tree, o)
	if err == nil {
		a.typed = query.TypedTimes(text, now, s.Location)
	}
	return a, err
}

// FindTree is Find for a query that is parsed already.
func (s *Searcher) FindTree(ctx context.Context, tree *query.Tree, o Options) (*Answer, error) {
	if o = o.defaults(); tree == nil {
		tree = &query.Tree{}
	}
	a := &Answer{ctx: ctx, s: s, tree: tree, o: o, found: newLookup(s.Index)}
	a.marks = newMarker(tree)
	if err := a.order(); err != nil {
		return nil, err
	}
	a.checker = &checker{s: s, o: o, left: o.Budget}
	return a, nil
}
