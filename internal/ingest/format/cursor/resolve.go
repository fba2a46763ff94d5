package cursor

import (
	"cmp"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Keys of hints: the title of a conversation, and the model it was last set to.
const (
	hintTitle = "title"
	hintModel = "model"
)

// totalMark is the attribute of usage that states the cost of a whole conversation.
const totalMark = "total"

// Resolve makes a conversation count once that is in a database, in transcripts and in saved output: the database's events count, unless a
// transcript has more, so that the database must have lost messages. Saved output counts only if there is neither. It sets titles and
// models that are not stated. A conversation that is in a database alone, without messages, is silent.
func (cursor) Resolve(f *transcript.Family) {
	stated, model := f.GreatestHints(), "" // what a record of the conversation has stated; the run has what the last one does
	if stated[hintModel] != "" {
		model = f.Run.Model
	}
	var rows, bestEvents int64                     // events in the database, and in the best transcript
	var best, first *transcript.FamilyConversation // first of the saved outputs
	for _, c := range f.Conversations {
		switch {
		case isStream(c):
			if first == nil || cmp.Or(cmp.Compare(c.Order, first.Order), cmp.Compare(c.Title, first.Title)) < 0 {
				first = c
			}
		case fromDatabase(c):
			rows = max(rows, c.Events)
		case c.Verdict != transcript.Counted:
		case best == nil || outranks(c, best):
			best, bestEvents = c, c.Events
		}
	}
	for _, c := range f.Conversations {
		c.Silent = rows == 0 && best == nil && first == nil
		if isStream(c) {
			c.Title = first.Title // the others have only what was said later
			if rows > 0 || best != nil {
				c.Verdict = transcript.DuplicateOf
			}
		}
		if stated[hintTitle] != "" {
			c.Title = f.Run.Title
		}
		switch {
		case isStream(c), c.Verdict != transcript.Counted || rows == 0:
		case fromDatabase(c) && rows < bestEvents, !fromDatabase(c) && (rows >= bestEvents || c != best):
			c.Verdict = transcript.DuplicateOf
		}
	}
	tokens := false
	for _, u := range f.Usage {
		tokens = tokens || u.Attributes[totalMark] != true
		if u.Model == "" {
			u.Model = model
		}
	}
	for _, u := range f.Usage {
		if tokens && u.Attributes[totalMark] == true {
			u.Verdict = transcript.DerivedTotal
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (cursor) ResolvesUsage() {}

// isStream reports whether an original is saved output.
func isStream(c *transcript.FamilyConversation) bool { return strings.HasPrefix(c.Order, orderStream) }

// fromDatabase reports whether an original was taken out of a database.
func fromDatabase(c *transcript.FamilyConversation) bool { return path.Ext(c.Path) == ".ndjson" }

// outranks orders the transcripts of a conversation: the first one counts.
func outranks(a, b *transcript.FamilyConversation) bool {
	switch {
	case a.Rank != b.Rank:
		return a.Rank > b.Rank
	case a.Events != b.Events:
		return a.Events > b.Events
	}
	return a.Path < b.Path
}
