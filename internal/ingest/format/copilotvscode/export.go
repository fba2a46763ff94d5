package copilotvscode

import (
	"hash/fnv"
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

// mark says which requests the turns are: an export where each of them ends, any other file that it has them, unless it has copied
// them itself. p.whole has the requests.
func (p *parser) mark(turns []*turn, requests format.Value) {
	var marks []string
	n := 0
	for v := range requests.Items() {
		if n == len(turns) {
			break // nobody listens any more
		}
		t := turns[n]
		n++
		if !isUnique(t.id) {
			continue
		}
		if p.first == "" {
			p.first = t.id
		}
		h := fnv.New64a()
		h.Write([]byte(t.id))
		mark := strconv.FormatUint(h.Sum64(), 36)
		switch {
		case p.exported:
			end := p.place(v)
			marks = append(marks, mark+"@"+strconv.FormatInt(end.End(), 10))
		case !t.copied:
			marks = append(marks, mark)
		}
	}
	switch value := strings.Join(marks, " "); {
	case value == "":
	case p.exported:
		p.is.Attributes.Set(turnsAttribute, value)
	default:
		p.Emit(&transcript.Hint{Run: p.first, Key: hintTurns, Value: value, Origin: p.at})
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
