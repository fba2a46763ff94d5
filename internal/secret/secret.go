// Package secret finds credentials in text: keys, tokens and passwords, by the rules of gitleaks, which a community
// keeps up to date (https://github.com/gitleaks/gitleaks, MIT). It knows rules and text, but no archive: the caller
// knows where a text comes from, and nothing here keeps or prints what was found.
//
// It promises to reject text without a keyword of any rule at little cost, to compile a rule only when one of its
// keywords occurs, and to find the same secrets in a long text as in a short one.
package secret

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Match is one secret in a text.
type Match struct {
	Rule       string // such as "github-pat"
	Start, End int    // byte range
}

// Find returns the secrets of a text in order. Overlapping matches are merged; the result has the rule name of the
// most specific one.
func Find(text string) []Match {
	lower := fold(text)
	var all []Match
	for _, r := range rules() {
		for _, w := range windows(lower, r) {
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

// fold lowers ASCII letters, which keeps all byte offsets.
func fold(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// find appends the matches of the rule in one window of the text.
func (r *rule) find(to []Match, text string, w window) []Match {
	r.once.Do(r.compile)
	part := text[w.start:w.end]
	for _, at := range r.pattern.FindAllStringSubmatchIndex(part, -1) {
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
