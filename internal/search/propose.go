package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/typo"
)

// propose searches for similar queries that have hits.
func (a *Answer) propose(ctx context.Context, c *Coverage) error {
	for _, h := range c.Hidden {
		if h.Rule {
			c.Proposals = append(c.Proposals, Proposal{Query: c.Query, Option: "--all-versions", Why: "also search earlier versions and copies"})
			break
		}
	}
	if a.tree.Root == nil {
		return nil
	}
	for _, f := range query.Conditions(a.tree.Root) {
		wide, ok := wider(f)
		if !ok {
			continue
		}
		if err := a.offer(ctx, c, without(a.tree.Root, f, wide), "part of the value is enough"); err != nil {
			return err
		}
	}
	for _, f := range filters(a.tree.Root) {
		if err := a.offer(ctx, c, without(a.tree.Root, f), "without "+a.typedTimes.Print(f)); err != nil {
			return err
		}
	}
	if err := a.proposeFields(ctx, c); err != nil {
		return err
	}
	if err := a.proposeDates(ctx, c); err != nil {
		return err
	}
	for _, n := range leaves(a.tree.Root) {
		if err := a.proposeText(ctx, c, n); err != nil {
			return err
		}
	}
	if len(c.Proposals) > 0 {
		return nil
	}
	return a.proposeFewer(ctx, c)
}

// maxFewer is the number of texts up to which a query without one of them is proposed.
const maxFewer = 8

// proposeFewer proposes the query without one of its texts or, if that finds nothing either, with any of them.
func (a *Answer) proposeFewer(ctx context.Context, c *Coverage) error {
	var texts, others []query.Node
	for _, n := range query.Conditions(a.tree.Root) {
		if query.IsText(n) {
			texts = append(texts, n)
		} else {
			others = append(others, n)
		}
	}
	if len(texts) < 2 || len(texts) > maxFewer {
		return nil
	}
	for _, n := range texts {
		if err := a.offer(ctx, c, without(a.tree.Root, n), "without "+n.String()); err != nil {
			return err
		}
	}
	if len(c.Proposals) > 0 || len(texts) == 2 {
		return nil
	}
	anyOf := &query.Tree{Root: query.Conjunction(append(others, query.Or{Of: texts})...)}
	if err := a.offer(ctx, c, anyOf, "any of them, the best first"); err != nil {
		return err
	}
	for i := range c.Proposals {
		c.Proposals[i].Option = "--sort relevance"
	}
	return nil
}

// proposeFields proposes to read words of the query as conditions: model=gpt, Tool:Bash, after>2026.
func (a *Answer) proposeFields(ctx context.Context, c *Coverage) error {
	for _, n := range query.Conditions(a.tree.Root) {
		word, ok := n.(query.Word)
		if !ok {
			continue
		}
		for _, meant := range query.Meant(word.Text) {
			if found, err := a.offerInstead(ctx, c, n, meant, "as a field"); err != nil {
				return err
			} else if found {
				break
			}
		}
	}
	return nil
}

// proposeDates proposes to read words of the query as dates: yesterday, 2026-11, 7d.
func (a *Answer) proposeDates(ctx context.Context, c *Coverage) error {
	for _, n := range query.Conditions(a.tree.Root) {
		if word, ok := n.(query.Word); ok {
			if _, err := a.offerInstead(ctx, c, n, "during:"+word.Text, word.Text+" as a time"); err != nil {
				return err
			}
		}
	}
	return nil
}

// offerInstead offers the query with a condition, as people write it, in place of another. It does nothing if that is none.
func (a *Answer) offerInstead(ctx context.Context, c *Coverage, old query.Node, by, why string) (found bool, err error) {
	text := strings.TrimSpace(without(a.tree.Root, old).String() + " " + by)
	t, err := query.Parse(text, a.s.Now(), a.s.Location)
	if err != nil {
		return false, nil // not a condition
	}
	had := len(c.Proposals)
	if err := a.offer(ctx, c, t, why); err != nil {
		return false, err
	}
	if len(c.Proposals) == had {
		return false, nil
	}
	c.Proposals[had].Query = text
	return true, nil
}

// wider returns a field condition that matches its values anywhere in the field: a project is a whole path, of which
// people know the end.
func wider(n query.Node) (query.Field, bool) {
	f, ok := n.(query.Field)
	if !ok || f.Name == "is" || f.Name == "has" {
		return f, false
	}
	f.Values = slices.Clone(f.Values)
	ok = false
	for i := range f.Values {
		if v := &f.Values[i]; v.Text != "" && v.Match != query.Contains {
			v.Match, ok = query.Contains, true
		}
	}
	return f, ok
}

// offer proposes a query if it has hits.
func (a *Answer) offer(ctx context.Context, c *Coverage, t *query.Tree, why string) error {
	sub, err := a.s.FindTree(ctx, t, Options{AllVersions: a.o.AllVersions, Limit: 1, NoSnippets: true, Budget: checkBudget})
	if err != nil {
		return err
	}
	for _, err := range sub.stream(ctx, "") {
		if err == nil {
			c.Proposals = append(c.Proposals, Proposal{Query: a.typedTimes.Print(t), Why: why})
		} else if errors.Is(err, errBudget) {
			err = nil
		}
		return err
	}
	return nil
}

