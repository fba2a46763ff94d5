package copilotvscode

import (
	"maps"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// An export of a chat ("Chat: Export Chat...") is a session without a name and a time. It is called after its first request, which never changes, and
// whoever has the session says of which requests it is made, so that what both have counts there. What only the export has counts here.

// hintTurns is the key of a hint, at the run that an export would be, with the requests of a session.
const hintTurns = "turns"

// turnsAttribute is what a conversation of an export says, to Resolve alone: its requests, each with the place where it ends.
const turnsAttribute = "turns"

// export makes the file one, when it says whose requests it has, and not what the session is called.
func (p *parser) export(requests format.Value) {
	first := firstOf(requests)
	id := first.Get("requestId").Str()
	if id == "" || p.whole.Get("sessionId").IsString() || sessionDirs[path.Base(path.Dir(p.in.Path))] {
		return
	}
	p.created, _ = first.Get("timestamp").Int()
	if !isUnique(id) {
		id += "@" + strconv.FormatInt(p.created, 10)
	}
	p.exported = true
	p.facts.Set("exported", true)
	p.name(id)
}

func firstOf(list format.Value) (first format.Value) {
	for v := range list.Items() {
		return v
	}
	return first
}

// mark says which requests there are: an export where each of them ends, any other file that it has them. p.whole has them.
func (p *parser) mark(requests format.Value) {
	var marks []string
	for v := range requests.Items() {
		id := v.Get("requestId").Str()
		if !isUnique(id) {
			continue
		}
		if p.first == "" {
			p.first = id
		}
		mark := strings.TrimPrefix(id, "request_")
		if p.exported {
			at := p.place(v)
			mark += "@" + strconv.FormatInt(at.End(), 10)
		}
		marks = append(marks, mark)
	}
	switch turns := strings.Join(marks, " "); {
	case turns == "" || p.quiet:
	case p.exported:
		p.is.Attributes.Set(turnsAttribute, turns)
	default:
		p.Emit(&transcript.Hint{Run: p.first, Key: hintTurns, Value: turns, Origin: p.at})
	}
}

// copies says what of exports a session of the archive has as well: all up to the last request that it has.
func copies(f *transcript.Family) {
	held := map[string]bool{}
	for _, h := range f.Hints {
		if h.Key == hintTurns {
			for _, id := range strings.Fields(h.Value) {
				held[id] = true
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
			if all = all && held[id]; held[id] {
				c.CopiedUntil, _ = strconv.ParseInt(end, 10, 64)
			}
		}
		if all {
			c.CopiedUntil = math.MaxInt64
			c.Verdict = transcript.DerivedTotal
		}
	}
}
