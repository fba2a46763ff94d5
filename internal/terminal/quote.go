package terminal

import (
	"strings"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// ShellQuote puts s in single quotes, so that a shell reads it as one word.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// plainPath matches paths that need no quotes.
var plainPath = lazyregexp.New(`^[A-Za-z0-9/_.-]+$`)

// ShellPath quotes a path for a shell if it needs that.
func ShellPath(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return ShellQuote(path)
}
