package openwebui

import (
	"bytes"
	"html"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Until 2026 an answer was one text, in which HTML elements at the beginning of a line hold reasoning and calls of tools:
//
//	<details type="reasoning" done="true" duration="5">
//	<summary>Thought for 5 seconds</summary>
//	> what it thought
//	</details>
//	<details type="tool_calls" done="true" id="call_1" name="search" arguments="..." result="..." files="">
//	<summary>Tool Executed</summary>
//	</details>
//	<details type="code_interpreter" done="true" output="...">
//	<summary>Analyzed</summary>
//	```python
//	...
//
// Newer ones have the result of a tool after the summary. Each becomes an event whose bytes are its own in the body of the JSON string. No
// escape lies across the ends of a piece, for each is a line's.

// piece is a piece of an answer, in the body of the string.
type piece struct {
	kind     transcript.Kind
	from, to int
	typ      string // of the element
	id, name string // of a call
	size     int64  // of its input or output
	duration string // of reasoning, in seconds
}

const (
	opening = `<details type=\"` // in the body of a string
	closing = "</details>"
	heading = "</summary>"
)

// split returns the pieces of an answer, nil if it is only text.
func split(body []byte) (pieces []piece) {
	if !bytes.Contains(body, []byte(opening)) {
		return nil
	}
	text, blocks, mayClose := piece{kind: transcript.KindMessage, from: -1}, 0, true
	flush := func() {
		if text.from >= 0 {
			pieces = append(pieces, text)
			text.from = -1
		}
	}
	for i := 0; i < len(body); {
		end, next := lineEnd(body, i)
		if typ, tag := opens(body[i:end]); typ != "" && mayClose {
			if to := closes(body, i+tag, end, next); to > 0 {
				flush()
				pieces = appendBlock(pieces, body, i, i+tag, to, typ)
				blocks++
				i = to
				continue
			}
			mayClose = false // nor does any later one
		}
		if !isBlank(body[i:end]) {
			if text.from < 0 {
				text.from = i
			}
			text.to = end
		}
		i = next
	}
	flush()
	if blocks == 0 {
		return nil
	}
	return pieces
}

// lineEnd returns where a line in the body of a string ends, and where the next one begins.
func lineEnd(body []byte, from int) (end, next int) {
	for i := from; ; {
		at := bytes.IndexByte(body[i:], '\\')
		if at < 0 || i+at+1 >= len(body) {
			return len(body), len(body)
		}
		if i += at; body[i+1] == 'n' {
			return i, i + 2
		}
		i += 2
	}
}

func isBlank(line []byte) bool { return len(line) < 64 && strings.TrimSpace(unquote(line)) == "" }

// opens returns the type of the element that a line opens, "" if it is none of those known, and the length of its tag. What attributes hold
// is escaped, so that a tag ends at the first bracket.
func opens(line []byte) (typ string, tag int) {
	after, ok := bytes.CutPrefix(line, []byte(opening))
	tag = bytes.IndexByte(line, '>') + 1
	if !ok || tag == 0 {
		return "", 0
	}
	name, _, _ := bytes.Cut(after, []byte(`\"`))
	switch typ := string(name); typ {
	case "reasoning", "tool_calls", "code_interpreter":
		return typ, tag
	}
	return "", 0
}

// closes returns where an element ends: on its own line, or at the beginning of a later one; 0 if it does not.
func closes(body []byte, inner, end, next int) int {
	if at := bytes.Index(body[inner:end], []byte(closing)); at >= 0 {
		return inner + at + len(closing)
	}
	for i := next; i < len(body); _, i = lineEnd(body, i) {
		if bytes.HasPrefix(body[i:], []byte(closing)) {
			return i + len(closing)
		}
	}
	return 0
}

// appendBlock appends the pieces of an element: of a call also its result.
func appendBlock(pieces []piece, body []byte, from, inner, to int, typ string) []piece {
	tag := unquote(body[from:inner])
	p := piece{from: from, to: to, typ: typ, id: attribute(tag, "id"), name: attribute(tag, "name"), duration: attribute(tag, "duration")}
	if typ == "reasoning" {
		p.kind = transcript.KindReasoning
		return append(pieces, p)
	}
	p.kind = transcript.KindToolCall
	result := p
	result.kind = transcript.KindToolResult
	mark := ` result=\"`
	if p.size = int64(len(attribute(tag, "arguments"))); typ == "code_interpreter" {
		p.name, mark = typ, ` output=\"`
		p.size = int64(to - inner)
	}
	pieces = append(pieces, p)
	if at := bytes.Index(body[from:inner], []byte(mark)); at >= 0 && !bytes.HasPrefix(body[from+at+len(mark):], []byte(`\"`)) {
		result.from = from + at + 1
		value := body[from+at+len(mark) : inner]
		if length := bytes.Index(value, []byte(`\"`)); length >= 0 {
			result.size = int64(length)
		}
		return append(pieces, result)
	}
	if at := bytes.Index(body[inner:to], []byte(heading)); at >= 0 && typ == "tool_calls" {
		result.from = inner + at
		if result.size = int64(len(strings.TrimSpace(outputOf(unquote(body[result.from:to]))))); result.size > 0 {
			pieces = append(pieces, result)
		}
	}
	return pieces
}

// attribute returns an attribute of a tag as it is written.
func attribute(tag, name string) string {
	_, after, _ := strings.Cut(tag, " "+name+`="`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

// outputOf returns what an element has after its summary, from there on.
func outputOf(element string) string {
	return strings.TrimSuffix(strings.TrimPrefix(element, heading), closing)
}

// unquote returns the text of a piece of the body of a JSON string.
func unquote(body []byte) string { return jsontext.Unquote(`"` + string(body) + `"`) }

// piece yields the event of a piece of the content.
func (m *message) piece(content jsontext.Value, c piece) {
	raw := content.Body()[c.from:c.to]
	text := m.lend.Text(func(b []byte) []byte { return appendFragment(b, raw) })
	at := m.origin(content)
	at.Offset += int64(1 + c.from)
	at.Length = int64(len(raw))
	e := m.lend.Event(transcript.Event{Kind: c.kind, Role: m.role, Type: c.typ, Origin: at})
	e.Parts[0] = transcript.Part{Text: text}
	switch c.kind {
	case transcript.KindMessage:
		e.Kind = m.kind
		m.emit(e, m.textID(), m.verdict)
	case transcript.KindReasoning:
		if n, err := strconv.ParseInt(c.duration, 10, 32); err == nil {
			e.Attributes.Set("duration_ms", n*1000)
		}
		m.emit(e, m.thoughtID(), transcript.Counted)
	case transcript.KindToolCall:
		id := m.callID(c.id)
		e.Parts[0].Call = &transcript.Call{ID: id, Name: c.name, Input: c.size}
		m.emit(e, m.callEvent(id), transcript.Counted)
	case transcript.KindToolResult:
		e.Role = "tool"
		e.Parts[0].Result = &transcript.Result{Call: m.last, Name: c.name, Output: c.size}
		m.emit(e, m.resultEvent(m.last), transcript.Counted)
	}
}

// appendFragment appends the text of a piece of the content, from its own bytes.
func appendFragment(dst, raw []byte) []byte {
	text := unquote(raw)
	ended := strings.HasSuffix(text, closing)
	value := func(name string) (string, bool) {
		after, ok := strings.CutPrefix(text, name+`="`)
		value, _, _ := strings.Cut(after, `"`)
		return value, ok && ended
	}
	if output, ok := value("result"); ok {
		return appendOutput(dst, output)
	}
	if output, ok := value("output"); ok {
		return appendOutput(dst, output)
	}
	switch tag, inner, _ := strings.Cut(text, ">"); {
	case !ended:
	case strings.HasPrefix(text, heading):
		return appendOutput(dst, outputOf(text))
	case strings.HasPrefix(tag, `<details type="tool_calls"`):
		return appendInput(appendLine(dst, attribute(tag, "name")), attribute(tag, "arguments"))
	case strings.HasPrefix(tag, `<details type="reasoning"`):
		return appendThought(dst, innerOf(inner))
	case strings.HasPrefix(tag, `<details type="code_interpreter"`):
		return appendLine(dst, withoutFence(innerOf(inner)))
	}
	return append(dst, text...)
}

// innerOf returns what an element holds beside its summary.
func innerOf(inner string) string {
	inner = strings.TrimSpace(strings.TrimSuffix(inner, closing))
	if _, after, ok := strings.Cut(inner, heading); ok && strings.HasPrefix(inner, "<summary>") {
		inner = after
	}
	return strings.Trim(inner, "\n")
}

// appendThought appends reasoning, which is written as a quotation; in newer versions it is escaped.
func appendThought(dst []byte, inner string) []byte {
	if strings.HasPrefix(inner, "&gt;") {
		inner = html.UnescapeString(inner)
	}
	first := true
	for line := range strings.SplitSeq(inner, "\n") {
		if !first {
			dst = append(dst, '\n')
		}
		first = false
		if rest, ok := strings.CutPrefix(line, ">"); ok {
			line = strings.TrimPrefix(rest, " ")
		}
		dst = append(dst, line...)
	}
	return dst
}

// withoutFence returns code without the fence around it.
func withoutFence(code string) string {
	code = strings.TrimSpace(code)
	if !strings.HasPrefix(code, "```") {
		return code
	}
	_, code, _ = strings.Cut(code, "\n")
	return strings.TrimSuffix(strings.TrimSuffix(code, "```"), "\n")
}

func appendLine(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	if len(dst) > 0 {
		dst = append(dst, '\n')
	}
	return append(dst, text...)
}

// appendInput appends the values in the input of a tool, which is JSON, or JSON in a JSON string, with its HTML escaped.
func appendInput(dst []byte, escaped string) []byte {
	text := html.UnescapeString(escaped)
	v, err := jsontext.Parse([]byte(text))
	if err != nil {
		return appendLine(dst, text)
	}
	return jsontext.AppendScalars(dst, v.UnwrapContainer())
}

// appendOutput appends the output of a tool, which is JSON with its HTML escaped.
func appendOutput(dst []byte, escaped string) []byte {
	text := strings.TrimSpace(html.UnescapeString(escaped))
	v, err := jsontext.Parse([]byte(text))
	if err != nil {
		return appendLine(dst, text)
	}
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}
