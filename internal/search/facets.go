package search

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Facet counts the hits that have one value of a field. An empty Value means unknown.
type Facet struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Hits  int64  `json:"hits"`
}

// facets returns the value of a field, by name.
var facets = map[string]func(*Result) string{
	"tool":         func(r *Result) string { return r.Tool },
	"role":         func(r *Result) string { return r.Role },
	"kind":         func(r *Result) string { return string(r.Kind) },
	"type":         func(r *Result) string { return r.Type },
	"format":       func(r *Result) string { return r.Place.Format },
	"source":       func(r *Result) string { return r.Place.Source },
	"path":         func(r *Result) string { return r.Place.Path },
	"agent":        (*Result).Agent,
	"model":        (*Result).Model,
	"project":      (*Result).Project,
	"group":        func(r *Result) string { return r.Run.Group },
	"flow":         (*Result).Flow,
	"step":         (*Result).Step,
	"outcome":      func(r *Result) string { return string(r.Run.Outcome) },
	"run":          func(r *Result) string { return r.Event.Run },
	"conversation": func(r *Result) string { return r.Event.Conversation },
}

// facetTimes are the layouts of fields that are the time of a row, in the zone of the searcher.
var facetTimes = map[string]string{"month": "2006-01", "day": time.DateOnly}

func (s *Searcher) facet(field string, r *Result) string {
	if layout := facetTimes[field]; layout != "" {
		return time.UnixMicro(r.Near).In(s.zone()).Format(layout)
	}
	return facets[field](r)
}

// FacetFields returns the fields that Facets accepts.
func FacetFields() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(facets)), maps.Keys(facetTimes))
	slices.Sort(all)
	return all
}

// File is a version of an original that has hits.
type File struct {
	Source  string `json:"source"`
	Path    string `json:"path"`
	Version int    `json:"version"`
}

// Files yields the originals that have hits, each once, in the order of their first hits. It is used in place of
// Results. Options.Limit bounds the number of originals; an original may be repeated after a cursor.
func (a *Answer) Files() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		if all, ok, err := a.originals(); ok {
			for _, v := range all {
				if !yield(File{v.Source, v.Path, v.Number}, nil) {
					return
				}
			}
			if err != nil {
				yield(File{}, err)
			}
			return
		}
		limit, last := a.o.Limit, a.o.After
		a.o.NoSnippets, a.o.Limit = true, 0
		seen := map[File]bool{}
		for r, err := range a.Results() {
			f := File{Source: r.Place.Source, Path: r.Place.Path, Version: r.Place.Number}
			switch {
			case err != nil:
				yield(f, err)
				return
			case !seen[f] && limit > 0 && len(seen) == limit: // its hit is for the next page
				a.shown, a.next = a.shown-1, last
				return
			case !seen[f] && !yield(f, nil):
				return
			}
			seen[f], last = true, r.Cursor
		}
	}
}

// Facets counts the hits by the values of fields: field by field, the most frequent value first, but times in their order. It is used
// in place of Results. Options.Limit bounds the number of hits that are counted. Errors: *index.UnsupportedError for a field.
func (a *Answer) Facets(fields ...string) ([]Facet, error) {
	for _, f := range fields {
		if facets[f] == nil && facetTimes[f] == "" {
			return nil, &index.UnsupportedError{What: "facet " + strconv.Quote(f), Why: "hits cannot be counted by it", Hint: "--facets takes " + strings.Join(FacetFields(), ", ")}
		}
	}
	counts, ok, err := a.tally(fields)
	if err != nil {
		return nil, err
	}
	if ok {
		return sorted(counts, fields), nil
	}
	a.o.NoSnippets = true
	for r, err := range a.Results() {
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			counts[Facet{Field: f, Value: a.s.facet(f, &r)}]++
		}
	}
	return sorted(counts, fields), nil
}

// originals asks the index for the versions that have hits. ok is false if the index cannot answer that, or if not
// all of them are wanted.
func (a *Answer) originals() (all []index.VersionKey, ok bool, err error) {
	if a.o.Limit > 0 || a.o.Timeout > 0 || a.o.After != "" || a.o.Sort == Relevance {
		return nil, false, nil
	}
	tree, err := a.indexOnly(a.ctx)
	if tree == nil || err != nil {
		return nil, err != nil, err
	}
	started := a.s.Now()
	defer func() { a.elapsed = a.s.Now().Sub(started) }()
	all, rows, err := a.s.Index.Originals(a.ctx, tree, index.Page{AllVersions: a.o.AllVersions}, a.o.Sort == Oldest)
	a.ended, a.shown = err == nil, int(rows)
	return all, true, err
}

