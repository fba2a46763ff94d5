package kimi

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve decides what of a session was copied from another one and which of two statements of its tokens counts, and sets fields from
// the metadata files.
func (kimi) Resolve(f *transcript.Family) {
	forked, migrated, missing := false, false, false
	for _, h := range f.Hints {
		if h.Key != hintOrigin && h.Key != hintMigrated {
			continue
		}
		_, stored := f.Related[h.Value]
		missing = missing || !stored
		forked = forked || stored && h.Key == hintOrigin
		migrated = migrated || stored && h.Key == hintMigrated
	}
	ends := map[string]int64{} // where the copied part ends; a copy of the file may lack the line that states it
	for _, c := range f.Conversations {
		ends[c.ID] = max(ends[c.ID], forkOf(c))
	}
	for _, c := range f.Conversations {
		if c.ID != f.Run.ID && !strings.HasSuffix(f.Run.ID, "/"+c.ID) {
			continue // a subagent inside its parent's file
		}
		applyRun(c, f.Run)
		if c.CopiedUntil = 0; forked {
			c.CopiedUntil = cmp.Or(forkOf(c), ends[c.ID])
		}
		if migrated {
			c.CopiedUntil = max(c.CopiedUntil, ownStart(c.Hints))
		}
		if missing {
			facts := transcript.Attributes{"origin_missing": true}
			maps.Copy(facts, c.Attributes)
			c.Attributes = facts
		}
	}
	resolveUsage(f.Usage, f.Run)
}

// ownStart returns the offset of the first line that was not written when a file was made, by its hints; there may be none yet.
func ownStart(hints []*transcript.Hint) int64 {
	at := int64(0)
	for _, h := range hints {
		if h.Key == hintOwn {
			at = max(at, offsetOf(h.Value))
		}
	}
	return cmp.Or(at, math.MaxInt64)
}

// forkedAt is the attribute of a conversation with the offset of the line that ends the part a fork copied. Each version of a wire has
// its own, because the program rewrites the file.
const forkedAt = "forked_at"

func forkOf(c *transcript.FamilyConversation) int64 {
	at, _ := c.Attributes[forkedAt].(string)
	return offsetOf(at)
}

func offsetOf(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// applyRun sets a conversation's fields from those of its run.
func applyRun(c *transcript.FamilyConversation, run *transcript.Run) {
	if run.Title != "" {
		c.Title = run.Title
	}
	if run.Agent != "" {
		c.Agent = run.Agent
	}
	if c.Model == "" {
		c.Model = run.Model
	}
}

// resolveUsage makes step.end count only if there is no usage.record at all, and sets the model of a subagent if only its meta.json
// states one.
func resolveUsage(usage []*transcript.Usage, run *transcript.Run) {
	recorded := false
	for _, u := range usage {
		recorded = recorded || strings.Contains(u.Key, recordMark)
	}
	for _, u := range usage {
		if recorded && strings.Contains(u.Key, stepMark) {
			u.Verdict = transcript.DerivedTotal
		}
		if u.Model == "" && run.Child {
			u.Model = run.Model
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (kimi) ResolvesUsage() {}
