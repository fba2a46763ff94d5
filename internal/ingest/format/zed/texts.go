package zed

import (
	"bytes"
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// A text thread is a document that the user and the model edited together, until Zed removed them in April 2026: one text, and where in it
// each message begins.
const (
	textThreadsDir = "conversations"
	textSuffix     = ".zed.json"
)

// detectText claims a text thread by its place, or by its first members.
func detectText(h format.Head) format.Claim {
	v := jsontext.ParseStart(jsontext.TrimBOM(h.Bytes))
	switch {
	case path.Base(path.Dir(h.Path)) == textThreadsDir:
		return format.Claim{Strength: format.Certain, Role: roleText}
	case v.Get("zed").IsString() && v.Get("version").IsString():
		return format.Claim{Strength: format.Likely, Role: roleText}
	}
	return format.Claim{}
}

// textThread yields the records of a text thread.
func (p *parser) textThread(in format.Input) {
	stem := strings.TrimSuffix(path.Base(in.Path), textSuffix)
	problem := func(pr *transcript.Problem) {
		pr.Run = stem
		p.Emit(pr)
	}
	doc, at := p.Document(in.Reader, problem)
	if !doc.Exists() {
		return
	}
	p.at, p.base, p.thread = at, doc, cmp.Or(doc.Get("id").Str(), stem)
	text, messages := doc.Get("text"), doc.Get("messages")
	if !text.IsString() || !messages.IsArray() {
		p.Emit(&transcript.Problem{Run: p.thread, Kind: "not a thread", Reason: "no text or no list of messages", Origin: at})
		return
	}
	title := format.Title(doc.Get("summary").Str())
	p.Emit(&transcript.Run{ID: p.thread, Title: title, Named: text.IsBlank()})
	if text.IsBlank() {
		return
	}
	p.Emit(&transcript.Conversation{ID: conversation, Run: p.thread, Title: title})
	stated := map[string]jsontext.Value{} // what earlier versions state of messages, by their ids
	for id, v := range doc.Get("message_metadata").Fields() {
		stated[id] = v
	}
	body := text.Body()
	c := cutter{body: body}
	last := jsontext.Value{}
	for m := range messages.Items() {
		start, _ := m.Get("start").Int()
		if from, to := c.cut(start); last.Exists() {
			p.textMessage(stated, last, text, from, to)
		}
		last = m
	}
	p.textMessage(stated, last, text, c.at, len(body)) // without messages, of all of it
}

// cutter cuts the body of a JSON string where its text is to be cut.
type cutter struct {
	body []byte
	at   int   // in body
	n    int64 // bytes of text before at
	cuts int
}

// cut goes on to an offset in the text, and returns where in body the piece before it is. The first piece, before the first message, is empty.
func (c *cutter) cut(offset int64) (from, to int) {
	from = c.at
	if c.cuts++; c.cuts == 1 {
		return 0, 0
	}
	for c.at < len(c.body) && c.n < offset {
		size, width := character(c.body[c.at:])
		c.at += size
		c.n += int64(width)
	}
	return from, c.at
}

// character returns the length of the first character in the body of a JSON string, and of its text.
func character(body []byte) (size, width int) {
	if body[0] != '\\' {
		_, size = utf8.DecodeRune(body)
		return size, size
	}
	switch {
	case !bytes.HasPrefix(body, []byte(`\u`)):
		size = 2
	case len(body) >= 12 && bytes.ContainsAny(body[2:3], "dD") && bytes.ContainsAny(body[3:4], "89abAB") && bytes.HasPrefix(body[6:], []byte(`\u`)):
		size = 12 // a pair of surrogates
	default:
		size = 6
	}
	size = min(size, len(body))
	return size, len(unquote(body[:size]))
}

// unquote returns the text of a piece of the body of a JSON string.
func unquote(body []byte) string { return jsontext.Unquote(`"` + string(body) + `"`) }

// textMessage yields one message, which is a piece of the text. Zed ends a text thread with an empty message.
func (p *parser) textMessage(stated map[string]jsontext.Value, m, text jsontext.Value, from, to int) {
	body := text.Body()[from:to]
	content := unquote(body)
	if strings.TrimSpace(content) == "" {
		return
	}
	p.lend.Reset()
	id := m.Get("id")
	key := cmp.Or(id.Get("value").Text(), id.Text())
	meta := cmp.Or(m.Get("metadata"), stated[key])
	role := meta.Get("role").Word()
	at := p.origin(text)
	at.Offset += int64(1 + from)
	at.Length = int64(len(body))
	e := p.lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: role, Type: role, Origin: at})
	e.Parts[0] = transcript.Part{Text: content}
	verdict := transcript.Counted
	switch role {
	case "user", "assistant":
	case "system":
		e.Kind = transcript.KindSystem
	default:
		e.Kind, verdict = transcript.KindUnknown, transcript.Uncounted
	}
	switch status := meta.Get("status"); {
	case status.Get("Error").Exists():
		e.Attributes.Set("status", "Error")
	case !status.Is("Done"):
		e.Attributes.Set("status", status.Str())
	}
	p.emit(e, p.unique("m"+key), verdict)
}
