package opencode

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve says which requests count: the steps of a message, and a message itself only where it has none. It names
// the models and times of steps, and who speaks in texts, whose message is another file. Messages of a session that has no record
// count, and make no conversation that does; parts of which not even a message is there are found.
func (opencode) Resolve(f *transcript.Family) {
	stated, spoken, models, times := false, false, map[string]string{}, map[string]transcript.Time{}
	f.Roles = map[string]string{}
	for _, h := range f.Hints {
		switch h.Key {
		case hintSession:
			stated = true
		case hintModel:
			msg, model, _ := strings.Cut(h.Value, "\t")
			models[msg] = model
		case hintTime:
			msg, text, _ := strings.Cut(h.Value, "\t")
			if at, err := strconv.ParseInt(text, 10, 64); err == nil && (!times[msg].Valid || at > times[msg].UnixMicro) {
				times[msg] = transcript.Time{UnixMicro: at, Valid: true} // an earlier version of the message was not complete
			}
		case hintRole:
			msg, role, _ := strings.Cut(h.Value, "\t")
			f.Roles[msg], spoken = role, true
		case hintFirst, hintSecond:
			spoken = true
		}
	}
	copied := copiedMessages(f.Hints)
	for _, c := range f.Conversations {
		if msg, key := messageOf(c.Path); copied[key+"\t"+msg] {
			c.CopiedUntil = math.MaxInt64
		} else {
			c.CopiedUntil = 0
		}
	}
	steps := map[any]bool{}
	for _, u := range f.Usage {
		msg := u.Attributes[messageMark]
		if u.Attributes[wholeMark] != true {
			steps[msg] = true
		}
		id, _ := msg.(string)
		if u.Model == "" {
			u.Model, u.Provider, _ = strings.Cut(models[id], "\t")
		}
		if !u.Time.Valid {
			u.Time = times[id]
		}
	}
	for _, u := range f.Usage {
		if u.Attributes[wholeMark] == true && steps[u.Attributes[messageMark]] {
			u.Verdict = transcript.DerivedTotal
		}
	}
	if stated {
		return
	}
	for _, c := range f.Conversations {
		if c.Silent = true; !spoken && c.Verdict == transcript.Counted {
			c.Verdict = transcript.Uncounted
		}
	}
}

// copiedMessages names those that are copies: those of a fork that were made before it was, and those of version 2 that were there
// in version 1, which version 2 takes over as they are. Each is "<key of its hint>\t<message>".
func copiedMessages(hints []*transcript.Hint) map[string]bool {
	forked, last := int64(math.MinInt64), int64(math.MinInt64)
	type made struct {
		msg, key string
		at       int64
	}
	var all []made
	for _, h := range hints {
		msg, text, _ := strings.Cut(h.Value, "\t")
		if h.Key == hintForked {
			text = h.Value
		}
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			continue
		}
		switch h.Key {
		case hintForked:
			forked = max(forked, at)
		case hintFirst:
			last = max(last, at)
			all = append(all, made{msg, h.Key, at})
		case hintSecond:
			all = append(all, made{msg, h.Key, at})
		}
	}
	copied := map[string]bool{}
	for _, m := range all {
		if m.at < forked || m.key == hintSecond && m.at <= last {
			copied[m.key+"\t"+m.msg] = true
		}
	}
	return copied
}

// messageOf is the message that an original belongs to, and the key of its hint.
func messageOf(file string) (msg, key string) {
	if name, ok := strings.CutSuffix(path.Base(file), ".ndjson"); ok {
		if first, ok := strings.CutSuffix(name, secondMark); ok {
			return first, hintSecond
		}
		return name, hintFirst
	}
	at := place(file)
	if at.role == rolePart {
		return at.msg, hintFirst
	}
	return at.own, hintFirst
}

// ResolvesUsage makes the format a format.UsageResolver.
func (opencode) ResolvesUsage() {}
