package openclaw

import (
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// chat is the latest session of a chat, its name, and whose task it is: the key of another chat.
type chat struct {
	key, session, label, by string
	at                      transcript.Origin
}

// chats yields what sessions.json says of sessions.
func chats(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := format.Sink{Yield: yield}
		v, at := out.Document(in.Reader, func(p *transcript.Problem) { out.Emit(p) })
		var all []chat
		for key, c := range v.Fields() {
			all = append(all, chat{key, c.Get("sessionId").Str(), c.Get("label").Str(), c.Get("spawnedBy").Str(),
				transcript.Origin{Offset: at.Offset + format.OffsetIn(v, c), Length: int64(c.Len())}})
		}
		tell(&out, all)
	}
}

// storedChats yields the same of the database's rows.
func storedChats(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := format.Sink{Yield: yield}
		var all []chat
		for o := range out.Each(format.Objects(in.Reader, "", func(p *transcript.Problem) { out.Emit(p) })) {
			v := o.Value
			all = append(all, chat{strings.Clone(v.Get("session_key").Str()), strings.Clone(v.Get("session_id").Str()),
				strings.Clone(v.Get("label").Str()), strings.Clone(v.Get("spawned_by").Str()), o.Origin})
		}
		tell(&out, all)
	}
}

// tell names the sessions of chats, and makes none of them one that counts.
func tell(out *format.Sink, all []chat) {
	ids := map[string]string{}
	for _, c := range all {
		ids[c.key] = c.session
	}
	for _, c := range all {
		by := ids[c.by]
		if c.session == "" {
			continue
		}
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
	}
}
