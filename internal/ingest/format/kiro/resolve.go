package kiro

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints from a session's metadata to its conversation.
const (
	hintModel = "model"
	hintChild = "child"
	hintTurn  = "turn" // "<key of its usage>\t<message>": a message of a turn that states tokens
)

// Resolve sets the fields of a conversation from the metadata of its session. What early versions of the editor wrote does not count where the
// session was moved to the layout of later ones, under the same id.
func (kiro) Resolve(f *transcript.Family) {
	hints := f.GreatestHints()
	moved := false
	for _, c := range f.Conversations {
		moved = moved || c.Order == orderMessages && c.ID == conversation && c.Events > 0
	}
	for _, c := range f.Conversations {
		if c.ID == conversation {
			c.Title = cmp.Or(f.Run.Title, c.Title)
		}
		c.Project, c.Model = cmp.Or(f.Run.Project, c.Project), cmp.Or(f.Run.Model, c.Model, hints[hintModel])
		c.Child = c.Child || hints[hintChild] != ""
		if early := c.Order == orderWorkspace || len(c.Order) > 1; early && moved && c.Verdict == transcript.Counted {
			c.Verdict = transcript.DuplicateOf
		}
	}
	judgeTurns(f)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (kiro) ResolvesUsage() {}

// judgeTurns does not count what a turn states if a request of the turn states its own tokens: a conversation that was copied from the database, or
// saved, has both.
func judgeTurns(f *transcript.Family) {
	requests := map[string]bool{}
	for _, u := range f.Usage {
		requests[u.Key] = true
	}
	totals := map[string]bool{}
	for _, h := range f.Hints {
		if turn, message, ok := strings.Cut(h.Value, "\t"); ok && h.Key == hintTurn && requests[requestKey(message)] {
			totals[turn] = true
		}
	}
	for _, u := range f.Usage {
		if totals[u.Key] {
			u.Verdict = transcript.DerivedTotal
		}
	}
}
