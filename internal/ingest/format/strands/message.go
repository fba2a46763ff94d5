package strands

import (
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
	role  string
	id    string
	at    transcript.Time
	facts transcript.Attributes
}

// message yields the run, the conversation, and the events of one message, one for each block.
func (p *parser) message(v jsontext.Value) {
	said := v.Get("message")
	m := &message{parser: p, role: said.Get("role").Word(), at: v.Get("created_at").Time()}
	if m.id = said.Get("tracking_id").Str(); m.id == "" {
		if began := v.Get("created_at").Str(); began != "" {
			m.id = began + " " + p.at.number
		}
	}
	p.Begun = true
	p.Emit(p.run())
	p.Emit(&transcript.Conversation{
		ID: p.at.agent, Run: p.Session, Shared: true, Order: order(p.at.number), Rank: int(precedence(p.at)), Agent: p.at.agent,
	})
	redacted := v.Get("redact_message")
	if redacted.IsObject() {
		m.facts.Set("redacted", true)
	}
	content := said.Get("content")
	if !content.HasItems() {
		m.note(transcript.KindUnknown, v, "")
	}
	for n, block := range content.Numbered() {
		m.block("/"+strconv.Itoa(n), block)
	}
	if redacted.IsObject() { // what the model is told instead
		m.note(transcript.KindNotice, redacted, "/redacted")
	}
	m.usage(said.Get("metadata", "usage"))
}

// order sorts the files of a conversation.
func order(number string) string {
	const digits = 18
	return strings.Repeat("0", digits-len(number)) + number
}

// precedence is the rank of a conversation among those that have the same messages. A message that was taken into another session does not say
// from where, and where it counts must not depend on where the files lie.
func precedence(at location) uint32 {
	h := fnv.New32a()
	h.Write([]byte(at.session + "\x00" + at.agent))
	return h.Sum32() >> 1
}

func (m *message) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = m.parser.at.agent, m.Session, verdict, m.at, m.facts
	if e.Role != "user" {
		e.Agent = m.parser.at.agent
	}
	if m.id != "" {
		e.ID, e.Global = m.id+piece, true
	}
	m.Emit(e)
}

// note yields a value that is no event of the conversation.
func (m *message) note(kind transcript.Kind, v jsontext.Value, piece string) {
	m.emit(m.Event(kind, "", m.role, v), piece, transcript.Uncounted)
}

// block yields a block of the content: an object with one member, which is called by its type.
func (m *message) block(piece string, v jsontext.Value) {
	switch {
	case v.Get("toolUse").IsObject():
		m.call(v, v.Get("toolUse"), piece)
	case v.Get("toolResult").IsObject():
		m.result(v, v.Get("toolResult"), piece)
	case v.Get("reasoningContent").IsObject():
		m.emit(m.Event(transcript.KindReasoning, "assistant", "reasoningContent", v), piece, transcript.Counted)
	case !v.Get("text").IsBlank():
		m.text(v, v.Get("text"), piece)
	case !v.Get("guardContent", "text", "text").IsBlank():
		m.text(v, v.Get("guardContent", "text", "text"), piece)
	case v.Get("citationsContent", "content").HasItems():
		m.text(v, v.Get("citationsContent", "content"), piece)
	case isKnown(v):
		m.note(transcript.KindNotice, v, piece)
	default:
		m.note(transcript.KindUnknown, v, piece)
	}
}

// isKnown reports whether a block has a type of the SDK's.
func isKnown(v jsontext.Value) bool {
	return !v.First("text", "image", "document", "video", "audio", "cachePoint", "guardContent", "citationsContent").IsNull()
}

func (m *message) text(v, text jsontext.Value, piece string) {
	if m.role != "user" && m.role != "assistant" {
		m.note(transcript.KindUnknown, v, piece)
		return
	}
	title := text.Str()
	m.emit(m.Event(transcript.KindMessage, m.role, "text", v), piece, transcript.Counted)
	if title = format.Title(title); title != "" && m.role == "user" && !m.Titled {
		m.Titled = true
		run := m.run()
		run.Rank, run.Title = format.PromptRank(m.at), title
		m.Emit(run)
	}
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filepath", "filename"}

func (m *message) call(v, call jsontext.Value, piece string) {
	e, input := m.Event(transcript.KindToolCall, "assistant", "toolUse", v), call.Get("input")
	e.Parts[0].Call = &transcript.Call{
		ID: call.Get("toolUseId").Text(), Name: call.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil),
	}
	m.emit(e, piece, transcript.Counted)
}

func (m *message) result(v, result jsontext.Value, piece string) {
	e, status := m.Event(transcript.KindToolResult, "tool", "toolResult", v), result.Get("status").Str()
	r := &transcript.Result{Call: result.Get("toolUseId").Text(), Status: status, Output: int64(result.Get("content").Len())}
	if status == "success" || status == "error" {
		r.Failed = transcript.True(status == "error")
	}
	e.Parts[0].Result = r
	m.emit(e, piece, transcript.Counted)
}

// usage yields what the request of an answer used. Amazon's models count the prompt without the cache, and the total with it; for others the prompt
// has it, and that of Anthropic's own service has not: that shows only if more was read from the cache than the prompt has.
func (m *message) usage(v jsontext.Value) {
	u := &transcript.Usage{
		Run: m.Session, Conversation: m.parser.at.agent, Agent: m.parser.at.agent, Origin: m.Row.Origin, Time: m.at, Requests: transcript.Known(1),
		Key: m.id, Rank: int64(precedence(m.parser.at)), Input: v.Get("inputTokens").Tokens(), Output: v.Get("outputTokens").Tokens(),
		CacheRead: v.Get("cacheReadInputTokens").Tokens(), CacheWrite: v.Get("cacheWriteInputTokens").Tokens(),
	}
	cache := u.CacheRead.N + u.CacheWrite.N
	if u.Input.N+u.Output.N+cache == 0 {
		return
	}
	if total := v.Get("totalTokens").Tokens(); cache > 0 && total.N < u.Input.N+u.Output.N+cache {
		format.ExcludeCache(u)
	}
	m.Emit(u)
}
