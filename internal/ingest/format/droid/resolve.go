package droid

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve sets the fields of a conversation and of the total of its tokens from each other, and decides whether this total includes that of
// the session that it continues. Saved output of a session is a copy if there is the session.
func (droid) Resolve(f *transcript.Family) {
	var ended transcript.Time
	model := ""
	format.CopyOutput(f)
	for _, c := range f.Conversations {
		if c.Ended.UnixMicro > ended.UnixMicro || !ended.Valid {
			ended = c.Ended
		}
		model = max(model, c.Model)
		c.Model = cmp.Or(f.Run.Model, c.Model)
	}
	inherited := inherits(f)
	for _, u := range f.Usage {
		if u.Attributes["of"] == ofInherited {
			u.Model = f.Run.Model
			if u.Verdict = transcript.Uncounted; inherited {
				u.Verdict = transcript.Counted
			}
		}
		if u.Model == "" || u.Model == "auto" {
			u.Model = cmp.Or(model, u.Model)
		}
		if ended.Valid { // the settings have no time of their own
			u.Time = ended
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (droid) ResolvesUsage() {}

// inherits reports whether the total of a session includes its parent's: the session continues it after a compaction, so that it begins with the
// summary, and goes on counting. A fork copies the lines of its parent, maybe with a summary, and counts from 0.
func inherits(f *transcript.Family) bool {
	total := int64(0)
	for _, u := range f.Usage {
		if u.Attributes["of"] == ofSession {
			total = max(total, u.Rank)
		}
	}
	parent, head := "", map[string]bool{}
	for _, h := range f.Hints {
		switch h.Key {
		case hintParent:
			parent = max(parent, h.Value)
		case hintHead:
			head[h.Value] = true
		}
	}
	for _, h := range f.Related[parent] {
		switch h.Key {
		case hintHead:
			if head[h.Value] {
				return false
			}
		case hintTotal:
			if n, _ := strconv.ParseInt(h.Value, 10, 64); n > total {
				return false
			}
		}
	}
	return total > 0
}
