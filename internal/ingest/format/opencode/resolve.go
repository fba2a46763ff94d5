package opencode

import (
	"cmp"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve decides which requests count: the steps of a message, or the message itself if it has none. It sets
// models and times of steps and the roles of texts, which the messages state in other files. Messages of a session without a record
// of its own count, but their conversation is silent; parts without even a message are uncounted.
func (opencode) Resolve(f *transcript.Family) {
	s := statementsOf(f.Hints)
	f.Roles = s.roles
	markCopied(f, s.second)
	s.completeUsage(f.Usage)
	if s.session {
		for _, c := range f.Conversations {
			if c.Order == "" { // the session's own record
				c.Title = cmp.Or(c.Title, f.Run.Title)
			}
		}
		return
	}
	for _, c := range f.Conversations {
		if c.Silent = true; !s.message && c.Verdict == transcript.Counted {
			c.Verdict = transcript.Uncounted
		}
	}
}

// statements are what sessions and messages state in files of their own.
type statements struct {
	session, message bool                       // whether there is any
	models           map[string]string          // by message
	times            map[string]transcript.Time // by message
	roles            map[string]string          // by message
	second           map[string]bool            // messages of version 2
}

func statementsOf(hints []*transcript.Hint) *statements {
	s := &statements{models: map[string]string{}, times: map[string]transcript.Time{}, roles: map[string]string{}, second: map[string]bool{}}
	for _, h := range hints {
		msg, value, _ := strings.Cut(h.Value, "\t")
		switch h.Key {
		case hintSession:
			s.session = true
		case hintModel:
			s.models[msg] = value
		case hintTime:
			if at, err := strconv.ParseInt(value, 10, 64); err == nil && (!s.times[msg].Valid || at > s.times[msg].UnixMicro) {
				s.times[msg] = transcript.Time{UnixMicro: at, Valid: true} // an earlier version of the message was not complete
			}
		case hintRole:
			s.roles[msg], s.message = value, true
		case hintV1:
			s.message = true
		case hintV2:
			s.second[msg], s.message = true, true
		}
	}
	return s
}

// markCopied marks conversations that repeat messages of others.
func markCopied(f *transcript.Family, second map[string]bool) {
	copied := copiedMessages(f.Hints)
	for _, c := range f.Conversations {
		msg, key := messageOf(c.Path)
		switch {
		case c.Rank == rankStream:
			c.CopiedUntil = copiedUntil(c.Order, c.Hints, second)
		case copied[key+"\t"+msg]:
			c.CopiedUntil = math.MaxInt64
		default:
			c.CopiedUntil = 0
		}
	}
}

// completeUsage sets the models and times of requests, and the verdict of a message whose steps count.
func (s *statements) completeUsage(usage []*transcript.Usage) {
	steps := map[any]bool{}
	for _, u := range usage {
		msg := u.Attributes[messageMark]
		if u.Attributes[wholeMark] != true {
			steps[msg] = true
		}
		id, _ := msg.(string)
		if u.Model == "" {
			u.Model, u.Provider, _ = strings.Cut(s.models[id], "\t")
		}
		if !u.Time.Valid {
			u.Time = s.times[id]
		}
	}
	for _, u := range usage {
		if u.Attributes[wholeMark] == true && steps[u.Attributes[messageMark]] {
			u.Verdict = transcript.DerivedTotal
		}
	}
}

// copiedMessages returns the messages that are copies: in a fork, those created before the fork; in version 2, those not younger than
// the last of version 1, since version 2 imports these unchanged. Each is "<key of its hint>\t<message>".
func copiedMessages(hints []*transcript.Hint) map[string]bool {
	forked, lastV1 := int64(math.MinInt64), int64(math.MinInt64)
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
		case hintV1:
			lastV1 = max(lastV1, at)
			all = append(all, made{msg, h.Key, at})
		case hintV2:
			all = append(all, made{msg, h.Key, at})
		}
	}
	copied := map[string]bool{}
	for _, m := range all {
		if m.at < forked || m.key == hintV2 && m.at <= lastV1 {
			copied[m.key+"\t"+m.msg] = true
		}
	}
	return copied
}

// messageOf returns the message that an original belongs to, and the key of its hint.
func messageOf(file string) (msg, key string) {
	if name, ok := strings.CutSuffix(path.Base(file), ".ndjson"); ok {
		if first, ok := strings.CutSuffix(name, v2Suffix); ok {
			return first, hintV2
		}
		return name, hintV1
	}
	at := locate(file)
	if at.role == rolePart {
		return at.msg, hintV1
	}
	return at.id, hintV1
}

// ResolvesUsage makes the format a format.UsageResolver.
func (opencode) ResolvesUsage() {}