// looseWithin is how far apart the words of a phrase may be in a proposal.
const looseWithin = 10

// maxNear is how many similar words are proposed for one that has no hits.
const maxNear = 5

// proposeText proposes similar words for one that is not in the index, and for a phrase its words without their
// order.
func (a *Answer) proposeText(ctx context.Context, c *Coverage, n query.Node) error {
	words := term.Words(textOf(n))
	if len(words) == 0 || patterned(n) {
		return nil
	}
	at, isNear := n.(query.Near)
	if len(words) > 1 {
		if why := fmt.Sprintf("at most %d words apart", looseWithin); !isNear && len(words) <= query.MaxNearWords {
			if err := a.offer(ctx, c, a.replaced(n, query.Near{Text: strings.Join(words, " "), Within: looseWithin}), why); err != nil {
				return err
			}
		}
		var of []query.Node
		for _, w := range words {
			of = append(of, query.Word{Text: w})
		}
		why := "as words, not as a phrase"
		if isNear {
			why = "at any distance"
		}
		if err := a.offer(ctx, c, a.replaced(n, query.And{Of: of}), why); err != nil {
			return err
		}
	}
	for _, w := range words {
		near, err := nearest(ctx, a.s.Index, w)
		if err != nil {
			return err
		}
		for _, other := range near {
			text := strings.Join(replaceWord(words, w, other), " ")
			var m query.Node = query.Word{Text: text}
			switch {
			case isNear:
				m = query.Near{Text: strings.Join(replaceWord(at.Words(), w, other), " "), Within: at.Within}
			case len(words) > 1:
				m = query.Phrase{Text: text}
			}
			if err := a.offer(ctx, c, a.replaced(n, m), "the most similar indexed word"); err != nil {
				return err
			}
		}
	}
	return nil
}

func textOf(n query.Node) string {
	switch n := n.(type) {
	case query.Word:
		return n.Text
	case query.Phrase:
		return n.Text
	case query.Prefix:
		return n.Text
	case query.Near:
		return n.Text
	}
	return ""
}

func replaceWord(words []string, old, by string) []string {
	out := slices.Clone(words)
	for i := range out {
		if out[i] == old {
			out[i] = by
		}
	}
	return out
}

// replaced returns the query with one of its texts replaced.
func (a *Answer) replaced(old, by query.Node) *query.Tree {
	return &query.Tree{Root: query.Conjunction(swap(a.tree.Root, old, by))}
}

func swap(n, old, by query.Node) query.Node {
	each := func(of []query.Node) []query.Node {
		out := make([]query.Node, len(of))
		for i := range of {
			out[i] = swap(of[i], old, by)
		}
		return out
	}
	switch m := n.(type) {
	case query.And:
		return query.Conjunction(each(m.Of)...)
	case query.Or:
		return query.Or{Of: each(m.Of)}
	case query.Not:
		return query.Not{Of: swap(m.Of, old, by)}
	case query.Field, query.Range, query.Compare:
		return n
	}
	if n.String() == old.String() {
		return by
	}
	return n
}

// maxNearSeen bounds how many words are compared with one that is not in the index.
const maxNearSeen = 50_000

// nearTime bounds the scan of all words for those that differ at their beginning.
const nearTime = 60 * time.Millisecond

// nearest returns the words of the index within an edit distance of two of a word that it does not contain, the
// nearest first. With at most two edits, at least one third of the word is unchanged.
func nearest(ctx context.Context, v Vocabulary, word string) ([]string, error) {
	if utf8.RuneCountInString(word) < 4 {
		return nil, nil
	}
	distances := map[string]int{}
	runes := []rune(word)
	n := len(runes)
	var thirds []string
	for i := range 3 {
		if third := string(runes[i*n/3 : (i+1)*n/3]); len(third) > 1 {
			thirds = append(thirds, third)
		}
	}
	sieve := func(terms iter.Seq2[string, error]) (there bool, err error) {
		seen := 0
		for t, err := range terms {
			if err != nil || t == word {
				return err == nil, err // the word is in the index: something else prevents hits
			}
			if seen++; seen > maxNearSeen {
				break
			}
			if d := editDistance([]rune(t), runes); d <= 2 {
				distances[t] = d
			}
		}
		return false, nil
	}
	// Most typing errors are not at the beginning, and a prefix scan is fast.
	if len(thirds) > 0 {
		if there, err := sieve(v.TermsFrom(ctx, thirds[0])); there || err != nil {
			return nil, err
		}
	}
	if len(distances) == 0 {
		short, cancel := context.WithTimeout(ctx, nearTime)
		defer cancel()
		const most = 2 * utf8.UTFMax // bytes that two edits add or remove
		if there, err := sieve(v.TermsAny(short, thirds, len(word)-most, len(word)+most)); there || err != nil && short.Err() == nil {
			return nil, err
		}
	}
	var near []string
	for t := range distances {
		near = append(near, t)
	}
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b)) })
	return near[:min(len(near), maxNear)], nil
}

// editDistance is typo.Distance, capped at 3.
func editDistance(a, b []rune) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	return min(typo.Distance(a, b), 3)
}
