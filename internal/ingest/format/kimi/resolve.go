package kimi

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve says what of a session was copied from another one, which of two statements of its tokens counts, and what the notes beside
// it call it.
func (kimi) Resolve(f *transcript.Family) {
	own, made := int64(0), false
	forked, missing := false, false
	for _, h := range f.Hints {
		if h.Key == hintOwn {
			own = max(own, offsetOf(h.Value))
		}
	}
	for _, h := range f.Hints {
		if h.Key != hintOrigin && h.Key != hintMadeOf {
			continue
		}
		_, stored := f.Related[h.Value]
		missing = missing || !stored
		forked = forked || stored && h.Key == hintOrigin
		made = made || stored && h.Key == hintMadeOf
	}
	if own == 0 { // nothing was said in it since it was made
		own = math.MaxInt64
	}
	ends := map[string]int64{} // of what was copied; a copy of the file may end before the line that says so
	for _, c := range f.Conversations {
		ends[c.ID] = max(ends[c.ID], forkOf(c))
	}
	for _, c := range f.Conversations {
		if c.ID != f.Run.ID && !strings.HasSuffix(f.Run.ID, "/"+c.ID) {
			continue // a subagent inside of its parent's file
		}
		name(c, f.Run)
		if c.CopiedUntil = 0; forked {
			c.CopiedUntil = cmp.Or(forkOf(c), ends[c.ID])
		}
		if made {
			c.CopiedUntil = max(c.CopiedUntil, own)
		}
		if missing {
			facts := transcript.Attributes{"origin_missing": true}
			maps.Copy(facts, c.Attributes)
			c.Attributes = facts
		}
	}
	spend(f.Usage, f.Run)
}

// forkedAt is the attribute of a conversation that says where the line stands that ends what a fork copied. Each content of a wire has
// its own: the program writes it anew.
const forkedAt = "forked_at"

func forkOf(c *transcript.FamilyConversation) int64 {
	at, _ := c.Attributes[forkedAt].(string)
	return offsetOf(at)
}

func offsetOf(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func name(c *transcript.FamilyConversation, run *transcript.Run) {
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

// spend lets the ends of steps count only where there is no usage.record at all, and says what model a subagent asks, where only its
// note does.
func spend(usage []*transcript.Usage, run *transcript.Run) {
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
