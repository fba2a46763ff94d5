// Package search implements full-text search and views: it turns the text of a query into hits with snippets, and the
// id of something into a view of it. It owns what an index cannot do by itself: substrings and regular expressions
// (candidates from the index, verified on the original texts), orders other than newest first, the events around a
// hit, the pairing of calls with results, the tree of a run; and the coverage of every answer. It knows no SQL, no
// packs and no terminal: the index, the texts and the state of the sources are plugged in.
//
// Promises: results stream, and memory is bounded whatever the number of hits; a cancelled context stops the work;
// recall is 1.0, or the coverage says what is partial and why; a cursor continues where a page ended, without
// repeating or skipping what was there, even while more is ingested.
package search

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Texts returns the text of one part of an event exactly as it was indexed. part counts from 0. It is safe for
// concurrent use.
type Texts interface {
	Text(ctx context.Context, place index.Place, part int) (string, error)
	// Placed returns a function that does what Text does for any of these places, whose locations it has looked up at
	// once.
	Placed(ctx context.Context, places []index.Place) func(ctx context.Context, place index.Place, part int) (string, error)
}

// Index is what search needs of an index: rows, things by their ids, and statistics that need no rows.
type Index interface {
	index.Reader
	index.Lookup
	Vocabulary
	Counter
	Tallier
	Ranker
	Labeler
	// Pace returns approximately the time by which rows more rows have come since from; the greatest time if there
	// are fewer.
	Pace(ctx context.Context, from int64, rows int) (to int64, err error)
	// Results returns the public ids of result rows by the public ids of their calls, for the calls of one
	// conversation with from <= seq <= to. Calls without a result are missing.
	Results(ctx context.Context, conversation string, from, to int64) (map[string]string, error)
	// Explain describes how the index would run a query.
	Explain(ctx context.Context, q *query.Tree, page index.Page) ([]string, error)
}

// Vocabulary is the words of an index, folded as terms are. It has identifiers as whole words, not their parts.
type Vocabulary interface {
	// TermsOrCut yields the words that contain a text, and those of at least size bytes that end with a prefix of the
	// text: they may be pieces of words that were too long for one term.
	TermsOrCut(ctx context.Context, contains string, size int) iter.Seq2[string, error]
	// TermsFrom yields the words with a prefix.
	TermsFrom(ctx context.Context, prefix string) iter.Seq2[string, error]
	// TermsAny yields the words of least to most bytes that contain one of the texts.
	TermsAny(ctx context.Context, contain []string, least, most int) iter.Seq2[string, error]
}

// Counter counts without fetching rows.
type Counter interface {
	// Count returns how many rows match, at most page.Limit (0 means no limit). page.After is ignored.
	Count(ctx context.Context, q *query.Tree, page index.Page) (int64, error)
	// Size returns the number of counted events, of all rows that are searched (including parts and searchable text
	// that is not an event), and of problems.
	Size(ctx context.Context, allVersions bool) (events, rows, problems int64, err error)
	// Thinned returns how many runs have originals some of whose words a policy has removed from the index.
	Thinned(ctx context.Context) (runs int64, err error)
}

// Labeler returns what a hit is labelled with, at less cost than loading the whole run.
type Labeler interface {
	// Labels calls take with conversations and their runs, without counts, versions and places. Conversations that do
	// not exist are skipped.
	Labels(ctx context.Context, conversations []string, take func(index.Conversation, index.Run)) error
}

// Source is the state of a source at the time of a search.
type Source struct {
	Name   string     `json:"source"`
	Path   string     `json:"path"`
	State  string     `json:"state"` // ok, stale, missing
	Reason string     `json:"reason"`
	Last   *time.Time `json:"last_ingest"` // nil if unknown
	// Problems is how many of its files or lines could not be read.
	Problems int64 `json:"problems"`
}

// Searcher runs queries. Index, Texts and Now are required.
type Searcher struct {
	Index    Index
	Texts    Texts
	Now      func() time.Time
	Location *time.Location // time zone of dates in queries and of facets; nil is UTC
	// Sources queries the index about the sources. The function that it returns then inspects their directories,
	// which may take any time, and returns their state. A nil Sources leaves that unknown.
	Sources func(ctx context.Context) (inspect func() []Source, err error)
}

func (s *Searcher) zone() *time.Location { return cmp.Or(s.Location, time.UTC) }

// Sort is an order of hits.
type Sort string

// The orders. Newest is the default. Relevance ranks the newest hits only, as many as Options.Window says.
const (
	Newest    Sort = "newest"
	Oldest    Sort = "oldest"
	Relevance Sort = "relevance"
)

// Options configure a search.
type Options struct {
	Limit       int    // results; 0 is no limit
	After       string // cursor of the last result of the previous page
	Sort        Sort   // "" is Newest
	Context     int    // events before and after each hit
	AllVersions bool   // also earlier versions, copies and copied history
	NoSnippets  bool   // do not read texts
	// Timeout ends the search early with the results so far; 0 means none.
	Timeout time.Duration
	// Budget is how many bytes of text may be read to check substrings and expressions: 0 means DefaultBudget, a
	// negative value no limit.
	Budget int64
	// Window is how many of the newest hits Relevance ranks; 0 means DefaultWindow.
	Window  int
	Explain bool // fill in Coverage.Explain
}

// Defaults of Options.
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

// Find parses a query. The search runs when the Answer's Results are ranged over.
//
// Errors: *query.SyntaxError; *index.UnsupportedError for an invalid cursor or order.
func (s *Searcher) Find(ctx context.Context, text string, o Options) (*Answer, error) {
	now := s.Now()
	tree, err := query.Parse(text, now, s.Location)
	if err != nil {
		return nil, err
	}
	a, err := s.FindTree(ctx, tree, o)
	if err == nil {
		a.typedTimes = query.FindTypedTimes(text, now, s.Location)
	}
	return a, err
}

// FindTree is Find for a parsed query.
func (s *Searcher) FindTree(ctx context.Context, tree *query.Tree, o Options) (*Answer, error) {
	if o = o.defaults(); tree == nil {
		tree = &query.Tree{}
	}
	a := &Answer{ctx: ctx, s: s, tree: tree, o: o, labels: newLabelCache(s.Index)}
	a.highlighter = newHighlighter(tree)
	if err := a.prepare(); err != nil {
		return nil, err
	}
	a.checker = &checker{s: s, o: o, left: o.Budget}
	return a, nil
}
