package search

import (
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
)

// maxHighlights bounds how many matches of one substring or expression are highlighted in a text.
const maxHighlights = 1000

// highlighter highlights in a text what a query searches for.
type highlighter struct {
	phrases [][]string
	parts   []string
	exprs   []*regexp.Regexp
	each    []*highlighter // one for each text node of the query
}

func newHighlighter(t *query.Tree) *highlighter {
	m := &highlighter{}
	if t == nil {
		return m
	}
	for _, n := range t.Texts() {
		one := &highlighter{}
		switch n := n.(type) {
		case query.Substring:
			one.parts = []string{n.Text}
		case query.Regex:
			if re, err := n.Compile(); err == nil { // the parser has compiled it before
				one.exprs = []*regexp.Regexp{re}
			}
		case query.Near:
			for _, text := range n.Words() {
				if p := term.Words(text); len(p) > 0 {
					one.phrases = append(one.phrases, p)
				}
			}
		default:
			if p := phraseOf(n); len(p) > 0 {
				one.phrases = [][]string{p}
			}
		}
		m.phrases, m.parts, m.exprs = append(m.phrases, one.phrases...), append(m.parts, one.parts...), append(m.exprs, one.exprs...)
		m.each = append(m.each, one)
	}
	return m
}

// phraseOf returns the terms that a node searches for, in order. A star after the last one means that it is a prefix.
func phraseOf(n query.Node) []string {
	switch n := n.(type) {
	case query.Word:
		return term.Words(n.Text)
	case query.Phrase:
		return term.Words(n.Text)
	case query.Near:
		return term.Words(n.Text)
	case query.Prefix:
		words := term.Words(n.Text)
		if len(words) > 0 {
			words[len(words)-1] += "*"
		}
		return words
	}
	return nil
}

// spans returns the highlighted ranges, ascending and without overlaps.
func (m *highlighter) spans(text string) []term.Span {
	spans := term.Highlight(text, m.phrases)
	for _, p := range m.parts {
		spans = append(spans, term.Substrings(text, p, maxHighlights)...)
	}
	for _, re := range m.exprs {
		for _, at := range re.FindAllStringIndex(text, maxHighlights) {
			if at[0] < at[1] {
				spans = append(spans, term.Span{Start: at[0], End: at[1]})
			}
		}
	}
	if len(m.parts)+len(m.exprs) == 0 {
		return spans
	}
	return term.Merge(spans)
}

// snippetWidth is the approximate length of a snippet in bytes.
const snippetWidth = 200

// snippet cuts the part out of a text that shows most of the highlighted ranges.
func (m *highlighter) snippet(text string) Snippet {
	spans := m.spans(text)
	from, to := term.Window(text, spans, snippetWidth)
	s := Snippet{Text: strings.Clone(text[from:to]), Start: from, Rest: len(text) - to}
	for _, h := range spans {
		if h.Start = max(h.Start, from); h.Start >= to {
			break
		}
		if h.End = min(h.End, to); h.End > h.Start {
			s.Highlights = append(s.Highlights, term.Span{Start: h.Start - from, End: h.End - from})
		}
	}
	return s
}

// text reads the text of a row. Invalid UTF-8 becomes U+FFFD, which separates words as invalid bytes do.
func (s *Searcher) text(ctx context.Context, e *index.Event) (string, error) {
	return textBy(ctx, s.Texts.Text, e)
}

func textBy(ctx context.Context, read func(context.Context, index.Place, int) (string, error), e *index.Event) (string, error) {
	text, err := read(ctx, e.Place, e.Part)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &textError{err}
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return text, nil
}

// textError means that the text of a row could not be read. The search continues.
type textError struct{ err error }

func (e *textError) Error() string { return e.err.Error() }
func (e *textError) Unwrap() error { return e.err }
