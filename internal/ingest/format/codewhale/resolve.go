package codewhale

import (
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve decides what of a fork is its parent's: the messages that it began with, unless it was made shorter since, and, of a fork of a fork, the cost.
func (codewhale) Resolve(f *transcript.Family) {
	parent := f.Related[valueOf(f.Hints, hintParent)]
	for _, c := range f.Conversations {
		if c.CopiedUntil = 0; has(parent, hintFirst, valueOf(c.Hints, hintBegins)) {
			c.CopiedUntil, _ = strconv.ParseInt(valueOf(c.Hints, hintCopied), 10, 64)
		}
	}
	for _, u := range f.Usage {
		if u.Verdict = transcript.Counted; valueOf(parent, hintParent) != "" {
			u.Verdict = transcript.DerivedTotal
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (codewhale) ResolvesUsage() {}

// valueOf returns the greatest value of a key, "" if there is none.
func valueOf(hints []*transcript.Hint, key string) (value string) {
	for _, h := range hints {
		if h.Key == key {
			value = max(value, h.Value)
		}
	}
	return value
}

func has(hints []*transcript.Hint, key, value string) bool {
	return slices.ContainsFunc(hints, func(h *transcript.Hint) bool { return h.Key == key && h.Value == value })
}
