package claudecode

import (
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints. In the run that a hint describes they stand alone; in the session of a sub-agent, its id follows.
const (
	hintAgent   = "agent"
	hintTitle   = "title"
	hintProject = "project"
	hintResult  = "result" // of a stream
	hintEditor  = "editor" // the database of Qoder's editor has the session
	hintSpent   = "spent"  // a transcript of Qoder's states usage
)

// Resolve names sub-agents by the metadata beside their file, or else by the call that started them, and sessions by
// theirs. Sub-agents get the project of their session. Streams, and what an editor's database has, are copies where there is a transcript.
func (claudeCode) Resolve(f *transcript.Family) {
	resolveStreams(f)
	resolveEditor(f)
	for _, c := range f.Conversations {
		if !c.Child {
			title(c, f.Hints)
			project(c, f.Hints)
			continue
		}
		for _, run := range slices.Sorted(maps.Keys(f.Related)) {
			name(c, f.Related[run], " "+c.ID)
			project(c, f.Related[run])
		}
		name(c, f.Hints, "")
	}
}

func title(c *transcript.FamilyConversation, hints []*transcript.Hint) {
	for _, h := range hints {
		if h.Key == hintTitle {
			c.Title = h.Value
		}
	}
}

func project(c *transcript.FamilyConversation, hints []*transcript.Hint) {
	for _, h := range hints {
		if h.Key == hintProject {
			c.Project = h.Value
		}
	}
}

func name(c *transcript.FamilyConversation, hints []*transcript.Hint, of string) {
	for _, h := range hints {
		switch h.Key {
		case hintAgent + of:
			c.Agent = h.Value
		case hintTitle + of:
			c.Title = h.Value
		}
	}
}
