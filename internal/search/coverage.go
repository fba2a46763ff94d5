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

// Coverage says what an answer covers and what it leaves out. Its JSON has all keys; what is unknown is null.
type Coverage struct {
	Query   string   `json:"query"`   // as understood, with absolute times
	Terms   []string `json:"terms"`   // what text was looked for
	Ignored []string `json:"ignored"` // words that say nothing: punctuation only
	Sort    Sort     `json:"sort"`
	Window  *int     `json:"window"` // newest hits that were ranked, with Relevance

	Events *int64 `json:"events_searched"` // events that count
	Rows   *int64 `json:"rows_searched"`   // all rows: parts, and what is searchable but no event

	Shown int     `json:"hits_shown"`
	More  bool    `json:"more"` // there are hits after the last one shown, or may be
	Next  *string `json:"next"` // cursor for them; null where none leads there
	// Complete says that every hit was shown.
	Complete bool `json:"complete"`
	// Partial says why hits may be missing among or after those shown. Null: none are.
	Partial *string `json:"partial"`

	Checked    int64    `json:"texts_checked"` // originals read to verify substrings and expressions
	Unreadable int64    `json:"texts_unreadable"`
	Hidden     []Hidden `json:"hidden"`
	Sources    []Source `json:"sources"` // stale, missing or with problems; null when not known
	Problems   *int64   `json:"problems"`
	// Thinned is how many runs a policy has taken words of out of the index; null when it is not known.
	Thinned *int64 `json:"runs_thinned"`
	// Limits are rules that keep something out of the reach of this query in any archive.
	Limits    []string   `json:"limits"`
	Proposals []Proposal `json:"proposals"` // where nothing was found
	Explain   *Explain   `json:"explain"`
	Elapsed   int64      `json:"elapsed_us"`
}

// Hidden is hits that one filter, or one rule that holds unless told otherwise, leaves out.
type Hidden struct {
	By      string `json:"by"` // a filter as written in a query, or a verdict
	Rule    bool   `json:"rule"`
	Hits    int64  `json:"hits"`
	AtLeast bool   `json:"at_least"` // there may be more
}

// Proposal is a query that finds something where the one that was asked found nothing.
type Proposal struct {
	Query  string `json:"query"`
	Why    string `json:"why"`
	Option string `json:"option"` // to add to the command instead, "" for none
}

// Explain is how a query was run.
type Explain struct {
	Texts        []ExplainText `json:"texts"`
	Filters      []string      `json:"filters"`
	Alternatives []string      `json:"alternatives"` // what the index was asked, and what was then checked on texts
	Engine       []string      `json:"engine"`
}

// ExplainText is what became of one text of the query.
type ExplainText struct {
	Text       string   `json:"text"`
	Kind       string   `json:"kind"` // word, phrase, prefix, substring, regex
	Terms      []string `json:"terms"`
	Candidates string   `json:"candidates"` // what stands in for a substring or expression in the index
}

