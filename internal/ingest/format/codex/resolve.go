package codex

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintTurn   = "turn"   // "<offset> <turn>" of the first turn_context of each turn
	hintFork   = "fork"   // thread that this one was forked from
	hintReplay = "replay" // parent whose head stands in this file, too

	hintPage     = "page-turn" // as hintTurn, in a further file of the thread
	hintInherits = "inherits"  // lines of the parent stand first, and the head says how many
	hintOwn      = "own"       // offset of the first line behind them
)

// turns gives every turn a name: its turn_id, or, before there were any, a checksum of all items up to it, which is
// the same where these items were copied.
type turns struct {
	seen  map[string]bool
	sum   uint32
	bytes int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// item takes in an item; of what tools gave back only the length, for that is what a retention policy may take away.
func (t *turns) item(typ string, payload format.Value) {
	if strings.HasSuffix(typ, "_output") {
		t.bytes += int64(payload.Len())
		return
	}
	t.sum = crc32.Update(t.sum, castagnoli, payload.Raw())
	t.bytes += int64(payload.Len())
}

// begin gives the hint of a turn that begins at an offset, "" when the turn only goes on.
func (t *turns) begin(id string, offset int64) string {
	if id == "" {
		id = fmt.Sprintf("#%08x.%d", t.sum, t.bytes)
	}
	if t.seen[id] {
		return ""
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[id] = true
	return strconv.FormatInt(offset, 10) + " " + id
}

// Resolve says what of a fork's or subagent's file is its origin's history, copied with new times: everything before
// the first turn that is none of the origin's. Without the origin nothing can be told: everything counts, and the
// conversation says so.
func (codex) Resolve(f *transcript.Family) {
	until, missing, inherits := int64(0), false, false
	for _, h := range f.Hints {
		switch h.Key {
		case hintInherits:
			inherits = true
		case hintOwn:
			until, _ = strconv.ParseInt(h.Value, 10, 64)
		}
	}
	if inherits && until == 0 {
		until = math.MaxInt64
	}
	for _, h := range f.Hints {
		if inherits {
			break
		}
		if h.Key != hintFork && h.Key != hintReplay {
			continue
		}
		origin, stored := f.Related[h.Value]
		if stored {
			until = max(until, ownFrom(f.Hints, origin))
		}
		missing = missing || !stored
	}
	for _, v := range f.Conversations {
		if v.ID != v.Run {
			continue // a further file repeats nothing
		}
		v.CopiedUntil = until
		if missing {
			facts := transcript.Attributes{"origin_missing": true}
			maps.Copy(facts, v.Attributes)
			v.Attributes = facts
		}
	}
}

// ownFrom is the offset of the first turn that the origin does not have.
func ownFrom(own, origin []*transcript.Hint) int64 {
	known := map[string]bool{}
	for _, t := range turnsOf(origin, hintTurn, hintPage) {
		known[t.id] = true
	}
	for _, t := range turnsOf(own, hintTurn) {
		if !known[t.id] {
			return t.offset
		}
	}
	return math.MaxInt64
}

type turnAt struct {
	offset int64
	id     string
}

func turnsOf(hints []*transcript.Hint, keys ...string) (all []turnAt) {
	for _, h := range hints {
		if !slices.Contains(keys, h.Key) {
			continue
		}
		offset, id, _ := strings.Cut(h.Value, " ")
		if n, err := strconv.ParseInt(offset, 10, 64); err == nil {
			all = append(all, turnAt{n, id})
		}
	}
	slices.SortFunc(all, func(a, b turnAt) int { return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.id, b.id)) })
	return all
}
