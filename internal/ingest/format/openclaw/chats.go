package openclaw

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// chats yields what sessions.json says of sessions: the chat that each is the latest of, its name, and whose task it is. It
// names them and makes none of them one that counts.
func chats(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := format.Sink{Yield: yield}
		v, at, err := format.Document(in.Reader, func(p *transcript.Problem) { out.Emit(p) })
		if err != nil {
			out.Fail(err)
		}
		ids := map[string]string{}
		for key, chat := range v.Fields() {
			ids[key] = chat.Get("sessionId").Str()
		}
		for key, chat := range v.Fields() {
			session, by := chat.Get("sessionId").Str(), ids[chat.Get("spawnedBy").Str()]
			if session == "" {
				continue
			}
			if by == session {
				by = ""
			}
			run := &transcript.Run{ID: session, Named: true, Rank: 9, Group: key, Title: format.Title(chat.Get("label").Str()), Child: by != ""}
			if !out.Emit(run) {
				return
			}
			if by == "" {
				continue
			}
			edge := &transcript.Link{
				Kind: "parent", From: transcript.RunEnd(by), To: transcript.RunEnd(session),
				Origin: transcript.Origin{Offset: at.Offset + format.OffsetIn(v, chat), Length: int64(chat.Len())},
			}
			if !out.Emit(edge) {
				return
			}
		}
	}
}
