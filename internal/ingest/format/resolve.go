package format

import (
	"cmp"
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

// CopyOutputUsage does what CopyOutput does, and makes the usage of saved output, which has this attribute "of", a copy as well.
func CopyOutputUsage(f *transcript.Family, of string) {
	if !CopyOutput(f) {
		return
	}
	for _, u := range f.Usage {
		if u.Attributes["of"] == of {
			u.Verdict = transcript.CopiedHistory
		}
	}
}

// InheritRun sets the fields of conversations that a file about their run states better than they do.
func InheritRun(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title = cmp.Or(f.Run.Title, c.Title)
		c.Agent = cmp.Or(f.Run.Agent, c.Agent)
		c.Model = cmp.Or(f.Run.Model, c.Model)
		c.Project = cmp.Or(f.Run.Project, c.Project)
		c.Branch = cmp.Or(f.Run.Branch, c.Branch)
	}
}
