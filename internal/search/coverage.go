package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Coverage says what an answer covers and what it leaves out. Its JSON has all keys; unknown values are null.
type Coverage struct {
	Query   string   `json:"query"`   // as parsed, with absolute times
	Terms   []string `json:"terms"`   // the text that was searched for
	Ignored []string `json:"ignored"` // words without effect: punctuation only
	Sort    Sort     `json:"sort"`
	Window  *int     `json:"window"` // newest hits that were ranked, with Relevance

	Events *int64 `json:"events_searched"` // events that count
	Rows   *int64 `json:"rows_searched"`   // all rows, including parts and searchable text that is not an event

	Shown int     `json:"hits_shown"`
	More  bool    `json:"more"` // there are hits after the last one shown, or may be
	Next  *string `json:"next"` // cursor for them; null if there is none
	// Complete says that every hit was shown.
	Complete bool `json:"complete"`
	// Partial says why hits may be missing among or after those shown; null means that none are.
	Partial *string `json:"partial"`

	Checked    int64    `json:"texts_checked"` // originals read to verify substrings and expressions
	Unreadable int64    `json:"texts_unreadable"`
	Hidden     []Hidden `json:"hidden"`
	Sources    []Source `json:"sources"` // sources that are stale, missing or have problems; null if unknown
	Problems   *int64   `json:"problems"`
	// Thinned is how many runs have words that a policy has removed from the index; null if unknown.
	Thinned *int64 `json:"runs_thinned"`
	// Limits are rules that make something unreachable for this query in any archive.
	Limits    []string   `json:"limits"`
	Proposals []Proposal `json:"proposals"` // only if nothing was found
	Explain   *Explain   `json:"explain"`
	Elapsed   int64      `json:"elapsed_us"`
}

// Hidden counts the hits that one filter, or one default rule, leaves out.
type Hidden struct {
	By      string `json:"by"` // a filter as written in a query, or a verdict
	Rule    bool   `json:"rule"`
	Hits    int64  `json:"hits"`
	AtLeast bool   `json:"at_least"` // there may be more
}

// Proposal is a query that has hits where the given one has none.
type Proposal struct {
	Query  string `json:"query"`
	Why    string `json:"why"`
	Option string `json:"option"` // to add to the command instead; "" for none
}

// Explain describes how a query was run.
type Explain struct {
	Texts        []ExplainText `json:"texts"`
	Filters      []string      `json:"filters"`
	Alternatives []string      `json:"alternatives"` // what the index was asked, and what was then checked on texts
	Engine       []string      `json:"engine"`
}

// ExplainText describes how one text of the query was searched for.
type ExplainText struct {
	Text       string   `json:"text"`
	Kind       string   `json:"kind"` // word, phrase, prefix, substring, regex
	Terms      []string `json:"terms"`
	Candidates string   `json:"candidates"` // what the index is asked in place of a substring or expression
}

