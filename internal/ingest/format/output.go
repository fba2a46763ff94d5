package format

import (
	"slices"

	"github.com/txarchive/txarchive/internal/transcript"
)

// CopyOutput makes saved output of a session, for formats in which that alone is Shared, a copy where the session itself has events. It reports
// whether it has.
func CopyOutput(f *transcript.Family) bool {
	if !slices.ContainsFunc(f.Conversations, func(c *transcript.FamilyConversation) bool { return !c.Shared && c.Events > 0 }) {
		return false
	}
	for _, c := range f.Conversations {
		if c.Shared {
			c.Verdict = transcript.DuplicateOf
		}
	}
	return true
}
