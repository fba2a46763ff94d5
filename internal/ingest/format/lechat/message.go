package lechat

import (
	"bytes"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// begin starts an event whose range is v. All but the message itself are named after their place in it.
func (p *parser) begin(v jsontext.Value, place string, kind transcript.Kind, role string) {
	p.lend.Reset()
	p.parts = p.parts[:0]
	id := p.own
	if place != "" {
		id += "/" + place
	}
	p.event = transcript.Event{Conversation: p.id, ID: id, Kind: kind, Role: role, Time: p.time, Origin: p.origin(v)}
}

// add appends a part to the event, whose range is whole.
func (p *parser) add(whole, piece jsontext.Value) *transcript.Part {
	p.parts = append(p.parts, p.lend.Part(whole, piece, appendText))
	return &p.parts[len(p.parts)-1]
}

func (p *parser) emit() {
	p.event.Parts = p.parts
	p.Emit(&p.event)
}

// message yields the events of one message, the i-th one. Versions of a message have the same id.
func (p *parser) message(i int, m message) {
	v := m.v
	if p.own, p.time = format.ShortID(v.Get("id").Text()), m.at; p.own == "" {
		p.own = "#" + strconv.Itoa(i)
	}
	if n, ok := v.Get("version").Int(); ok && n > 0 {
		p.own += "." + strconv.FormatInt(n, 10)
	}
	content := v.Get("content")
	if !v.Get("role").Is("user") {
		p.chunks(v.Get("contentChunks"), content)
	}
	p.begin(v, "", transcript.KindMessage, v.Get("role").Word())
	e := &p.event
	if e.Type = e.Role; e.Role != "user" && e.Role != "assistant" {
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	said := p.add(v, v).Text != ""
	if !said {
		p.parts = p.parts[:0]
	}
	for _, key := range []string{"files", "quotes", "canvas"} {
		if list := v.Get(key); list.HasItems() {
			if part := p.add(v, list); key != "files" {
				part.Kind = transcript.KindNotice
			}
		}
	}
	if !said {
		if len(p.parts) == 0 {
			return // all of it was in chunks
		}
		e.Verdict = transcript.Uncounted
	}
	if n := v.Get("context", "completionTiming", "generationStats", "outputTokens").Tokens(); n.Known {
		e.Attributes.Set("tokens", n.N)
	}
	if reaction := v.Get("reaction").Word(); reaction != "neutral" {
		e.Attributes.Set("reaction", reaction)
	}
	p.emit()
}

// chunks yields the pieces of an answer, except those that its content has.
func (p *parser) chunks(list, content jsontext.Value) {
	told := told{whole: content.Body(), effort: maxEffort * content.Len()}
	for i, c := range list.Numbered() {
		if p.Done() {
			return
		}
		place := strconv.Itoa(i)
		switch typ := c.Get("type").Word(); {
		case typ == "tool_call":
			p.call(c, place)
		case typ == "reference", !c.IsObject() && c.IsBlank():
		case typ == "text" && c.Get("text").IsBlank():
		case typ == "text" && c.Get("_context", "type").Is("reasoning"):
			p.piece(c, place, transcript.KindReasoning, "")
			p.event.Type = "reasoning"
			p.emit()
		case typ == "text":
			if told.has(bytes.TrimSpace(c.Get("text").Body())) {
				continue
			}
			p.piece(c, place, transcript.KindMessage, "")
			p.emit()
		case typ == "image_url", typ == "file_reference", typ == "canva", typ == "custom_element":
			p.piece(c, place, transcript.KindNotice, transcript.Uncounted)
			p.emit()
		default:
			p.piece(c, place, transcript.KindUnknown, transcript.Uncounted)
			p.emit()
		}
	}
}

// told is the content of an answer, in which chunks are searched: first behind the one before, which takes one pass for all of them.
type told struct {
	whole  []byte
	read   int
	effort int // bytes that may still be searched in vain
}

// maxEffort is how often all of a content may be searched in vain.
const maxEffort = 64

func (t *told) has(text []byte) bool {
	if t.effort <= 0 {
		return false
	}
	if at := bytes.Index(t.whole[t.read:], text); at >= 0 {
		t.read += at + len(text)
		return true
	}
	t.effort -= len(t.whole)
	return bytes.Contains(t.whole, text)
}

// piece starts the event of a chunk.
func (p *parser) piece(c jsontext.Value, place string, kind transcript.Kind, verdict transcript.Verdict) {
	p.begin(c, place, kind, "assistant")
	p.event.Type, p.event.Verdict = c.Get("type").Word(), verdict
	if p.event.Type == "text" {
		p.add(c, c)
	} else {
		p.add(c, c.Get("text"))
	}
}

// call yields the call of a tool, and its result.
func (p *parser) call(c jsontext.Value, place string) {
	id, name, input, output := format.ShortID(c.Get("id").Text()), c.Get("name").Str(), c.Get("publicArguments"), c.Get("publicResult")
	if id == "" {
		p.calls++
		id = "#" + strconv.Itoa(p.calls)
	}
	p.begin(c, place, transcript.KindToolCall, "assistant")
	p.event.Type = "tool_call"
	if t := timeOf(c.Get("startTime")); t.Valid {
		p.event.Time = t
	}
	if input.IsNull() {
		input = c.Get("name")
	}
	part := p.add(c, input)
	part.Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len())}
	p.emit()
	failed := c.Get("success").Bool().Not()
	if output.IsNull() && failed != transcript.Yes {
		return
	}
	p.begin(c, place+"/result", transcript.KindToolResult, "tool")
	p.event.Type = "tool_call"
	if t := timeOf(c.Get("endTime")); t.Valid {
		p.event.Time = t
	}
	if output.Exists() {
		p.add(c, output)
	} else {
		p.add(c, c.Get("success"))
	}
	r := &transcript.Result{Call: id, Name: name, Failed: failed, Output: int64(output.Len())}
	if c.Get("isInterrupted").Bool() == transcript.Yes {
		r.Status = "interrupted"
	}
	p.parts[0].Result = r
	p.emit()
}

// timeOf returns a time in milliseconds, as far as a number can be one.
func timeOf(v jsontext.Value) transcript.Time {
	if n, ok := v.Int(); !ok || n < 1e12 {
		return transcript.Time{}
	}
	return v.MilliTime()
}
