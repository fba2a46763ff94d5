package shelley

import (
	"bytes"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message while its events are made.
type message struct {
	*parser
	v      jsontext.Value
	typ    string
	data   jsontext.Value // what the program notes of it
	at     transcript.Time
	root   string // id of the first message that it is a copy of, or its own
	home   bool   // it is no copy
	copied bool   // written before in this conversation, and carried over a summary
	model  string
	facts  transcript.Attributes
}

// message yields the events of one message, one for each block, and what it used.
func (p *parser) message(v jsontext.Value) {
	m := &message{parser: p, v: v, typ: v.Get("type").Word(), data: v.Get("user_data"), at: v.Get("created_at").Time(), root: v.Get("root").Text()}
	id := v.Get("message_id").Text()
	if m.root == "" {
		m.root = id
	}
	m.home, m.copied = m.root == id, isTrue(m.data.Get("compaction_carried"))
	if m.typ == "agent" {
		m.model = v.Get("usage_data", "model").Str()
		if m.model == "" {
			m.model = v.Get("model_name").Str()
		}
	}
	if n, ok := v.Get("generation").Int(); ok && n > 1 {
		m.facts.Set("generation", n)
	}
	if isTrue(v.Get("excluded_from_context")) {
		m.facts.Set("excluded", true)
	}
	p.fork(v.Get("forked_from").Text())
	m.blocks()
	m.usages()
}

// fork yields the edge from the conversation that this one was copied from.
func (p *parser) fork(from string) {
	if from != "" && from != p.from && from != p.Session {
		p.from = from
		p.link("fork", from, p.Session, from)
	}
}

func (m *message) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	if m.copied && verdict == transcript.Counted {
		verdict = transcript.CopiedHistory
	}
	e.Conversation, e.Run, e.Verdict, e.Time, e.Model, e.Attributes = conversation, m.Session, verdict, m.at, m.model, m.facts
	if m.root != "" {
		e.ID, e.Global, e.Home = m.root+"/"+piece, !m.copied, m.home && !m.copied
	}
	m.Emit(e)
}

// note yields a value of the message that is no event of the conversation.
func (m *message) note(kind transcript.Kind, v jsontext.Value, piece string) {
	role := ""
	if kind == transcript.KindError {
		role = "system"
	}
	m.emit(m.Event(kind, role, m.typ, v), piece, transcript.Uncounted)
}

// blocks yields the events of the message.
func (m *message) blocks() {
	content := m.v.Get("llm_data", "Content")
	switch {
	case m.typ == "gitinfo", m.typ == "warning", m.typ == "modelchange", m.typ == "slug":
		if branch := m.data.Get("branch").Str(); branch != "" {
			m.Emit(&transcript.Run{ID: m.Session, Branch: branch})
		}
		about := m.data
		if !about.IsObject() {
			about = m.Row.Value
		}
		m.note(transcript.KindNotice, about, "note")
		return
	case !content.HasItems():
		kind := transcript.KindNotice
		if m.v.Get("llm_data").IsString() { // no JSON
			kind = transcript.KindUnknown
		}
		m.note(kind, m.Row.Value, "row")
		return
	}
	m.summary(content)
	for n, item := range content.Numbered() {
		m.block(strconv.Itoa(n), item)
	}
	if display := m.v.Get("display_data"); m.typ == "tool" && (display.IsObject() || display.HasItems()) {
		m.note(transcript.KindNotice, display, "display")
	}
}

// summary yields a summary of what came before that is not in the message itself, which only says where it was written to.
func (m *message) summary(content jsontext.Value) {
	text := m.data.Get("distillation_content")
	if !isTrue(m.data.Get("distilled")) || text.IsBlank() {
		return
	}
	for item := range content.Items() {
		if bytes.Equal(item.Get("Text").Body(), text.Body()) {
			return
		}
	}
	e := m.Event(transcript.KindCompaction, "system", m.typ, text)
	m.emit(e, "summary", transcript.Counted)
}

// The types of blocks, as the program numbers them.
const (
	blockText = iota + 2
	blockThinking
	blockRedacted
	blockCall
	blockResult
	blockServerCall   // of a tool of the provider's
	blockServerResult // its results, each a block of another type
)

