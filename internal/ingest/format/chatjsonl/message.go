package chatjsonl

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// messageState is the state of a message while its events are yielded.
type messageState struct {
	c    *chat
	link chain
	n    int // number of its events so far
	item
	role string // as written
	time transcript.Time
}

// message yields the events of one message, in the order of its members.
func (p *parser) message(c *chat, link chain, it item) {
	if p.Done() {
		return
	}
	s := &messageState{c: c, link: link, item: it, time: cmp.Or(timeOf(it.v), p.time), role: cmp.Or(it.v.Get("role").Word(), it.v.Get("from").Word(), it.by)}
	switch {
	case it.by == "":
		if it.v.IsObject() || it.v.IsArray() || !it.v.IsBlank() {
			p.item(s)
		}
	case !it.v.IsObject():
		p.content(s, it.v)
	default:
		for key, f := range it.v.Fields() {
			p.member(s, key, f)
		}
	}
	if s.n == 0 && (it.by == byUser || it.by == bySystem || it.by == byTool) {
		p.emitPart(s, it.v, kinds[it.by], rolesOf[it.by])
	}
}

var (
	kinds   = map[string]transcript.Kind{byUser: transcript.KindMessage, byAssistant: transcript.KindMessage, bySystem: transcript.KindSystem, byTool: transcript.KindToolResult, byCall: transcript.KindToolCall}
	rolesOf = map[string]string{byUser: "user", byAssistant: "assistant", bySystem: "system", byTool: "tool", byCall: "assistant"}
)

// member yields the events of one member of a message.
func (p *parser) member(s *messageState, key string, f jsontext.Value) {
	switch key {
	case "content", "value":
		p.content(s, f)
	case "reasoning_content", "reasoning", "thinking":
		if !f.IsBlank() {
			p.emitPart(s, f, transcript.KindReasoning, "assistant")
		}
	case "refusal":
		if !f.IsBlank() {
			p.emitPart(s, f, transcript.KindMessage, "assistant")
		}
	case "audio":
		if !f.Get("transcript").IsBlank() {
			p.emitPart(s, f, transcript.KindMessage, "assistant")
		}
	case "tool_calls":
		for call := range f.Items() {
			if call.IsObject() {
				p.emitPart(s, call, transcript.KindToolCall, "assistant")
			}
		}
	case "function_call":
		if f.IsObject() {
			p.emitPart(s, f, transcript.KindToolCall, "assistant")
		}
	}
}

// content yields content: a text, or a list of blocks, whose texts and pictures are parts of one event.
func (p *parser) content(s *messageState, content jsontext.Value) {
	kind, role := kinds[s.by], rolesOf[s.by]
	switch {
	case content.IsString() && (s.by != byAssistant || !content.IsBlank()):
		p.emitPart(s, content, kind, role)
	case content.IsArray():
		p.lend.Reset()
		p.parts = p.parts[:0]
		base := p.base(content)
		for b := range content.Items() {
			if isText(b) {
				p.parts = append(p.parts, p.part(base, b))
			}
		}
		switch {
		case len(p.parts) > 0:
			if kind == transcript.KindToolResult {
				p.parts[0].Result = p.result(s, s.v)
			}
			p.emit(s, base, kind, role)
		case s.by != byAssistant && !hasBlocks(content):
			p.emitPart(s, content, kind, role)
			return
		}
		for b := range content.Items() {
			if !isText(b) {
				p.block(s, b)
			}
		}
	case content.IsObject() && s.by == byTool:
		p.emitPart(s, content, kind, role)
	}
}

// isText reports whether a block is part of the content: text or media.
func isText(b jsontext.Value) bool {
	switch b.Get("type").Word() {
	case "text", "input_text", "output_text", "refusal", "summary_text":
		return true
	case "image", "image_url", "input_image", "input_audio", "audio", "audio_url", "video", "video_url", "file", "input_file", "document":
		return true
	}
	return b.IsString() || b.IsObject() && !b.Get("type").Exists() && b.Get("text").IsString()
}

// block yields a block that is an event of its own, as in Anthropic's messages.
func (p *parser) block(s *messageState, b jsontext.Value) {
	kind := kindOfBlock(b)
	role := rolesOf[s.by]
	switch kind {
	case transcript.KindReasoning, transcript.KindToolCall:
		role = "assistant"
	case transcript.KindToolResult:
		role = "tool"
	}
	p.emitPart(s, b, kind, role)
}

func kindOfBlock(b jsontext.Value) transcript.Kind {
	switch b.Get("type").Word() {
	case "thinking", "redacted_thinking", "reasoning":
		return transcript.KindReasoning
	case "tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call":
		return transcript.KindToolCall
	case "tool_result", "mcp_tool_result", "tool-result":
		return transcript.KindToolResult
	}
	return transcript.KindUnknown
}

