package claudeai

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// designName matches the name of a chat of Claude Design, which the export has in a directory of their own.
var designName = lazyregexp.New(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}( ?\(\d+\))?\.json$`)

// inDesigns reports whether a file lies where the export has chats of Claude Design: design_chats, possibly with the number that a browser appends.
func inDesigns(file string) bool {
	return strings.HasPrefix(path.Base(path.Dir(file)), "design_chats") && designName.MatchString(path.Base(file))
}

// isDesign reports whether a value has the members of such a chat, with messages whose content is an object.
func isDesign(v jsontext.Value) bool {
	messages := v.Get("messages")
	if !v.Get("uuid").IsString() || !v.Get("title").Exists() || !messages.IsArray() {
		return false
	}
	for m := range messages.Items() {
		return m.Get("role").IsString() && m.Get("content").IsObject()
	}
	return true
}

// design yields the records of a chat of Claude Design. Its title is mostly "Chat".
func (p *parser) design(o jsontext.Object) {
	v := o.Value
	id := v.Get("uuid").Text()
	if id == "" || len(id) > maxID {
		p.Emit(&transcript.Problem{Kind: "not a conversation", Reason: "no uuid", Origin: o.Origin})
		return
	}
	p.at, p.id = o.Origin, id
	h := header{
		title: v.Get("title").Str(), project: v.Get("project", "name").Str(), group: v.Get("project", "uuid").Str(),
		created: v.Get("created_at").Time(), updated: v.Get("updated_at").Time(), attributes: transcript.Attributes{"design": true},
	}
	if h.title == "Chat" {
		h.title = ""
	}
	for m := range v.Get("messages").Items() {
		if h.title != "" {
			break
		}
		if said := m.Get("content", "content"); m.Get("role").Is("user") && m.Get("content", "pill").Bool() != transcript.Yes {
			h.title = format.Title(said.Str())
		}
	}
	p.emitHeader(&h)
	for n, m := range v.Get("messages").Numbered() {
		if p.Done() {
			return
		}
		if !m.IsObject() {
			p.Emit(&transcript.Problem{Run: id, Kind: "not a message", Reason: "a JSON value of another type", Origin: p.origin(m)})
			continue
		}
		p.designMessage(m, n+1)
	}
}

// designMessage yields the events of one message: the blocks of its content, or else its text.
func (p *parser) designMessage(m jsontext.Value, n int) {
	c := m.Get("content")
	id := cmp.Or(m.Get("uuid").Str(), c.Get("id").Str())
	if id == "" || len(id) > maxID {
		id = "#" + strconv.Itoa(n)
	}
	at := cmp.Or(m.Get("created_at").Time(), c.Get("timestamp").Time())
	role := cmp.Or(m.Get("role").Word(), c.Get("role").Word())
	blocks := c.Get("contentBlocks")
	if !blocks.HasItems() {
		p.designText(m, c, id, role, at)
		return
	}
	for k, b := range blocks.Numbered() {
		p.designBlock(b, id+"/"+strconv.Itoa(k), role, at)
	}
	for file := range c.Get("attachments").Items() {
		p.begin(file, "", transcript.KindNotice, role, at)
		p.event.Type, p.event.Verdict = "attachments", transcript.Uncounted
		p.add(file, file)
		p.emitEvent()
	}
}

// designText yields what somebody said, with a part for each attachment.
func (p *parser) designText(m, c jsontext.Value, id, role string, at transcript.Time) {
	p.begin(m, id, transcript.KindMessage, role, at)
	e := &p.event
	e.Type = cmp.Or(c.Get("kind").Word(), role)
	switch {
	case e.Type == "chat-summary": // of an earlier chat
		e.Kind, e.Role = transcript.KindCompaction, "system"
	case role != "user" && role != "assistant", c.Get("pill").Bool() == transcript.Yes: // a pill says what the program has done
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	text := c.Get("content")
	said := !text.IsBlank()
	for _, piece := range []jsontext.Value{text, c.Get("questionRecord", "spec")} {
		if piece.Exists() {
			p.add(m, piece)
		}
	}
	for file := range c.Get("attachments").Items() {
		if file.IsObject() {
			p.add(m, file)
			said = said || !file.Get("content").IsBlank()
		}
	}
	if !said {
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	}
	if len(p.parts) == 0 {
		e.Kind = transcript.KindUnknown
		p.add(m, m)
	}
	p.emitEvent()
}

// designBlock yields one block of an answer. What the user said meanwhile is among them.
func (p *parser) designBlock(b jsontext.Value, id, role string, at transcript.Time) {
	p.begin(b, id, transcript.KindUnknown, role, at)
	e := &p.event
	e.Type = b.Get("type").Word()
	piece := b.Get("text")
	switch e.Type {
	case "text":
		e.Kind = transcript.KindMessage
	case "thinking":
		e.Kind, e.Role = transcript.KindReasoning, "assistant"
	case "tool_call":
		p.designCall(b, id, at)
		return
	case "user_interjection":
		said := b.Get("message")
		if piece = said; said.IsObject() {
			piece = said.Get("content")
		}
		e.Kind, e.Role, e.Time = transcript.KindMessage, "user", cmp.Or(said.Get("timestamp").Time(), at)
		if !piece.IsBlank() {
			p.add(b, piece)
		}
		for file := range said.Get("attachments").Items() {
			p.add(b, file)
		}
	case "error":
		e.Kind, e.Verdict, piece = transcript.KindError, transcript.Uncounted, b.Get("message")
	default:
		e.Verdict, piece = transcript.Uncounted, b
	}
	if len(p.parts) == 0 {
		if e.Kind != transcript.KindUnknown && piece.IsBlank() {
			e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
		}
		p.add(b, piece)
	}
	p.emitEvent()
}

// designCall yields a call and, as soon as it has an output, its result.
func (p *parser) designCall(b jsontext.Value, id string, at transcript.Time) {
	call := b.Get("toolCall")
	input, output := call.Get("input"), call.Get("output")
	own, name := cmp.Or(call.Get("id").Str(), id), call.Get("name").Str()
	e := &p.event
	e.Kind, e.Role = transcript.KindToolCall, "assistant"
	p.add(b, input)
	p.parts[0].Call = &transcript.Call{ID: own, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, designPaths, nil)}
	p.emitEvent()
	if output.IsNull() {
		return
	}
	p.begin(b, id+"/output", transcript.KindToolResult, "tool", at)
	p.event.Type = "tool_call"
	p.add(b, output)
	p.parts[0].Result = &transcript.Result{Call: own, Name: name, Output: int64(output.Len())}
	p.emitEvent()
}

// designPaths are the members of a call's input that name files.
var designPaths = []string{"path"}

// appendDesign appends the text of a piece of a chat of Claude Design: a string, what goes into a tool or comes out of it, a file.
func appendDesign(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, m.IsDataURL() || key == "data" && m.IsBase64()
	})
}
