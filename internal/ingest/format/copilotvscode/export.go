package copilotvscode

import (
	"hash/fnv"
	"maps"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// An export of a chat ("Chat: Export Chat...") is a session without an id and a time. It is identified by its first request, which never changes.
// Files of the session state their requests in a hint, so that what both have counts in the session, and what only the export has counts here.

// hintTurns is the key of a hint that lists the requests of a session. Its run is the one that an export would be.
const hintTurns = "turns"

// turnsAttribute is an attribute of an export's conversation, for Resolve only: its requests, each with the offset at which it ends.
const turnsAttribute = "turns"

// detectExport marks the file as an export if it has requests with ids but no session id.
func (p *parser) detectExport(requests jsontext.Value) {
	first := firstOf(requests)
	id := first.Get("requestId").Str()
	if id == "" || p.base.Get("sessionId").IsString() || sessionDirs[path.Base(path.Dir(p.in.Path))] {
		return
	}
	p.created, _ = first.Get("timestamp").Int()
	if !isGlobalID(id) {
		id += "@" + strconv.FormatInt(p.created, 10)
	}
	p.exported = true
	p.facts.Set("exported", true)
	p.setSession(id)
}

func firstOf(list jsontext.Value) (first jsontext.Value) {
	for v := range list.Items() {
		return v
	}
	return first
}

// markTurns records the requests of turns: an export records where each of them ends, any other file that it has them, except those
// that it has itself copied. The requests must lie in p.base.
func (p *parser) markTurns(turns []*turn, requests jsontext.Value) {
	var marks []string
	for n, v := range requests.Numbered() {
		if n == len(turns) {
			break // the parse was stopped early
		}
		t := turns[n]
		if !isGlobalID(t.id) {
			continue
		}
		if p.firstRequest == "" {
			p.firstRequest = t.id
		}
		h := fnv.New64a()
		h.Write([]byte(t.id))
		mark := strconv.FormatUint(h.Sum64(), 36)
		switch {
		case p.exported:
			end := p.origin(v)
			marks = append(marks, mark+"@"+strconv.FormatInt(end.End(), 10))
		case !t.copied:
			marks = append(marks, mark)
		}
	}
	switch value := strings.Join(marks, " "); {
	case value == "":
	case p.exported:
		p.conv.Attributes.Set(turnsAttribute, value)
	default:
		p.Hint(p.firstRequest, hintTurns, value, p.baseOrigin)
	}
}

// resolveExports sets how much of an export the archive's session has as well: all up to the last request that both have.
func resolveExports(f *transcript.Family) {
	stated := map[string]bool{}
	for _, h := range f.Hints {
		if h.Key == hintTurns {
			for _, id := range strings.Fields(h.Value) {
				stated[id] = true
			}
		}
	}
	for _, c := range f.Conversations {
		turns, ok := c.Attributes[turnsAttribute].(string)
		if !ok {
			continue
		}
		c.Attributes = maps.Clone(c.Attributes)
		delete(c.Attributes, turnsAttribute)
		c.CopiedUntil = 0
		all := true
		for mark := range strings.FieldsSeq(turns) {
			id, end, _ := strings.Cut(mark, "@")
			if all = all && stated[id]; stated[id] {
				c.CopiedUntil, _ = strconv.ParseInt(end, 10, 64)
			}
		}
		if all {
			c.CopiedUntil = math.MaxInt64
			c.Verdict = transcript.DerivedTotal
		}
	}
}
