package goose

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// generatedID matches the ids that Goose gave to messages without one: the session that they were in, and a number.
var generatedID = lazyregexp.New(`^msg_(.+)_[0-9]+$`)

// message yields the events of one message: one for each text, call or result, and one for consecutive thinking blocks, of which newer
// versions keep every streamed piece.
func (p *parser) message(role string, at transcript.Time, content, metadata jsontext.Value, name string) {
	m := &message{parser: p, role: role, at: at}
	m.identify(content, name)
	if metadata.Get("userVisible").Bool() == transcript.No {
		m.hidden = true
		m.facts.Set("hidden", true)
	}
	if metadata.Get("agentVisible").Bool() == transcript.No {
		m.facts.Set("compacted", true)
	}
	if !content.IsArray() {
		m.emit(m.Event(transcript.KindUnknown, m.role, "", p.Row.Value), transcript.Uncounted)
		return
	}
	var thinking []jsontext.Value
	flush := func() {
		if len(thinking) > 0 {
			m.reasoning(thinking)
			thinking = nil
		}
	}
	for item := range content.Items() {
		if item.Get("type").Is("thinking") && item.Get("thinking").IsString() {
			thinking = append(thinking, item)
			continue
		}
		flush()
		m.block(item)
	}
	flush()
	if m.n == 0 {
		m.emit(m.Event(transcript.KindNotice, m.role, "", p.Row.Value), transcript.Uncounted)
	}
}

// message is one message while its events are made.
type message struct {
	*parser
	role   string
	at     transcript.Time
	id     string
	home   bool // first written in this session, not copied into it
	hidden bool // not visible to the user: Goose says it to the model
	facts  transcript.Attributes
	n      int // events so far
}

// identify gives a message its id: the message's own, or else the session's, with the creation time and a hash of the content. A copy of the
// message in another session has the same id.
func (m *message) identify(content jsontext.Value, name string) {
	owner := name
	if match := generatedID.FindStringSubmatch(name); match != nil {
		owner = match[1]
	} else if name == "" {
		owner = m.nativeID
	}
	m.home = owner == m.nativeID || strings.HasPrefix(name, "msg_"+m.nativeID+"_")
	h := fnv.New64a()
	h.Write(content.Raw())
	m.id = fmt.Sprintf("%s/%d/%s/%016x", owner, m.at.UnixMicro, m.role, h.Sum64())
	if m.seen[m.id]++; m.seen[m.id] > 1 {
		m.id += "#" + strconv.Itoa(m.seen[m.id])
	}
}

func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = conversation, m.Session, verdict, m.at, m.facts
	e.ID, e.Global, e.Home = m.id+"/"+strconv.Itoa(m.n), true, m.home
	if m.in.Role == roleFile {
		e.Global, e.Home = false, false // the database stores the same message in another form
	}
	m.n++
	m.Emit(e)
}

func (m *message) block(v jsontext.Value) {
	typ := v.Get("type").Word()
	switch typ {
	case "text":
		e := m.Event(transcript.KindMessage, m.role, typ, v)
		if m.hidden || m.role != "user" && m.role != "assistant" {
			e.Kind, e.Role = transcript.KindSystem, "system"
		}
		if v.Get("text").IsBlank() {
			e.Kind = transcript.KindNotice
			m.emit(e, transcript.Uncounted)
			return
		}
		m.emit(e, transcript.Counted)
		if e.Role == "user" {
			rank := rankFile
			if m.in.Role != roleFile { // the session's own row is another original
				rank = format.PromptRank(m.at)
			}
			m.TitleFrom(v.Get("text").Str(), rank)
		}
	case "redactedThinking", "reasoning":
		e := m.Event(transcript.KindReasoning, m.role, typ, v)
		e.Role = "assistant"
		m.emit(e, transcript.Counted)
	case "toolRequest", "frontendToolRequest":
		m.call(typ, v)
	case "toolResponse":
		m.result(typ, v)
	case "image", "document", "toolConfirmationRequest", "actionRequired", "systemNotification":
		m.emit(m.Event(transcript.KindNotice, m.role, typ, v), transcript.Uncounted)
	case "conversationCompacted", "contextLengthExceeded", "summarizationRequested":
		m.emit(m.Event(transcript.KindCompaction, m.role, typ, v), transcript.Uncounted)
	case "error":
		m.emit(m.Event(transcript.KindError, m.role, typ, v), transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), transcript.Uncounted)
	}
}

// reasoning yields consecutive thinking blocks as one event.
func (m *message) reasoning(all []jsontext.Value) {
	e := m.Lend.Event(transcript.Event{Kind: transcript.KindReasoning, Role: "assistant", Type: "thinking", Origin: m.parser.Row.Origin})
	first, last := all[0], all[len(all)-1]
	from := jsontext.OffsetIn(m.Row.Value, first)
	e.Parts[0] = transcript.Part{
		Text:   m.Lend.Text(func(dst []byte) []byte { return appendReasoning(dst, all) }),
		Offset: from, Length: jsontext.OffsetIn(m.Row.Value, last) + int64(last.Len()) - from,
	}
	m.emit(e, transcript.Counted)
}

func (m *message) call(typ string, v jsontext.Value) {
	request := v.Get("toolCall", "value")
	e := m.Event(transcript.KindToolCall, m.role, typ, v)
	e.Role = "assistant"
	input := request.Get("arguments")
	e.Parts[0].Call = &transcript.Call{ID: v.Get("id").Text(), Name: request.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	m.emit(e, transcript.Counted)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "source", "target"}

func (m *message) result(typ string, v jsontext.Value) {
	result := v.Get("toolResult")
	e := m.Event(transcript.KindToolResult, m.role, typ, v)
	e.Role = "tool"
	output := result.Get("value")
	if failure := result.Get("error"); !failure.IsNull() {
		output = failure
	}
	status := result.Get("status").Str()
	e.Parts[0].Result = &transcript.Result{Call: v.Get("id").Text(), Status: status, Output: int64(output.Len())}
	if status != "" {
		e.Parts[0].Result.Failed = transcript.True(status != "success" || result.Get("value", "isError").Bool() == transcript.Yes)
	}
	m.emit(e, transcript.Counted)
}
