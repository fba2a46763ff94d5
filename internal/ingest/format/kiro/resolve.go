package kiro

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints from a session's metadata to its conversation.
const (
	hintTitle   = "title"
	hintProject = "project"
	hintModel   = "model"
	hintChild   = "child"
)

// Resolve sets the fields of a conversation from the metadata of its session. What early versions of the editor wrote does not count where the
// session was moved to the layout of later ones, under the same id.
func (kiro) Resolve(f *transcript.Family) {
	hints := map[string]string{}
	for _, h := range f.Hints {
		hints[h.Key] = max(hints[h.Key], h.Value)
	}
	moved := false
	for _, c := range f.Conversations {
		moved = moved || c.Order == orderMessages && c.ID == conversation && c.Events > 0
	}
	for _, c := range f.Conversations {
		if c.ID == conversation {
			c.Title = cmp.Or(hints[hintTitle], c.Title)
		}
		c.Project, c.Model = cmp.Or(hints[hintProject], c.Project), cmp.Or(chosen(hints[hintModel]), c.Model, hints[hintModel])
		c.Child = c.Child || hints[hintChild] != ""
		if early := c.Order == orderWorkspace || len(c.Order) > 1; early && moved && c.Verdict == transcript.Counted {
			c.Verdict = transcript.DuplicateOf
		}
	}
}