func (m *message) block(piece string, v jsontext.Value) {
	typ, _ := v.Get("Type").Int()
	switch typ {
	case blockText:
		m.text(piece, v)
	case blockThinking, blockRedacted:
		e := m.Event(transcript.KindReasoning, "assistant", m.typ, v)
		if typ == blockThinking && v.Get("Thinking").IsBlank() && v.Get("Text").IsBlank() { // only a signature
			e.Kind = transcript.KindNotice
			m.emit(e, piece, transcript.Uncounted)
			return
		}
		m.emit(e, piece, transcript.Counted)
	case blockCall, blockServerCall:
		m.call(piece, v)
	case blockResult, blockServerResult:
		m.result(piece, v)
	default:
		m.note(transcript.KindUnknown, v, piece)
	}
}

// cancelled is what the program says for the agent when the user stops it.
const cancelled = "[Operation cancelled]"

func (m *message) text(piece string, v jsontext.Value) {
	text := v.Get("Text")
	switch {
	case text.IsBlank(), !v.Get("MediaType").IsBlank(), m.typ == "agent" && text.Is(cancelled), m.data.Get("distill_status").Exists():
		m.note(transcript.KindNotice, v, piece)
		return
	case m.typ == "error":
		m.note(transcript.KindError, v, piece)
		return
	}
	e := m.Event(transcript.KindSystem, "system", m.typ, v)
	switch {
	case m.typ == "agent":
		e.Kind, e.Role = transcript.KindMessage, "assistant"
	case m.typ == "system", m.typ == "tool":
	case m.typ != "user":
		m.note(transcript.KindUnknown, v, piece)
		return
	case isTrue(m.data.Get("distilled")):
		e.Kind = transcript.KindCompaction
		if m.data.Get("distillation_file").Exists() { // it has the summary
			m.note(transcript.KindNotice, v, piece)
			return
		}
	case m.isTyped():
		e.Kind, e.Role = transcript.KindMessage, "user"
	}
	m.emit(e, piece, transcript.Counted)
	if e.Role == "user" && !m.copied {
		m.TitleFrom(text.Str(), format.PromptRank(m.at))
	}
}

// typedKeys are the members of what the program notes of a message that somebody typed: it was carried over a summary.
var typedKeys = map[string]bool{"compaction_carried": true, "carried_from_sequence_id": true, "text": true}

// isTyped reports whether a message in the user's role is the user's, or that of the agent that a sub-agent works for. The program tells its own
// by whether it has noted anything else of them.
func (m *message) isTyped() bool {
	if m.data.Get("sender_relationship").Is("parent") {
		return true
	}
	for key := range m.data.Fields() {
		if !typedKeys[key] {
			return false
		}
	}
	return true
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "prompt_file", "output_file"}

func (m *message) call(piece string, v jsontext.Value) {
	if !v.Get("ToolName").IsString() {
		m.note(transcript.KindUnknown, v, piece)
		return
	}
	input := v.Get("ToolInput")
	paths := format.Paths(input, pathNames, nil)
	if patched, ok := format.PatchPaths(input.Get("input").Str()); ok {
		paths = patched
	}
	e := m.Event(transcript.KindToolCall, "assistant", m.typ, v)
	e.Parts[0].Call = &transcript.Call{ID: v.Get("ID").Text(), Name: v.Get("ToolName").Str(), Input: int64(input.Len()), Paths: paths}
	m.emit(e, piece, transcript.Counted)
}

func (m *message) result(piece string, v jsontext.Value) {
	e := m.Event(transcript.KindToolResult, "tool", m.typ, v)
	res := &transcript.Result{Call: v.Get("ToolUseID").Text(), Failed: v.Get("ToolError").Bool(), Output: int64(v.Get("ToolResult").Len())}
	begin, end := v.Get("ToolUseStartTime").Time(), v.Get("ToolUseEndTime").Time()
	if begin.Valid && end.Valid && end.UnixMicro >= begin.UnixMicro {
		res.Duration = transcript.Known(end.UnixMicro - begin.UnixMicro)
	}
	e.Parts[0].Result = res
	call := res.Call
	m.emit(e, piece, transcript.Counted)
	if child := v.Get("Display", "conversation_id").Text(); child != "" && child != m.Session && m.home {
		m.Emit(&transcript.Run{ID: child, Named: true})
		link := &transcript.Link{Kind: "parent", From: transcript.RunEnd(m.Session), To: transcript.RunEnd(child), Origin: m.Row.Origin}
		link.Attributes.Set("call", call)
		m.Emit(link)
	}
}
