package opencode

import (
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve says which requests count: the steps of a message, and a message itself only where it has none. It names
// the models of steps, and who speaks in texts, whose message is another file. Messages and parts of a session that has no
// record are found, and make no conversation that counts.
func (opencode) Resolve(f *transcript.Family) {
	stated, models := false, map[string]string{}
	f.Roles = map[string]string{}
	for _, h := range f.Hints {
		switch h.Key {
		case hintSession:
			stated = true
		case hintModel:
			msg, model, _ := strings.Cut(h.Value, "\t")
			models[msg] = model
		case hintRole:
			msg, role, _ := strings.Cut(h.Value, "\t")
			f.Roles[msg] = role
		}
	}
	steps := map[any]bool{}
	for _, u := range f.Usage {
		msg := u.Attributes[messageMark]
		if u.Attributes[wholeMark] != true {
			steps[msg] = true
		}
		if id, _ := msg.(string); u.Model == "" {
			u.Model, u.Provider, _ = strings.Cut(models[id], "\t")
		}
	}
	for _, u := range f.Usage {
		if u.Attributes[wholeMark] == true && steps[u.Attributes[messageMark]] {
			u.Verdict = transcript.DerivedTotal
		}
	}
	if stated {
		return
	}
	for _, c := range f.Conversations {
		if c.Verdict == transcript.Counted {
			c.Verdict = transcript.Uncounted
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (opencode) ResolvesUsage() {}
