package openclaw

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// chat is a chat with one of its sessions, mostly the latest, its label, the key of the chat that spawned it and the session that its first one
// was forked from.
type chat struct {
	key, session, label, spawnedBy, forkedFrom string

	began int64 // when the session began, 0 if that is not stated
	at    transcript.Origin
}

// chats yields the records of sessions.json.
func chats(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := format.Sink{Yield: yield}
		v, at := out.Document(in.Reader, func(p *transcript.Problem) { out.Emit(p) })
		var all []chat
		for key, c := range v.Fields() {
			all = append(all, chat{key, c.Get("sessionId").Str(), c.Get("label").Str(), c.Get("spawnedBy").Str(), c.Get("forkSource", "sessionId").Str(),
				0, jsontext.OriginIn(at, v, c)})
		}
		emitChats(&out, all)
	}
}

// storedChats yields the records of the database's chats.
func storedChats(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := format.Sink{Yield: yield}
		var all []chat
		for o := range out.Each(jsontext.Objects(in.Reader, "", func(p *transcript.Problem) { out.Emit(p) })) {
			v := o.Value
			if v.Get("session_id").Str() == "" {
				out.Emit(&transcript.Problem{Kind: "no session", Reason: "the chat names no session", Origin: o.Origin})
			}
			began, _ := v.Get("created_at").Int()
			all = append(all, chat{strings.Clone(v.Get("session_key").Str()), strings.Clone(v.Get("session_id").Str()),
				strings.Clone(v.Get("label").Str()), strings.Clone(v.Get("spawned_by").Str()), strings.Clone(v.Get("forked_from").Str()), began, o.Origin})
		}
		emitChats(&out, all)
	}
}

// emitChats yields the sessions of chats as runs that are only named here.
func emitChats(out *format.Sink, all []chat) {
	sessions := map[string][]chat{}
	for _, c := range all {
		sessions[c.key] = append(sessions[c.key], c)
	}
	for _, of := range sessions {
		slices.SortStableFunc(of, func(a, b chat) int { return cmp.Compare(a.began, b.began) })
	}
	for _, c := range all {
		if c.session == "" {
			continue
		}
		by := spawner(sessions[c.spawnedBy], c.began)
		if by == c.session {
			by = ""
		}
		run := &transcript.Run{ID: c.session, Named: true, Rank: 9, Group: c.key, Title: format.Title(c.label), Child: by != ""}
		if !out.Emit(run) {
			return
		}
		if by != "" {
			out.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(by), To: transcript.RunEnd(c.session), Origin: c.at})
		}
		if from := c.forkedFrom; from != "" && from != c.session && sessions[c.key][0].session == c.session {
			out.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(from), To: transcript.RunEnd(c.session), Origin: c.at})
		}
	}
}

// spawner returns the session of a chat that was there when another one began: of its sessions, by their times, the last that had begun, or else the first.
func spawner(sessions []chat, began int64) string {
	if len(sessions) == 0 {
		return ""
	}
	n := len(sessions)
	if began != 0 {
		n = sort.Search(n, func(i int) bool { return sessions[i].began > began })
	}
	return sessions[max(n-1, 0)].session
}
