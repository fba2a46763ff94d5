// Package lazyregexp provides regular expressions that are compiled on first use, so that starting the program compiles none;
// most commands need none. An invalid expression panics on first use, as with regexp.MustCompile.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. It is safe for concurrent use.
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns a Regexp for an expression in the syntax of package regexp.
func New(expr string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString is like regexp.Regexp.MatchString.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString is like regexp.Regexp.FindString.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringSubmatch is like regexp.Regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringIndex is like regexp.Regexp.FindStringIndex.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// ReplaceAllStringFunc is like regexp.Regexp.ReplaceAllStringFunc.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}
