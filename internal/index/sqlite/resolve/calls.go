package resolve

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/index"
)

// RunName identifies a name of a run.
type RunName struct {
	Format        int64
	Native, Scope string
}

// heldTranscript identifies a transcript.
type heldTranscript struct {
	name, version int64
	native        string
	shared        bool
}

// CallScope is where call ids are unique: the conversation when pairing calls with results, the run for keys.
type CallScope struct {
	Run, conversation string
	high              int64 // the number of the run's name
}

// Call returns the identity of a call: 16 bits of the number of its run's name and 48 bits of hash. So what is written together
// is neighbours in the indexes, and new runs are at their end.
func (s CallScope) Call(id string) int64 {
	const own = 1<<48 - 1
	return s.high<<48 | index.Hash("call", s.conversation, id)&own
}

// ScopeOf returns the scope of the calls of a transcript that is being parsed, and its version.
func (c *Changes) ScopeOf(transcript int64) (s CallScope, version int64) {
	t := c.held[transcript]
	return scopeOf(t, c.runNames[t.name]), t.version
}

// VersionOf returns the version of a transcript that is being parsed.
func (c *Changes) VersionOf(transcript int64) int64 { return c.held[transcript].version }

func scopeOf(t heldTranscript, n RunName) CallScope {
	s := CallScope{high: t.name, Run: strconv.FormatInt(n.Format, 10) + "\x00" + n.Scope + "\x00" + n.Native}
	s.conversation = s.Run + "\x00" + t.native
	if !t.shared {
		s.conversation += "\x00" + strconv.FormatInt(t.version, 10)
	}
	return s
}
