package chibi

import (
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// pairing pairs the calls and results of old logs, which have no call ids: the n calls of a turn are followed by their n
// results in order.
type pairing struct {
	waiting  []waitingCall
	answered bool // results of the current calls have come
}

type waitingCall struct{ id, tool string }

// maxSearch bounds how many waiting calls a result searches for one of its own tool.
const maxSearch = 64

// call returns a tool call, with an id of its own if the entry has none.
func (p *pairing) call(e *entry, eventID string) *transcript.Call {
	input := e.content.Text()
	c := &transcript.Call{ID: e.call, Name: e.to, Input: int64(len(input)), Paths: paths(input)}
	if c.ID == "" {
		if p.answered {
			*p = pairing{}
		}
		c.ID = "#" + eventID
		p.waiting = append(p.waiting, waitingCall{c.ID, e.to})
	}
	return c
}

// result returns a tool result with the call that it answers, if that is in the same file. A copy of a result has the
// generic sender "tool" and answers the first waiting call.
func (p *pairing) result(e *entry) *transcript.Result {
	r := &transcript.Result{Call: e.call, Name: e.from, Output: int64(len(e.content.Text()))}
	if r.Call != "" || len(p.waiting) == 0 {
		return r
	}
	p.answered = true
	near := p.waiting[:min(len(p.waiting), maxSearch)]
	i := max(0, slices.IndexFunc(near, func(c waitingCall) bool { return c.tool == e.from }))
	r.Call = p.waiting[i].id
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return r
}

// paths returns the files that a call's arguments name.
func paths(arguments string) []string {
	v, err := jsontext.Parse([]byte(arguments))
	if err != nil {
		return nil
	}
	var found []string
	for key, value := range v.Fields() {
		switch key {
		case "path", "paths", "file", "files", "file_path", "filename", "source", "destination", "from_path", "to_path":
			if s := value.Str(); s != "" {
				found = append(found, s)
			}
			for item := range value.Items() {
				if s := item.Str(); s != "" {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

// copies finds entries that the program appended to its log again when it saved a window that it had compacted or cleared:
// an earlier entry's type and content under a new id, with generic names and the time of the preceding anchor.
type copies struct {
	first  map[[12]byte]string // digest of an entry -> id of the first one with it
	anchor transcript.Time
}

// originalOf returns the id of the entry that e repeats, "" if it repeats none.
func (c *copies) originalOf(e *entry, id string) string {
	if e.isAnchor() {
		c.anchor = e.time
		return ""
	}
	if e.kind != "message" && e.kind != "tool_call" && e.kind != "tool_result" || e.content.Len() <= len(`""`) {
		return ""
	}
	sum := digest(e.kind, e.call, string(e.content.Raw()))
	first, seen := c.first[sum]
	if !seen {
		c.first[sum] = id
		return ""
	}
	if first == id || !c.anchor.Valid || e.time != c.anchor || !e.hasGenericNames() {
		return ""
	}
	return first
}

// hasGenericNames reports whether an entry's names are those that the program writes from memory. A call has its full names
// there too.
func (e *entry) hasGenericNames() bool {
	switch e.kind {
	case "message":
		return e.role == "" && (e.from == "user" || e.to == "user")
	case "tool_result":
		return e.from == "tool"
	}
	return true
}