// Tallier counts hits by field values and lists the originals with hits, without fetching the hits.
type Tallier interface {
	// Originals returns the versions that have hits, ordered by their newest or oldest hit, and the number of hits.
	Originals(ctx context.Context, q *query.Tree, page index.Page, oldest bool) (all []index.VersionKey, rows int64, err error)
	// Tally counts hits for each field separately, under "" those without a value, and all rows. If it ends early, it
	// returns the counts so far along with the error. Days and months are those of a zone.
	Tally(ctx context.Context, q *query.Tree, page index.Page, fields []string, zone *time.Location) (counts []map[string]int64, rows int64, err error)
}

// tally asks the index for the counts. ok is false if the index cannot answer that.
func (a *Answer) tally(fields []string) (counts map[Facet]int64, ok bool, err error) {
	counts = map[Facet]int64{}
	if len(fields) == 0 || a.o.Limit > 0 || a.o.After != "" {
		return counts, false, nil
	}
	tree, err := a.indexOnly(a.ctx)
	if tree == nil || err != nil {
		return counts, false, err
	}
	started, ctx := a.s.Now(), a.ctx
	defer func() { a.elapsed = a.s.Now().Sub(started) }()
	if a.o.Timeout > 0 {
		short, cancel := context.WithTimeout(ctx, a.o.Timeout)
		defer cancel()
		ctx = short
	}
	all, rows, err := a.s.Index.Tally(ctx, tree, index.Page{AllVersions: a.o.AllVersions}, fields, a.s.zone())
	a.ended, a.shown = err == nil, int(rows)
	if err != nil {
		err = a.stopped(ctx, err)
	}
	for i, values := range all {
		for value, n := range values {
			counts[Facet{Field: fields[i], Value: value}] = n
		}
	}
	return counts, true, err
}

// indexOnly returns the query that the index can answer without any text being checked, or nil if there is none.
func (a *Answer) indexOnly(ctx context.Context) (*query.Tree, error) {
	if len(a.patterns()) == 0 {
		return a.tree, nil
	}
	questions, err := a.questions(ctx)
	if err != nil || len(questions) != 1 || len(questions[0].check) > 0 {
		return nil, err
	}
	return questions[0].tree, nil
}

// sorted returns counts in the order of fields, the most frequent values first, but times as they follow each other.
func sorted(counts map[Facet]int64, fields []string) []Facet {
	out := make([]Facet, 0, len(counts))
	for f, n := range counts {
		f.Hits = n
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Facet) int {
		byField, byHits := cmp.Compare(slices.Index(fields, a.Field), slices.Index(fields, b.Field)), cmp.Compare(b.Hits, a.Hits)
		if facetTimes[a.Field] != "" {
			byHits = 0
		}
		return cmp.Or(byField, byHits, cmp.Compare(a.Value, b.Value))
	})
	return out
}

// Count counts all hits, regardless of Options.Limit. It is used in place of Results. Coverage says whether it
// stopped early.
func (a *Answer) Count(ctx context.Context) (int64, error) {
	started := a.s.Now()
	defer func() { a.elapsed = a.s.Now().Sub(started) }()
	if a.o.Timeout > 0 {
		short, cancel := context.WithTimeout(ctx, a.o.Timeout)
		defer cancel()
		ctx = short
	}
	a.o.Limit, a.candidates.wantedHits = 0, 0
	tree, err := a.indexOnly(ctx)
	if err != nil {
		return 0, a.stopped(ctx, err)
	}
	if tree != nil {
		n, err := a.s.Index.Count(ctx, tree, index.Page{AllVersions: a.o.AllVersions})
		a.ended, a.shown = err == nil, int(n)
		if err != nil {
			err = a.stopped(ctx, err)
		}
		return n, err
	}
	for f, err := range a.stream(ctx, "") {
		if err != nil {
			return int64(a.shown), a.stopped(ctx, err)
		}
		a.shown++
		a.next = f.Cursor
	}
	a.ended = true
	return int64(a.shown), nil
}
