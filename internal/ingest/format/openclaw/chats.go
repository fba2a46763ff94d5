package openclaw

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// chats yields what sessions.json says of sessions: the chat that each is the latest of, its name, and whose task it is. It
// names them and makes none of them one that counts.
func chats(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		content, err := format.ReadAll(in.Reader, format.DocumentLimit)
		if errors.Is(err, format.ErrTooLarge) {
			yield(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", format.DocumentLimit)}, nil)
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		v, err := format.ParseJSON(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))
		if err != nil {
			yield(&transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: transcript.Origin{Length: int64(len(content))}}, nil)
			return
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
			if !yield(run, nil) {
				return
			}
			if by == "" {
				continue
			}
			edge := &transcript.Link{
				Kind: "parent", From: transcript.End{Type: "run", ID: by}, To: transcript.End{Type: "run", ID: session},
				Origin: transcript.Origin{Offset: chat.OffsetIn(content), Length: int64(chat.Len())},
			}
			if !yield(edge, nil) {
				return
			}
		}
	}
}
