package langgraph

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The kinds of messages, most by LangChain's names.
const (
	kindHuman   = "human"
	kindAI      = "ai"
	kindSystem  = "system"
	kindTool    = "tool"
	kindRemove  = "remove"
	kindSummary = "summary" // of messages that the model is not told any more
	kindOther   = "other"
)

// object is an object of Python or JavaScript as it is written.
type object struct {
	class string
	body  jsontext.Value // its members
}

// objectOf reads an object: [module, class, members, ...] as an extension of MessagePack, or {"lc", "type": "constructor", "id": [..., class], "kwargs"}.
func objectOf(v jsontext.Value) (o object) {
	if args := v.Get("value"); args.IsArray() && !v.Get("ext").IsNull() {
		for n, arg := range args.Numbered() {
			switch {
			case n == 1:
				o.class = arg.Word()
			case n == 2 && arg.IsObject():
				o.body = arg
				return o
			}
		}
		return object{}
	}
	if kwargs := v.Get("kwargs"); kwargs.IsObject() && v.Get("type").Is("constructor") {
		for name := range v.Get("id").Items() {
			o.class = name.Word()
		}
		o.body = kwargs
	}
	return o
}

// kindOf returns the kind of a message by its class, type or role; "" if it is none.
func kindOf(name string) string {
	switch strings.TrimSuffix(strings.TrimSuffix(name, "Chunk"), "Message") {
	case "human", "user", "Human":
		return kindHuman
	case "ai", "assistant", "AI":
		return kindAI
	case "system", "developer", "System":
		return kindSystem
	case "tool", "function", "Tool", "Function":
		return kindTool
	case "remove", "Remove":
		return kindRemove
	case "chat", "Chat":
		return kindOther
	}
	return ""
}

// message is one message while its events are made.
type message struct {
	*write
	kind   string
	body   jsontext.Value // its members, or its text
	id     string
	global bool   // the id is unique everywhere
	native string // its type, role or class as written
	model  string
	said   bool // something was yielded
}

// read reads a message in one of the forms that a graph takes and keeps: an object, a map with a role or type, a role and a text, or a text alone.
func (w *write) read(v jsontext.Value) (*message, bool) {
	m := &message{write: w, body: v}
	switch o := objectOf(v); {
	case v.IsString() && w.row.Get("channel").Is(channelMessages):
		m.kind, m.native = kindHuman, "human"
	case v.IsArray():
		return w.readPair(v)
	case o.body.IsObject():
		m.native, m.body = o.class, o.body
		m.kind = kindOf(o.class)
		if m.kind == kindOther {
			m.kind = cmp.Or(kindOf(o.body.Get("role").Word()), kindOther)
		}
	case v.Get("data").IsObject():
		m.native, m.body = v.Get("type").Word(), v.Get("data")
		m.kind = kindOf(m.native)
	case v.Get("content").Exists():
		m.native = cmp.Or(v.Get("role").Word(), v.Get("type").Word())
		m.kind = kindOf(m.native)
	}
	return m, m.kind != ""
}

// readPair reads a role and a text.
func (w *write) readPair(v jsontext.Value) (*message, bool) {
	m := &message{write: w}
	for n, item := range v.Numbered() {
		switch {
		case n == 0 && item.IsString():
			m.native = item.Word()
			m.kind = kindOf(m.native)
		case n == 1 && item.IsString():
			m.body = item
		default:
			return m, false
		}
	}
	return m, m.kind != "" && m.body.Exists()
}

// text is the content of a message: a member, or all of it.
func (m *message) content() jsontext.Value {
	if m.body.IsString() {
		return m.body
	}
	return m.body.Get("content")
}

// message yields the events of a message, one for each piece, and what it used.
func (w *write) message(m *message) {
	w.values++
	const unique = 20 // shorter ones are those of the user's program
	id := format.ShortID(m.body.Get("id").Str())
	m.id, m.global = id, len(id) >= unique
	if id == "" || m.kind == kindRemove { // whose id is that of what it removes
		m.id, m.global = w.placeID(m.body), true
	}
	meta := m.body.Get("response_metadata")
	if m.kind == kindAI {
		m.model = cmp.Or(meta.Get("model_name").Str(), meta.Get("model").Str())
	}
	if m.model != "" {
		m.models[m.model] = true
	}
	m.classify()
	switch m.kind {
	case kindRemove:
		m.emit(m.Event(transcript.KindLifecycle, "", m.native, m.body), "", transcript.Uncounted)
		return
	case kindTool:
		m.result()
		return
	}
	m.pieces()
	if !m.said {
		m.emit(m.Event(transcript.KindNotice, "", m.native, m.body), "", transcript.Uncounted)
	}
	if m.kind == kindAI && !m.repeats(m.id) {
		m.usage(meta)
	}
}

// classify tells apart what is in the user's role but not from the user: a summary of earlier messages, and what Deep Agents tells the model.
func (m *message) classify() {
	if m.kind != kindHuman {
		return
	}
	switch text := m.content(); {
	case m.body.Get("additional_kwargs", "lc_source").Is("summarization"):
		m.kind = kindSummary
	case text.IsString() && strings.HasPrefix(text.Str(), "[SYSTEM]"):
		m.kind = kindSystem
	}
}

