package source

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// CheckPattern returns an error if a pattern for Source.Exclude is malformed.
func CheckPattern(pattern string) error {
	switch bare := strings.Trim(pattern, "/"); {
	case strings.HasPrefix(pattern, "!"):
		return fmt.Errorf("pattern %q starts with !: what is excluded cannot be included again", pattern)
	case bare == "" || strings.Contains(pattern, "//") || bare != path.Clean(bare) || slices.Contains(strings.Split(bare, "/"), ".."):
		return fmt.Errorf("pattern %q is not a path below the source", pattern)
	case strings.Contains(bare, "[:"):
		return fmt.Errorf("pattern %q: classes such as [:alpha:] are not supported, ranges such as [a-z] are", pattern)
	case strings.Contains(bare, "***"):
		return fmt.Errorf("pattern %q: *** means nothing, * and ** do", pattern)
	case !doublestar.ValidatePattern(bare):
		return fmt.Errorf("pattern %q: a [ or { is not closed", pattern)
	}
	return nil
}

// Patterns are the exclude patterns of a source, with the syntax of .gitignore: a pattern without a slash matches a name at any depth, any
// other a path from the root; * and ? match within one name, ** matches directories; a trailing slash matches directories only. A
// directory is excluded with everything in it.
type Patterns []string

// Match returns the pattern that excludes a path below the root, or one of its parent directories; "" if none does.
func (x Patterns) Match(below string, dir bool) string {
	for at := len(below); len(x) > 0 && at > 0 && below != "."; at = strings.LastIndexByte(below[:at], '/') {
		if p := x.MatchOne(below[:at], dir || at < len(below)); p != "" {
			return p
		}
	}
	return ""
}

// MatchOne returns the pattern that excludes the path itself; parent directories are not checked.
func (x Patterns) MatchOne(below string, dir bool) string {
	for _, p := range x {
		bare, name := strings.TrimSuffix(p, "/"), below
		if bare != p && !dir {
			continue
		}
		if rooted := strings.TrimPrefix(bare, "/"); rooted != bare || strings.Contains(bare, "/") {
			bare = rooted
		} else {
			name = path.Base(below)
		}
		if doublestar.MatchUnvalidated(bare, name) {
			return p
		}
	}
	return ""
}

// ExcludedError is returned for a path, named by the user, that its source excludes.
type ExcludedError struct {
	Given   string // as it was named
	Source  string
	Pattern string
}

func (e *ExcludedError) Error() string {
	return fmt.Sprintf("%s is excluded from the source %q by the pattern %q", e.Given, e.Source, e.Pattern)
}