// hasBlocks reports whether a block of a list is an event of its own.
func hasBlocks(list jsontext.Value) bool {
	for b := range list.Items() {
		if kindOfBlock(b) != transcript.KindUnknown {
			return true
		}
	}
	return false
}

// item yields an item of the Responses API, or a message of an unknown role.
func (p *parser) item(s *messageState) {
	switch typ := s.v.Get("type").Word(); {
	case typ == "reasoning":
		p.emitPart(s, s.v, transcript.KindReasoning, "assistant")
	case strings.HasSuffix(typ, "_call_output"):
		p.emitPart(s, s.v, transcript.KindToolResult, "tool")
	case strings.HasSuffix(typ, "_call"):
		p.emitPart(s, s.v, transcript.KindToolCall, "assistant")
	default:
		p.emitPart(s, s.v, transcript.KindUnknown, s.role)
	}
}

// base returns the value whose range is the event's origin: v, or the line if the order would otherwise be wrong.
func (p *parser) base(v jsontext.Value) jsontext.Value {
	if p.outOfOrder {
		return p.whole
	}
	return v
}

func (p *parser) part(base, v jsontext.Value) transcript.Part {
	return p.lend.Part(base, v, appendPiece)
}

// emitPart yields an event of one part.
func (p *parser) emitPart(s *messageState, v jsontext.Value, kind transcript.Kind, role string) {
	p.lend.Reset()
	base := p.base(v)
	p.parts = append(p.parts[:0], p.part(base, v))
	switch kind {
	case transcript.KindToolCall:
		p.parts[0].Call = p.call(s, v)
	case transcript.KindToolResult:
		p.parts[0].Result = p.result(s, v)
	}
	p.emit(s, base, kind, role)
}

func (p *parser) emit(s *messageState, base jsontext.Value, kind transcript.Kind, role string) {
	origin := jsontext.OriginIn(p.at, p.whole, base)
	p.event = transcript.Event{
		Conversation: s.c.id, ID: s.c.event(s.link, s.n), Global: true, Kind: kind, Role: role, Type: s.role, Time: s.time, Origin: origin, Parts: p.parts,
	}
	if s.n++; kind == transcript.KindUnknown {
		p.event.Verdict = transcript.Uncounted
	}
	if role == "assistant" {
		p.event.Model = p.model
	}
	p.Emit(&p.event)
}

// call returns a call in any of its spellings. ShareGPT has it as JSON in a string.
func (p *parser) call(s *messageState, v jsontext.Value) *transcript.Call {
	at, id := v.Unwrap(), cmp.Or(v.Get("call_id").Str(), v.Get("id").Str(), v.Get("toolCallId").Str())
	if f := v.Get("function"); f.IsObject() {
		at = f
	}
	c := &transcript.Call{ID: id, Name: cmp.Or(at.Get("name").Str(), at.Get("toolName").Str(), v.Get("type").Str())}
	for _, key := range []string{"arguments", "input", "args", "action"} {
		if input := at.Get(key); input.Exists() {
			c.Input = int64(input.Len())
			break
		}
	}
	if c.ID == "" {
		c.ID = "#" + s.c.event(s.link, s.n)
		s.c.call = generatedCall{c.ID, c.Name}
	}
	return c
}

// result returns a tool's result.
func (p *parser) result(s *messageState, v jsontext.Value) *transcript.Result {
	m := s.v
	if v.IsObject() && v != m {
		m = v // a block
	}
	r := &transcript.Result{
		Call: cmp.Or(m.Get("tool_call_id").Str(), m.Get("tool_use_id").Str(), m.Get("call_id").Str(), m.Get("toolCallId").Str(), s.v.Get("tool_call_id").Str()),
		Name: cmp.Or(s.v.Get("name").Str(), m.Get("toolName").Str()), Failed: m.Get("is_error").Bool(), Output: int64(v.Len()),
	}
	for _, key := range []string{"content", "output", "result"} {
		if output := m.Get(key); output.Exists() {
			r.Output = int64(output.Len())
			break
		}
	}
	if r.Call == "" {
		r.Call, r.Name = s.c.call.id, cmp.Or(r.Name, s.c.call.name)
	}
	if r.Name == "" {
		r.Name = p.nameOf(r.Call)
	}
	return r
}

// nameOf returns the tool's name of a call in the current line.
func (p *parser) nameOf(id string) string {
	if p.calls == nil {
		p.calls = map[string]string{}
		for _, it := range p.exchange.input {
			for call := range it.v.Get("tool_calls").Items() {
				p.calls[call.Get("id").Str()] = call.Get("function", "name").Str()
			}
			for b := range it.v.Get("content").Items() {
				if b.Get("type").Is("tool_use") {
					p.calls[b.Get("id").Str()] = b.Get("name").Str()
				}
			}
			if it.v.Get("type").Is("function_call") {
				p.calls[it.v.Get("call_id").Str()] = it.v.Get("name").Str()
			}
		}
	}
	return p.calls[id]
}