// emit yields an event. piece tells apart the events of one message, and a hash what was said there before and after somebody has changed it: in each copy
// of the thread and its database it may be another thing.
func (m *message) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	m.said = true
	raw := m.Row.Value.Raw()[e.Parts[0].Offset:][:e.Parts[0].Length]
	if e.Parts[0].Result != nil {
		raw = m.content().Raw() // the rest depends on the version that wrote it
	}
	hash := fnv.New64a()
	hash.Write(raw)
	id := m.id + piece + "~" + strconv.FormatUint(hash.Sum64(), 36)
	if m.repeats(id) {
		return
	}
	m.write.said = true
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = m.conversation, m.Session, verdict, m.at, m.facts
	e.ID, e.Global, e.Home = id, m.global, m.global && m.isHome(id)
	if e.Role == "assistant" {
		e.Model = m.model
	}
	m.Emit(e)
}

// repeats reports whether a piece of a message was there before, as in what a graph gives back that was called with all messages.
func (m *message) repeats(id string) bool {
	hash := fnv.New64a()
	hash.Write([]byte(m.conversation + "\x00" + id))
	sum := hash.Sum64()
	repeated := m.seen[sum]
	m.seen[sum] = true
	return repeated
}

// isHome reports whether a piece of a message was first written here. An answer that a run begins with comes from another one, and what a graph gives back
// from the one that was called.
func (m *message) isHome(id string) bool {
	if !m.write.home || m.began && m.kind != kindHuman && m.kind != kindSystem {
		return false
	}
	if _, ok := m.homes[id]; !ok {
		m.homes[id] = m.conversation
	}
	return m.homes[id] == m.conversation
}

// pieces yields the pieces of a message: its reasoning, its content, and the calls of an answer.
func (m *message) pieces() {
	if reasoning := m.body.Get("additional_kwargs", "reasoning_content"); !reasoning.IsBlank() {
		m.emit(m.Event(transcript.KindReasoning, "assistant", "reasoning_content", reasoning), "/reasoning", transcript.Counted)
	}
	calls := m.body.First("tool_calls")
	if !calls.HasItems() {
		calls = m.body.Get("additional_kwargs", "tool_calls")
	}
	content := m.content()
	if !content.IsBlank() {
		m.text(content, content.Str(), "/0")
	}
	for n, block := range content.Numbered() {
		m.block(block, "/"+strconv.Itoa(n), calls.HasItems())
	}
	for n, call := range calls.Numbered() {
		m.call(call, "/call/"+strconv.Itoa(n))
	}
	for n, call := range m.body.Get("invalid_tool_calls").Numbered() {
		m.call(call, "/invalid/"+strconv.Itoa(n))
	}
}

// block yields a block of the content. An answer has its calls as blocks too, as the provider writes them.
func (m *message) block(v jsontext.Value, piece string, hasCalls bool) {
	typ := v.Get("type").Word()
	switch {
	case v.IsString() && !v.IsBlank():
		m.text(v, v.Str(), piece)
	case typ == "thinking", typ == "reasoning", typ == "reasoning_content", typ == "redacted_thinking":
		m.emit(m.Event(transcript.KindReasoning, "assistant", typ, v), piece, transcript.Counted)
	case hasCalls && (typ == "tool_use" || typ == "tool_call" || typ == "function_call" || typ == "input_json_delta"):
	case !v.Get("text").IsBlank():
		m.text(v, v.Get("text").Str(), piece)
	default: // a file, an image, what a tool of the provider's did
		m.emit(m.Event(transcript.KindNotice, "", typ, v), piece, transcript.Uncounted)
	}
}

// text yields a text of the message, which v has.
func (m *message) text(v jsontext.Value, text, piece string) {
	e := m.Event(transcript.KindMessage, "assistant", cmp.Or(m.native, "text"), v)
	switch m.kind {
	case kindHuman:
		e.Role = "user"
	case kindSystem:
		e.Kind, e.Role = transcript.KindSystem, "system"
	case kindSummary:
		e.Kind, e.Role = transcript.KindCompaction, "system"
	case kindOther:
		e.Kind, e.Role = transcript.KindUnknown, ""
		m.emit(e, piece, transcript.Uncounted)
		return
	}
	m.emit(e, piece, transcript.Counted)
	if m.kind == kindHuman && m.conversation == mainConversation && !m.Titled {
		m.TitleFrom(text, format.PromptRank(m.at))
	}
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file_path", "path", "filepath", "filename"}

// call yields a call of a tool, in LangChain's form or in OpenAI's.
func (m *message) call(v jsontext.Value, piece string) {
	named, input := v, v.Get("args")
	if function := v.Get("function"); function.IsObject() {
		named, input = function, function.Get("arguments")
	}
	e := m.Event(transcript.KindToolCall, "assistant", cmp.Or(v.Get("type").Word(), "tool_call"), v)
	e.Parts[0].Call = &transcript.Call{
		ID: v.Get("id").Text(), Name: named.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), pathNames, nil),
	}
	m.emit(e, piece, transcript.Counted)
}

// result yields what came out of a tool.
func (m *message) result() {
	e := m.Event(transcript.KindToolResult, "tool", m.native, m.body)
	r := &transcript.Result{
		Call: m.body.Get("tool_call_id").Text(), Name: m.body.Get("name").Str(), Status: m.body.Get("status").Str(), Output: int64(m.content().Len()),
	}
	if r.Status == "success" || r.Status == "error" {
		r.Failed = transcript.True(r.Status == "error")
	}
	e.Parts[0].Result = r
	m.emit(e, "", transcript.Counted)
}