// Coverage returns what the answer covers. It is complete once Results has been ranged over. The index queries that
// it makes are bounded in number and time.
func (a *Answer) Coverage(ctx context.Context) (*Coverage, error) {
	limit := coverageTime
	if a.o.Timeout > 0 {
		limit = min(limit, max(a.o.Timeout-a.elapsed, minCoverageTime))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return a.cover(ctx)
}

// coverageTime bounds how long a coverage may take, and minCoverageTime is how long it may take even if the time
// limit of the search is used up. Whatever has not been determined by then is unknown or left out.
const (
	coverageTime    = time.Second
	minCoverageTime = 50 * time.Millisecond
)

func (a *Answer) cover(ctx context.Context) (*Coverage, error) {
	c := &Coverage{Query: a.tree.String(), Sort: a.o.Sort, Shown: a.shown, More: a.more, Terms: []string{}, Ignored: []string{},
		Hidden: []Hidden{}, Limits: []string{}, Proposals: []Proposal{}, Checked: a.checker.read, Unreadable: a.checker.unreadable,
		Elapsed: a.elapsed.Microseconds()}
	a.fillState(c)
	a.fillTerms(c)
	if t := a.prefetched; t != nil {
		c.Events, c.Rows, c.Problems, c.Thinned, c.Hidden = t.Events, t.Rows, t.Problems, t.Thinned, t.Hidden
	}
	steps := a.steps()[a.stepsDone:]
	if a.shown == 0 && a.ended && a.o.After == "" {
		steps = append(steps, a.propose)
	}
	if a.o.Explain {
		steps = append(steps, a.explain)
	}
	for _, step := range steps {
		if err := step(ctx, c); err != nil && a.ctx.Err() == nil && ctx.Err() == nil {
			return nil, err
		}
	}
	if a.inspect != nil {
		c.Sources = unhealthy(a.inspect())
	}
	return c, a.ctx.Err()
}

// fillState fills in how far the search got.
func (a *Answer) fillState(c *Coverage) {
	partial := a.partial
	if a.checker.unchecked > 0 {
		partial = join(partial, "texts that could not be read were not checked")
	}
	if partial != "" {
		c.Partial = &partial
	}
	if c.More && a.next != "" {
		c.Next = &a.next
	}
	if a.o.Sort == Relevance && a.windowed { // hits older than the window cannot be ordered after those that were ranked
		c.Window, c.More = &a.o.Window, true
	}
	c.Complete = a.ended && !c.More && c.Partial == nil && a.o.After == ""
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// fillTerms fills in what was searched for.
func (a *Answer) fillTerms(c *Coverage) {
	seen := map[string]bool{}
	c.Ignored = append(c.Ignored, Ignored(a.tree.Root)...)
	for _, n := range leaves(a.tree.Root) {
		terms := phraseOf(n)
		if isChecked(n) {
			terms = []string{n.String()}
		}
		for _, t := range terms {
			if !seen[t] {
				seen[t] = true
				c.Terms = append(c.Terms, t)
			}
		}
	}
	if len(c.Terms) > 0 {
		c.Limits = append(c.Limits, "in unbroken sequences of 256 or more letters and digits, such as base64, only the first 64 are found")
	}
	if slices.ContainsFunc(c.Terms, isNumber) {
		c.Limits = append(c.Limits, "lists of more than 256 numbers in what tools got and returned as JSON, such as embeddings, are not searched")
	}
	if slices.ContainsFunc(c.Terms, idlike) {
		c.Limits = append(c.Limits, "ids that look random are found as a whole, by prefix (a3f9*) and by substring (*9c1*), not by parts")
	}
}

func isNumber(term string) bool { return term != "" && strings.Trim(term, "0123456789") == "" }

// Ignored returns the words of a query that have no effect, because they are only punctuation.
func Ignored(root query.Node) (words []string) {
	for _, n := range leaves(root) {
		if !isChecked(n) && len(phraseOf(n)) == 0 {
			words = append(words, n.String())
		}
	}
	return words
}

// isChecked reports whether a text node is checked against texts, not looked up in the index.
func isChecked(n query.Node) bool {
	switch n.(type) {
	case query.Substring, query.Regex:
		return true
	}
	return false
}

// idlike reports whether a term may be part of a random id: it consists of hexadecimal digits, at least one of them
// decimal.
func idlike(term string) bool {
	return len(term) <= 8 && strings.Trim(term, "0123456789abcdef") == "" && strings.ContainsAny(term, "0123456789")
}

// leaves returns the text nodes of a query, including negated ones.
func leaves(n query.Node) (texts []query.Node) {
	for n := range query.Leaves(n) {
		if query.IsText(n) {
			texts = append(texts, n)
		}
	}
	return texts
}

// patterns returns the patterns that are checked against texts.
func (a *Answer) patterns() (out []pattern) {
	for _, alt := range a.alternatives {
		out = append(out, alt.check...)
	}
	return out
}

// steps returns the queries to the index that a coverage needs regardless of the hits.
func (a *Answer) steps() []func(context.Context, *Coverage) error {
	return []func(context.Context, *Coverage) error{a.fillSize, a.fillThinned, a.fillSources, a.fillHidden}
}

// prefetchTime bounds how long the first hits may wait for the coverage that is determined meanwhile.
const prefetchTime = 20 * time.Millisecond

// prefetchCoverage runs the coverage's steps once, while the texts of the first hits are read, except for counting hidden
// hits if that requires texts. It does nothing if the search has a time limit, which belongs to the hits. Steps that
// take longer are left to Coverage.
func (a *Answer) prefetchCoverage(ctx context.Context) {
	if a.prefetched != nil || a.o.Timeout > 0 {
		return
	}
	a.prefetched = &Coverage{Hidden: []Hidden{}}
	ctx, cancel := context.WithTimeout(ctx, prefetchTime)
	defer cancel()
	steps := a.steps()
	if len(a.patterns()) > 0 || patterned(a.tree.Root) {
		steps = steps[:3]
	}
	for _, step := range steps {
		c := *a.prefetched
		if step(ctx, &c) != nil || ctx.Err() != nil {
			return
		}
		*a.prefetched, a.stepsDone = c, a.stepsDone+1
	}
}

func (a *Answer) fillSize(ctx context.Context, c *Coverage) error {
	events, rows, problems, err := a.s.Index.Size(ctx, a.o.AllVersions)
	if err == nil {
		c.Events, c.Rows, c.Problems = &events, &rows, &problems
	}
	return err
}

// fillThinned counts the runs some of whose words cannot be searched.
func (a *Answer) fillThinned(ctx context.Context, c *Coverage) error {
	n, err := a.s.Index.Thinned(ctx)
	if err == nil {
		c.Thinned = &n
	}
	return err
}

// fillSources queries the state of the sources, which unwell filters later.
func (a *Answer) fillSources(ctx context.Context, _ *Coverage) (err error) {
	if a.s.Sources != nil {
		a.inspect, err = a.s.Sources(ctx)
	}
	return err
}

// unhealthy returns the sources that are not ok or have problems.
func unhealthy(all []Source) []Source {
	out := []Source{}
	for _, s := range all {
		if s.State != "ok" || s.Problems > 0 {
			out = append(out, s)
		}
	}
	return out
}

func (a *Answer) explain(ctx context.Context, c *Coverage) error {
	x := &Explain{Texts: []ExplainText{}, Filters: []string{}, Alternatives: []string{}, Engine: []string{}}
	c.Explain = x
	for _, n := range leaves(a.tree.Root) {
		t := ExplainText{Text: n.String(), Kind: kindOf(n), Terms: phraseOf(n)}
		if t.Terms == nil {
			t.Terms = []string{}
		}
		if patterned(n) {
			g, err := a.candidates.prefilter(ctx, n)
			if err != nil {
				return err
			}
			t.Candidates = describe(g.node())
		}
		x.Texts = append(x.Texts, t)
	}
	for _, f := range filters(a.tree.Root) {
		x.Filters = append(x.Filters, f.String())
	}
	questions, err := a.questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range questions {
		x.Alternatives = append(x.Alternatives, q.String())
		lines, err := a.s.Index.Explain(ctx, q.tree, index.Page{After: a.o.After, AllVersions: a.o.AllVersions})
		if err != nil {
			return err
		}
		x.Engine = append(x.Engine, lines...)
	}
	return nil
}

func kindOf(n query.Node) string {
	switch n.(type) {
	case query.Word:
		return "word"
	case query.Phrase:
		return "phrase"
	case query.Prefix:
		return "prefix"
	case query.Near:
		return "near"
	case query.Substring:
		return "substring"
	}
	return "regex"
}

// describe prints candidates, abbreviated if there are many.
func describe(n query.Node) string {
	switch {
	case n == nil:
		return "every row"
	case n.String() == noRows.String():
		return "none"
	}
	all := query.Alternatives(n)
	var b strings.Builder
	for i, one := range all {
		if b.Len() > 400 {
			fmt.Fprintf(&b, " and %d more", len(all)-i)
			break
		}
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString(one.String())
	}
	return b.String()
}
