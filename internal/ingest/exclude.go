package ingest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// CheckPattern says what is wrong with a pattern for Source.Exclude, as far as its form tells.
func CheckPattern(pattern string) error {
	switch bare := strings.Trim(pattern, "/"); {
	case strings.HasPrefix(pattern, "!"):
		return fmt.Errorf("pattern %q begins with !: what is left out cannot be taken in again", pattern)
	case bare == "" || bare != path.Clean(bare) || slices.Contains(strings.Split(bare, "/"), ".."):
		return fmt.Errorf("pattern %q is no path below the source", pattern)
	case !doublestar.ValidatePattern(bare):
		return fmt.Errorf("pattern %q: a [ or { is not closed", pattern)
	}
	return nil
}

// excluding is the patterns of a source, which read as those of a .gitignore do: one without a slash is a name at any depth, any
// other a path from the root on; * and ? stand for characters of one name, ** for directories; one with a slash at its end
// means directories. What lies in a directory that is left out is left out with it.
type excluding []string

// pattern returns the pattern that leaves out a path below the root, or one of the directories that it lies in; "" when none does.
func (x excluding) pattern(below string, dir bool) string {
	for at := len(below); len(x) > 0 && at > 0 && below != "."; at = strings.LastIndexByte(below[:at], '/') {
		if p := x.matching(below[:at], dir || at < len(below)); p != "" {
			return p
		}
	}
	return ""
}

// matching is pattern without a look at the directories.
func (x excluding) matching(below string, dir bool) string {
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

// ExcludedError says that what somebody named is left out of its source.
type ExcludedError struct {
	Given   string // as it was named
	Source  string
	Pattern string
}

func (e *ExcludedError) Error() string {
	return fmt.Sprintf("%s is left out of the source %q by the pattern %q", e.Given, e.Source, e.Pattern)
}
