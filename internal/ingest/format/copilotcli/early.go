package copilotcli

import (
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// earlyDir has the sessions of 2025, before session-state: <name>.json, one document each, with the messages as the model got them.
const earlyDir = "history-session-state"

func isEarly(h format.Head) bool {
	return path.Ext(h.Path) == ".json" && path.Base(path.Dir(h.Path)) == earlyDir && format.HasKeys(h.Bytes, "sessionId")
}

// early yields the messages of such a session. The program moves a session to session-state when it is resumed, so they only are found, and do
// not count.
func (p *parser) early() {
	p.session = sessionOf(p.in.Path)
	doc, at := p.Document(p.in.Reader, p.problem)
	if id := doc.Get("sessionId").Str(); id != "" {
		p.session = id
	}
	if !doc.Exists() {
		return
	}
	run := &transcript.Run{ID: p.session, Rank: transcript.RankHistory, Named: true, Started: doc.Get("startTime").Time()}
	for message := range doc.Get("chatMessages").Items() {
		if message.Get("role").Is("user") {
			run.Title = format.Title(earlyText(message))
			break
		}
	}
	p.Emit(run)
	for message := range doc.Get("chatMessages").Items() {
		e := &transcript.Event{
			Run: p.session, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: message.Get("role").Str(), Type: roleEarly,
			Time: run.Started, Origin: jsontext.OriginIn(at, doc, message), Parts: []transcript.Part{{Text: earlyText(message)}},
		}
		switch {
		case e.Role == "tool":
			e.Kind = transcript.KindToolResult
		case message.Get("tool_calls").HasItems() && message.Get("content").IsNull():
			e.Kind = transcript.KindToolCall
		}
		p.Emit(e)
		if p.Done() {
			return
		}
	}
}

// earlyText returns the content of a message, and its calls, whose arguments are JSON in a string.
var earlyText = jsontext.Appended(func(dst []byte, v jsontext.Value) []byte {
	dst = appendText(dst, v.Get("content"))
	for call := range v.Get("tool_calls").Items() {
		function := call.Get("function")
		dst = jsontext.AppendStrings(dst, function.Get("name"))
		arguments := function.Get("arguments")
		if inner := arguments.Inside(); inner.Exists() {
			arguments = inner
		}
		dst = jsontext.AppendScalars(dst, arguments)
	}
	return dst
})
