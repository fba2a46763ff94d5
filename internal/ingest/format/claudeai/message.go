package claudeai

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// call is a call without a result so far.
type call struct{ id, name string }

// maxCalls bounds the number of unanswered calls.
const maxCalls = 100

// hasBlocks reports whether a message has content. Then its text only repeats the content, or stands in for it.
func hasBlocks(content jsontext.Value) bool { return content.HasItems() || !content.IsBlank() }

// textsOf yields the values with the text of a message: text blocks, or its text, omitting blank ones. n is the index of a
// block.
func textsOf(m jsontext.Value, yield func(n int, v jsontext.Value)) {
	content := m.Get("content")
	switch {
	case !hasBlocks(content):
		if text := m.Get("text"); !text.IsBlank() {
			yield(0, text)
		}
	case content.IsString():
		yield(0, content)
	default:
		for n, b := range content.Numbered() {
			if isText(b) || isSpoken(b) {
				yield(n, b)
			}
		}
	}
}

func isText(b jsontext.Value) bool {
	return b.IsObject() && b.Get("type").Is("text") && !b.Get("text").IsBlank() || !b.IsBlank()
}

// isSpoken reports whether a block holds what was said instead of typed.
func isSpoken(b jsontext.Value) bool {
	return b.IsObject() && b.Get("type").Is("voice_note") && !b.Get("text").IsBlank()
}

// prompt yields a user's message: one event, with a part for each text and each file. Long pasted text is a file without a
// name, and often the whole message. A message of files without text is not counted. Its text stands for blocks that have
// none: only an answer's says that a block cannot be shown.
func (p *parser) prompt(m jsontext.Value, id, sender string, at transcript.Time, attributes transcript.Attributes) {
	p.begin(m, id, transcript.KindMessage, "user", at)
	p.event.Type, p.event.Attributes = sender, attributes
	if sender != "human" && sender != "user" {
		p.event.Kind, p.event.Role = transcript.KindSystem, "system"
	}
	textsOf(m, func(_ int, v jsontext.Value) { p.add(m, v) })
	if text := m.Get("text"); len(p.parts) == 0 && !text.IsBlank() {
		p.add(m, text)
	}
	typed := len(p.parts) > 0
	if pasted := p.files(m); !typed && !pasted {
		p.event.Verdict = transcript.Uncounted
	}
	if len(p.parts) == 0 {
		p.parts = append(p.parts, transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendPiece(b, m) })})
	}
	p.emitEvent()
	for n, b := range m.Get("content").Numbered() {
		if !isText(b) && !isSpoken(b) && !b.Get("type").Is("text") {
			p.block(b, id, n, "user", at, nil)
		}
	}
}

// files adds the files of a message, and reports whether any has text.
func (p *parser) files(m jsontext.Value) (text bool) {
	for _, key := range []string{"attachments", "files"} {
		for file := range m.Get(key).Items() {
			if file.IsObject() {
				p.add(m, file)
				text = text || !file.Get("extracted_content").IsBlank()
			}
		}
	}
	return text
}

// answer yields the blocks of an answer.
func (p *parser) answer(m jsontext.Value, id string, at transcript.Time, attributes transcript.Attributes) {
	first := true
	text := func(n int, v jsontext.Value) {
		own := id + "/" + strconv.Itoa(n)
		if first {
			own, first = id, false
		}
		p.begin(v, own, transcript.KindMessage, "assistant", cmp.Or(v.Get("start_timestamp").Time(), at))
		p.event.Type, p.event.Attributes, attributes = "text", attributes, nil
		p.add(v, v)
		p.emitEvent()
	}
	if content := m.Get("content"); !hasBlocks(content) || content.IsString() {
		textsOf(m, text)
	} else {
		for n, b := range content.Numbered() {
			switch {
			case p.Done():
				return
			case isText(b):
				text(n, b)
			case !b.Get("type").Is("text"):
				p.block(b, id, n, "assistant", at, attributes)
				attributes = nil
			}
		}
	}
	for _, key := range []string{"attachments", "files"} {
		for file := range m.Get(key).Items() {
			p.begin(file, "", transcript.KindNotice, "assistant", at)
			p.event.Type, p.event.Verdict = key, transcript.Uncounted
			p.add(file, file)
			p.emitEvent()
		}
	}
}

// block yields a block that is not text.
func (p *parser) block(b jsontext.Value, message string, n int, role string, at transcript.Time, attributes transcript.Attributes) {
	p.begin(b, message+"/"+strconv.Itoa(n), transcript.KindUnknown, role, cmp.Or(b.Get("start_timestamp").Time(), at))
	e := &p.event
	e.Type, e.Attributes = b.Get("type").Word(), attributes
	p.add(b, b)
	part := &p.parts[0]
	switch e.Type {
	case "thinking", "redacted_thinking":
		e.Kind, e.Role = transcript.KindReasoning, "assistant"
	case "tool_use":
		e.Kind, e.Role = transcript.KindToolCall, "assistant"
		input := b.Get("input")
		part.Call = &transcript.Call{ID: b.Get("id").Str(), Name: b.Get("name").Str(), Input: int64(input.Len())}
		if part.Call.ID == "" {
			p.callsWithoutID++
			part.Call.ID = "#" + strconv.Itoa(p.callsWithoutID)
		}
		if len(p.calls) == maxCalls {
			p.calls = slices.Delete(p.calls, 0, 1)
		}
		p.calls = append(p.calls, call{part.Call.ID, part.Call.Name})
	case "tool_result":
		e.Kind, e.Role = transcript.KindToolResult, "tool"
		part.Result = &transcript.Result{
			Call: b.Get("tool_use_id").Str(), Name: b.Get("name").Str(), Failed: b.Get("is_error").Bool(), Output: int64(b.Get("content").Len()),
		}
		p.pair(part.Result)
	case "voice_note", "token_budget", "flag", "injected_prompt_block":
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	default:
		e.Verdict = transcript.Uncounted
	}
	p.emitEvent()
}

// pair joins a result to its call: by its id, else to the first open call of the same name, else to the first one.
func (p *parser) pair(r *transcript.Result) {
	i := slices.IndexFunc(p.calls, func(c call) bool {
		if r.Call != "" {
			return c.id == r.Call
		}
		return c.id[0] == '#' && (r.Name == "" || c.name == r.Name)
	})
	if i < 0 {
		return
	}
	r.Call, r.Name = p.calls[i].id, cmp.Or(r.Name, p.calls[i].name)
	p.calls = slices.Delete(p.calls, i, i+1)
}