// Coverage tells what the answer covers. It is complete when Results was ranged over; what it asks of the index
// beside the search is bounded in number and time.
func (a *Answer) Coverage(ctx context.Context) (*Coverage, error) {
	limit := coverageTime
	if a.o.Timeout > 0 {
		limit = min(limit, max(a.o.Timeout-a.elapsed, leastCoverage))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return a.cover(ctx)
}

// How long a coverage may take, and how long it may when the time of the search is up. What it has not found out by then
// is unknown or not told.
const (
	coverageTime  = time.Second
	leastCoverage = 50 * time.Millisecond
)

func (a *Answer) cover(ctx context.Context) (*Coverage, error) {
	c := &Coverage{Query: a.tree.String(), Sort: a.o.Sort, Shown: a.shown, More: a.more, Terms: []string{}, Ignored: []string{},
		Hidden: []Hidden{}, Limits: []string{}, Proposals: []Proposal{}, Checked: a.checker.read, Unreadable: a.checker.unreadable,
		Elapsed: a.elapsed.Microseconds()}
	a.state(c)
	a.words(c)
	if t := a.told; t != nil {
		c.Events, c.Rows, c.Problems, c.Thinned, c.Hidden = t.Events, t.Rows, t.Problems, t.Thinned, t.Hidden
	}
	steps := a.steps()[a.asked:]
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
	if a.look != nil {
		c.Sources = unwell(a.look())
	}
	return c, a.ctx.Err()
}

// state says how far the search came.
func (a *Answer) state(c *Coverage) {
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
	if a.o.Sort == Relevance && a.windowed { // what is older than those that were ranked has no place after them
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

// words says what was looked for.
func (a *Answer) words(c *Coverage) {
	seen := map[string]bool{}
	for _, n := range leaves(a.tree.Root) {
		terms := phraseOf(n)
		switch n := n.(type) {
		case query.Substring, query.Regex:
			terms = []string{n.String()}
		default:
			if len(terms) == 0 {
				c.Ignored = append(c.Ignored, n.String())
			}
		}
		for _, t := range terms {
			if !seen[t] {
				seen[t] = true
				c.Terms = append(c.Terms, t)
			}
		}
	}
	if len(c.Terms) > 0 {
		c.Limits = append(c.Limits, "in unbroken runs of 256 and more letters and digits, such as base64, only the first 64 are found")
	}
	if slices.ContainsFunc(c.Terms, idlike) {
		c.Limits = append(c.Limits, "ids that look random are found whole, by their beginning (a3f9*) and as substrings (*9c1*), not by parts")
	}
}

// idlike reports terms that may be parts of random ids: letters or digits of hexadecimal numbers.
func idlike(term string) bool {
	return len(term) <= 8 && strings.Trim(term, "0123456789abcdef") == "" && strings.ContainsAny(term, "0123456789")
}

// leaves returns the texts of a query, negated ones too.
func leaves(n query.Node) (texts []query.Node) {
	for n := range query.Leaves(n) {
		if query.IsText(n) {
			texts = append(texts, n)
		}
	}
	return texts
}

// patterns returns what is checked on texts.
func (a *Answer) patterns() (out []pattern) {
	for _, alt := range a.alternatives {
		out = append(out, alt.check...)
	}
	return out
}

// steps is what is asked of the index for a coverage, whatever the hits are.
func (a *Answer) steps() []func(context.Context, *Coverage) error {
	return []func(context.Context, *Coverage) error{a.size, a.thinned, a.sources, a.hidden}
}

// asideTime is how long the first hits wait at most for what the coverage says beside them.
const asideTime = 20 * time.Millisecond

// aside asks that while the texts of hits are read, once, but for hits left out that texts must be read for. Where the search has a limit
// of time, it is the hits'. What takes longer is left to Coverage.
func (a *Answer) aside(ctx context.Context) {
	if a.told != nil || a.o.Timeout > 0 {
		return
	}
	a.told = &Coverage{Hidden: []Hidden{}}
	ctx, cancel := context.WithTimeout(ctx, asideTime)
	defer cancel()
	steps := a.steps()
	if len(a.patterns()) > 0 || patterned(a.tree.Root) {
		steps = steps[:3]
	}
	for _, step := range steps {
		c := *a.told
		if step(ctx, &c) != nil || ctx.Err() != nil {
			return
		}
		*a.told, a.asked = c, a.asked+1
	}
}

func (a *Answer) size(ctx context.Context, c *Coverage) error {
	events, rows, problems, err := a.s.Index.Size(ctx)
	if err == nil {
		c.Events, c.Rows, c.Problems = &events, &rows, &problems
	}
	return err
}

// thinned counts the runs that a search does not see all words of.
func (a *Answer) thinned(ctx context.Context, c *Coverage) error {
	n, err := a.s.Index.Thinned(ctx)
	if err == nil {
		c.Thinned = &n
	}
	return err
}

// sources asks for what unwell then looks at.
func (a *Answer) sources(ctx context.Context, _ *Coverage) (err error) {
	if a.s.Sources != nil {
		a.look, err = a.s.Sources(ctx)
	}
	return err
}

// unwell returns the sources that are not as they should be.
func unwell(all []Source) []Source {
	some := []Source{}
	for _, s := range all {
		if s.State != "ok" || s.Problems > 0 {
			some = append(some, s)
		}
	}
	return some
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
			g, err := a.candidates.of(ctx, n)
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
	case query.Substring:
		return "substring"
	}
	return "regex"
}

// describe prints candidates, cut short where there are many.
func describe(n query.Node) string {
	switch {
	case n == nil:
		return "every row"
	case n.String() == nothing.String():
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
