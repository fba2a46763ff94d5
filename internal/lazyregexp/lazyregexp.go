// Package lazyregexp has regular expressions that are compiled when they are first asked for: a start of the program compiles none,
// and most commands need none. It owns nothing else; what is no expression panics at its first use, as regexp.MustCompile does.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is an expression. It is safe for use by several goroutines.
type Regexp struct{ compiled func() *regexp.Regexp }

// New makes one of what package regexp understands.
func New(expr string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString is that of package regexp.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString is that of package regexp.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringSubmatch is that of package regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringIndex is that of package regexp.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// ReplaceAllStringFunc is that of package regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}
