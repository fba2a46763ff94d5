// Package secret finds credentials in text: keys, tokens and passwords, by the rules of gitleaks, which a community
// keeps up to date (https://github.com/gitleaks/gitleaks, MIT). It knows rules and text, but no archive: the caller
// knows where a text comes from, and nothing here keeps or prints what was found.
//
// It promises to reject text without a keyword of any rule at little cost, to take time in proportion to a text, to compile
// a rule only when one of its keywords occurs, and to find the same secrets in a long text as in a short one.
package secret

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Match is one secret in a text.
type Match struct {
	Rule       string // such as "github-pat"
	Start, End int    // byte range
}

// Find returns the secrets of a text in order. Overlapping matches are merged; the result has the rule name of the
// most specific one.
func Find(text string) []Match {
	var all []Match
	for r, at := range places(text) {
		for _, w := range r.windows(text, at) {
			all = r.find(all, text, w)
		}
	}
	return join(all)
}

// Redact returns the text with each secret replaced by a mark that names the rule.
func Redact(text string) string {
	found := Find(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, m := range found {
		b.WriteString(text[at:m.Start])
		b.WriteString("[redacted: " + m.Rule + "]")
		at = m.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// find appends the matches of the rule in one window of the text.
func (r *rule) find(to []Match, text string, w window) []Match {
	r.once.Do(r.compile)
	part := text[w.start:w.end]
	for _, at := range r.matches(part, w) {
		start, end := group(at, r.SecretGroup)
		whole := strings.Trim(part[at[0]:at[1]], "\n")
		value := part[start:end]
		if value == "" || r.Entropy > 0 && entropy(value) <= r.Entropy || r.allowed(value, whole, lineAround(part, at[0], at[1])) {
			continue
		}
		to = append(to, Match{Rule: r.ID, Start: w.start + start, End: w.start + end})
	}
	return to
}

// matches returns the places of all matches in a window, as regexp does. If a match can only begin with a keyword, no other place is tried.
func (r *rule) matches(part string, w window) (all [][]int) {
	// To (?i), these two are letters of keywords, and no others outside ASCII are.
	if r.anchored == nil || strings.Contains(part, "\u017f") || strings.Contains(part, "\u212a") {
		return r.pattern().FindAllStringSubmatchIndex(part, -1)
	}
	end, read := 0, 0
	for _, p := range w.places {
		from := p.start - w.start
		if from < end || r.bounded && from > 0 && isWord(part[from-1]) {
			continue
		}
		text := reader{text: part[from:]}
		at := r.anchored.FindReaderSubmatchIndex(&text)
		if read += text.at; read > patience*len(part) { // all tries may go to the end
			return r.pattern().FindAllStringSubmatchIndex(part, -1)
		}
		if at == nil {
			continue
		}
		for i := range at {
			if at[i] >= 0 {
				at[i] += from
			}
		}
		all, end = append(all, at), at[1]
	}
	return all
}

// patience is how often a text is read at most, before it is searched from its beginning to its end.
const patience = 4

// reader reads a text as far as a pattern needs it.
type reader struct {
	text string
	at   int
}

// ReadRune implements io.RuneReader.
func (r *reader) ReadRune() (c rune, size int, err error) {
	if r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRuneInString(r.text[r.at:])
	r.at += size
	return c, size, nil
}

// isWord reports whether regexp takes a byte for the part of a word.
func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= lower[c] && lower[c] <= 'z'
}

// group returns the range of the secret in a match: the group that the rule names, else the first that is not empty,
// else the whole match.
func group(at []int, number int) (start, end int) {
	if number > 0 {
		return max(at[2*number], 0), max(at[2*number+1], 0)
	}
	for i := 2; i < len(at); i += 2 {
		if at[i] < at[i+1] {
			return at[i], at[i+1]
		}
	}
	return at[0], at[1]
}

// lineAround returns the lines that a range touches.
func lineAround(text string, start, end int) string {
	from := strings.LastIndexByte(text[:start], '\n') + 1
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		return text[from : end+i]
	}
	return text[from:]
}

// entropy returns the Shannon entropy in bits per character.
func entropy(text string) float64 {
	counts := map[rune]int{}
	n := 0
	for _, c := range text {
		counts[c]++
		n++
	}
	bits := 0.0
	for _, count := range counts {
		p := float64(count) / float64(n)
		bits -= p * math.Log2(p)
	}
	return bits
}

// generic is the name prefix of rules that recognise a secret only by the words around it.
const generic = "generic-"

// join sorts matches and merges overlapping ones.
func join(all []Match) []Match {
	slices.SortFunc(all, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Rule, b.Rule))
	})
	var out []Match
	for _, m := range all {
		if n := len(out); n > 0 && m.Start < out[n-1].End {
			last := &out[n-1]
			last.End = max(last.End, m.End)
			if strings.HasPrefix(last.Rule, generic) {
				last.Rule = m.Rule
			}
			continue
		}
		out = append(out, m)
	}
	return out
}
