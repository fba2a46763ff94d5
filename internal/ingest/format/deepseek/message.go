package deepseek

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isUsers reports whether a fragment is what the user wrote or attached.
func isUsers(fragment jsontext.Value) bool {
	t := fragment.Get("type")
	return t.Is("REQUEST") || t.Is("FILE")
}

// isTool reports whether fragments of a type are the use of a tool.
func isTool(typ string) bool { return typ == "SEARCH" || strings.HasPrefix(typ, "TOOL_") }

// isAnswer reports whether a message has a fragment that is not the user's.
func isAnswer(message jsontext.Value) bool {
	for f := range message.Get("fragments").Items() {
		if !isUsers(f) {
			return true
		}
	}
	return false
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	o := p.at
	o.Offset += v.Offset()
	o.Length = int64(v.Len())
	return o
}

// begin starts an event whose range is v.
func (p *parser) begin(v jsontext.Value, id string, kind transcript.Kind, role string, at transcript.Time) {
	p.lend.Reset()
	p.parts = p.parts[:0]
	p.event = transcript.Event{Conversation: p.id, ID: id, Kind: kind, Role: role, Time: at, Origin: p.origin(v)}
}

// add appends a part to the event, whose range is whole.
func (p *parser) add(whole, piece jsontext.Value) {
	p.parts = append(p.parts, p.lend.Part(whole, piece, appendPiece))
}

// emit yields the event, which has a part for each piece. parent is consumed by the first event of a message.
func (p *parser) emit(parent *string) {
	if *parent != "" {
		p.event.Attributes = transcript.Attributes{"parent": *parent}
		*parent = ""
	}
	p.event.Parts = p.parts
	p.Emit(&p.event)
}

// message yields the events of one message. parent is the message that it follows, if that is not the one before it.
func (p *parser) message(n *node, parent string) {
	p.prompt(n, &parent)
	for i, f := range n.message.Get("fragments").Numbered() {
		if p.Done() {
			return
		}
		if !isUsers(f) {
			p.fragment(n, f, n.key+"/"+strconv.Itoa(i), &parent)
		}
	}
}

// prompt yields what the user wrote and attached in a message, if that is no answer alone: one event, with a part for each text and each list of files. One
// without any text is not counted; so is a message without fragments.
func (p *parser) prompt(n *node, parent *string) {
	m := n.message
	p.begin(m, n.key, transcript.KindMessage, "user", n.at)
	e := &p.event
	for f := range m.Get("fragments").Items() {
		if content := f.Get("content"); isUsers(f) && !content.IsBlank() {
			p.add(m, content)
		}
	}
	asked, empty := len(p.parts) > 0, true
	for f := range m.Get("fragments").Items() {
		empty = false
		if files := f.Get("files"); isUsers(f) && files.HasItems() {
			p.add(m, files)
		}
	}
	if files := m.Get("files"); files.HasItems() {
		p.add(m, files)
	}
	switch {
	case asked:
		e.Type = "REQUEST"
	case len(p.parts) > 0 && !isAnswer(m):
		e.Type, e.Verdict = "FILE", transcript.Uncounted
	case len(p.parts) > 0:
		e.Kind, e.Role, e.Type, e.Verdict = transcript.KindNotice, "assistant", "files", transcript.Uncounted
	case empty:
		e.Kind, e.Role, e.Verdict = transcript.KindUnknown, "", transcript.Uncounted
		p.add(m, m)
	case isAnswer(m):
		return
	default: // an empty prompt
		e.Type, e.Verdict = "REQUEST", transcript.Uncounted
		p.add(m, m)
	}
	p.emit(parent)
}

// fragment yields one fragment of an answer.
func (p *parser) fragment(n *node, f jsontext.Value, id string, parent *string) {
	p.begin(f, id, transcript.KindUnknown, "assistant", n.at)
	e := &p.event
	e.Type, e.Model = f.Get("type").Word(), n.model
	switch {
	case e.Type == "RESPONSE":
		e.Kind = transcript.KindMessage
	case e.Type == "THINK":
		e.Kind = transcript.KindReasoning
	case isTool(e.Type):
		p.call(f, id, parent)
		return
	case e.Type == "TIP":
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	default:
		e.Verdict = transcript.Uncounted
	}
	p.add(f, f)
	p.emit(parent)
}

// call yields the use of a tool, and what it found as its result.
func (p *parser) call(f jsontext.Value, id string, parent *string) {
	e := &p.event
	e.Kind = transcript.KindToolCall
	name, model, at := e.Type, e.Model, e.Time
	p.add(f, f)
	p.parts[0].Call = &transcript.Call{ID: id, Name: name}
	p.emit(parent)
	found := f.Get("results")
	if !found.HasItems() {
		return
	}
	p.begin(f, id+"/results", transcript.KindToolResult, "tool", at)
	e.Type, e.Model = name, model
	p.add(f, found)
	p.parts[0].Result = &transcript.Result{Call: id, Name: name, Output: int64(found.Len())}
	p.emit(parent)
}
