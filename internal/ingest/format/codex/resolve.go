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
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintTurn   = "turn"   // "<offset> <turn>" of the first turn_context of each turn
	hintFork   = "fork"   // thread that this one was forked from
	hintReplay = "replay" // parent whose head is in this file too

	hintPage     = "page-turn" // as hintTurn, in a continuation
	hintInherits = "inherits"  // the parent's lines come first, and the head says how many
	hintOwn      = "own"       // offset of the first line after them
)

// turns assigns every turn a name: its turn_id or, in versions without one, a checksum of all items up to it, which is the
// same where these items were copied.
type turns struct {
	seen  map[string]bool
	sum   uint32
	bytes int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add adds an item to the checksum. Of tool outputs it adds only the length, because a retention policy may remove their
// content.
func (t *turns) add(typ string, payload jsontext.Value) {
	if strings.HasSuffix(typ, "_output") {
		t.bytes += int64(payload.Len())
		return
	}
	t.sum = crc32.Update(t.sum, castagnoli, payload.Raw())
	t.bytes += int64(payload.Len())
}

// begin returns the hint for a turn that begins at an offset, "" if the turn merely continues.
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

// Resolve marks the part of a fork's or subagent's file that is its origin's history, copied with new times: everything
// before the first turn that the origin does not have. Without the origin this cannot be told: everything counts, and the
// conversation gets the attribute origin_missing.
func (codex) Resolve(f *transcript.Family) {
	hasRollout := slices.ContainsFunc(f.Conversations, func(v *transcript.FamilyConversation) bool { return !isStream(v) && v.Events > 0 })
	title := streamTitle(f.Conversations)
	for _, v := range f.Conversations {
		if isStream(v) {
			v.Title = title
			if v.CopiedUntil = 0; hasRollout {
				v.CopiedUntil, v.Verdict = math.MaxInt64, transcript.CopiedHistory
			}
			continue
		}
		if v.ID != v.Run {
			continue // a continuation repeats nothing
		}
		missing := false
		if v.CopiedUntil, missing = copiedUntil(f, v); missing {
			attrs := transcript.Attributes{"origin_missing": true}
			maps.Copy(attrs, v.Attributes)
			v.Attributes = attrs
		}
	}
}

// streamTitle returns the title of the first stream that has one: the others have only what was said later, and the title of an earlier version
// may be one of a later process.
func streamTitle(all []*transcript.FamilyConversation) string {
	var first *transcript.FamilyConversation
	for _, v := range all {
		if isStream(v) && v.Title != "" && v.Verdict != transcript.EarlierVersion && (first == nil || v.Order < first.Order) {
			first = v
		}
	}
	if first == nil {
		return ""
	}
	return first.Title
}

// copiedUntil returns the offset at which a thread's own history begins in a file, and whether the archive lacks a thread from which lines may
// have been copied. Only what the file itself says of that holds: one that the program has written anew has other offsets.
func copiedUntil(f *transcript.Family, v *transcript.FamilyConversation) (until int64, missing bool) {
	own, inherits := int64(math.MaxInt64), false
	for _, h := range v.Hints {
		switch h.Key {
		case hintInherits:
			inherits = true
		case hintOwn:
			if n, err := strconv.ParseInt(h.Value, 10, 64); err == nil {
				own = min(own, n)
			}
		}
	}
	if inherits {
		return own, false
	}
	for _, h := range v.Hints {
		if h.Key != hintFork && h.Key != hintReplay {
			continue
		}
		origin, stored := f.Related[h.Value]
		if stored {
			until = max(until, firstOwnTurn(v.Run, turnsOf(v.Hints, hintTurn), origin))
		}
		missing = missing || !stored
	}
	return until, missing
}

func isStream(v *transcript.FamilyConversation) bool { return v.ID == v.Run+streamSuffix }

// firstOwnTurn returns the offset of the first turn of a thread that the origin does not have, and cannot have had: it may have
// been rolled back since.
func firstOwnTurn(thread string, own []turnAt, origin []*transcript.Hint) int64 {
	originTurns := map[string]bool{}
	for _, t := range turnsOf(origin, hintTurn, hintPage) {
		originTurns[t.id] = true
	}
	for _, t := range own {
		if !originTurns[t.id] && !precedes(t.id, thread) {
			return t.offset
		}
	}
	return math.MaxInt64
}

// precedes reports whether a turn is known to have begun before the thread whose file it is in.
func precedes(turn, thread string) bool {
	at, began := format.TimeOfUUID(turn), format.TimeOfUUID(thread)
	return at.Valid && began.Valid && at.UnixMicro < began.UnixMicro
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
