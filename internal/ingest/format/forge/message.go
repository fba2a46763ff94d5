package forge

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message while its events are made.
type message struct {
	*parser
	key   string
	model string
	n     int // events so far
}

// message yields the events of an entry of the context, and returns what identifies it apart from equal ones.
func (p *parser) message(entry jsontext.Value) string {
	v := inner(entry)
	hash := p.hash(v)
	m := &message{parser: p, key: p.unique(hash)}
	text, tool := v.Get("text"), v.Get("tool")
	switch {
	case text.IsObject():
		m.model = text.Get("model").Str()
		m.text(text, entry.Get("usage").IsObject())
	case tool.IsObject():
		m.result(tool)
	case v.Get("image").Exists():
		m.emit(m.Event(transcript.KindNotice, "user", "image", v.Get("image")), transcript.Uncounted)
	case v.Get("document").Exists(): // data in base64, and perhaps the file's name
		m.emit(m.Event(transcript.KindNotice, "user", "document", v.Get("document")), transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, "", "", entry), transcript.Uncounted)
	}
	return hash
}

// hash returns a key of a message from what it says, without what the program changes later: its model, reasoning that is moved to it when the
// conversation is shortened, and its usage.
func (p *parser) hash(v jsontext.Value) string {
	h := fnv.New64a()
	add := func(v jsontext.Value) {
		h.Write(v.Raw())
		h.Write([]byte{0})
	}
	text, tool := v.Get("text"), v.Get("tool")
	switch {
	case text.IsObject():
		add(text.Get("role"))
		add(text.Get("content"))
		for call := range text.Get("tool_calls").Items() {
			add(call.Get("name"))
			add(call.Get("call_id"))
		}
	case tool.IsObject():
		add(tool.Get("call_id"))
		add(tool.Get("output"))
	default:
		add(v)
	}
	return fmt.Sprintf("%s/%016x", p.origin, h.Sum64())
}

// unique returns a key that is not taken, and remembers it.
func (p *parser) unique(key string) string {
	if p.seen[key]++; p.seen[key] > 1 {
		return key + "#" + strconv.Itoa(p.seen[key])
	}
	return key
}

func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Model = conversation, m.Session, verdict, m.model
	e.ID, e.Global, e.Home = m.key+"/"+strconv.Itoa(m.n), m.origin != m.Session, m.home
	m.n++
	m.Emit(e)
}

// text yields a prompt, or an answer: its reasoning, what it says, and its calls.
func (m *message) text(v jsontext.Value, hasUsage bool) {
	role := strings.ToLower(v.Get("role").Word())
	isBlank := v.Get("content").IsBlank() && v.Get("raw_content").IsNull()
	switch {
	case role == "assistant":
		m.reasoning(v.Get("reasoning_details"))
		if said := v.Get("content"); !said.IsBlank() {
			m.emit(m.Event(transcript.KindMessage, role, "text", said), transcript.Counted)
		}
		for call := range v.Get("tool_calls").Items() {
			m.call(call)
		}
		if m.n == 0 {
			m.emit(m.Event(transcript.KindNotice, role, "text", v), transcript.Uncounted)
		}
	case isBlank, v.Get("droppable").Bool() == transcript.Yes: // what a prompt has brought along
		m.emit(m.Event(transcript.KindNotice, role, "text", v), transcript.Uncounted)
	case role == "system":
		m.emit(m.Event(transcript.KindSystem, role, "text", v), transcript.Counted)
	case hasUsage: // a summary of what was here
		m.emit(m.Event(transcript.KindCompaction, "system", "text", v), transcript.Counted)
	case role == "user":
		m.emit(m.Event(transcript.KindMessage, role, "text", v), transcript.Counted)
	default:
		m.emit(m.Event(transcript.KindUnknown, role, "text", v), transcript.Uncounted)
	}
}

// reasoning yields the reasoning of an answer, if there is more of it than a signature.
func (m *message) reasoning(v jsontext.Value) {
	for item := range v.Items() {
		if !item.Get("text").IsBlank() {
			m.emit(m.Event(transcript.KindReasoning, "assistant", "reasoning_details", v), transcript.Counted)
			return
		}
	}
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path"}

func (m *message) call(v jsontext.Value) {
	e := m.Event(transcript.KindToolCall, "assistant", "tool_call", v)
	e.Parts[0].Call = &transcript.Call{
		ID: v.Get("call_id").Text(), Name: v.Get("name").Str(), Input: int64(v.Get("arguments").Len()), Paths: format.Paths(inputOf(v), pathNames, nil),
	}
	m.emit(e, transcript.Counted)
}

// result yields the result of a call. That of a sub-agent names its conversation.
func (m *message) result(v jsontext.Value) {
	e := m.Event(transcript.KindToolResult, "tool", "tool", v)
	output, call := v.Get("output"), v.Get("call_id").Text()
	e.Parts[0].Result = &transcript.Result{Call: call, Name: v.Get("name").Str(), Failed: output.Get("is_error").Bool(), Output: int64(output.Len())}
	m.emit(e, transcript.Counted)
	for value := range output.Get("values").Items() {
		of := value.First("aI", "ai", "AI").Get("conversation_id").Str()
		if of == "" || of == m.Session {
			continue
		}
		m.Emit(&transcript.Run{ID: of, Named: true, Child: true})
		m.Hint(of, hintChild, "yes", m.Row.Origin)
		link := &transcript.Link{Kind: "parent", From: transcript.RunEnd(m.Session), To: transcript.RunEnd(of), Origin: m.Row.Origin}
		link.Attributes.Set("call", call)
		m.Emit(link)
	}
}
