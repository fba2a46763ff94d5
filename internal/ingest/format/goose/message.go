package goose

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// madeUp is what the program calls messages that had no name: after the session in which they were, and a number.
var madeUp = lazyregexp.New(`^msg_(.+)_[0-9]+$`)

// message yields the events of one message: a text, a call or a result each, and one for thoughts that follow each other, of which newer
// versions keep every piece as it came.
func (p *parser) message(role string, at transcript.Time, content, metadata format.Value, name string) {
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
		m.out(m.event(transcript.KindUnknown, "", p.whole), transcript.Uncounted)
		return
	}
	var thoughts []format.Value
	think := func() {
		if len(thoughts) > 0 {
			m.thought(thoughts)
			thoughts = nil
		}
	}
	for item := range content.Items() {
		if item.Get("type").Is("thinking") && item.Get("thinking").IsString() {
			thoughts = append(thoughts, item)
			continue
		}
		think()
		m.block(item)
	}
	think()
	if m.n == 0 {
		m.out(m.event(transcript.KindNotice, "", p.whole), transcript.Uncounted)
	}
}

// message makes events of the blocks of a message.
type message struct {
	*parser
	role   string
	at     transcript.Time
	id     string
	home   bool
	hidden bool // from the person: the program says it to the model
	facts  transcript.Attributes
	n      int // events so far
}

// identify gives a message an id: what it is called, or else whose it is, when it was made and a checksum of what it says. The same
// message in a copy of the session has the same.
func (m *message) identify(content format.Value, name string) {
	owner := name
	if made := madeUp.FindStringSubmatch(name); made != nil {
		owner = made[1]
	} else if name == "" {
		owner = m.bare
	}
	m.home = owner == m.bare || strings.HasPrefix(name, "msg_"+m.bare+"_")
	h := fnv.New64a()
	h.Write(content.Raw())
	m.id = fmt.Sprintf("%s/%d/%s/%016x", owner, m.at.UnixMicro, m.role, h.Sum64())
	if m.seen[m.id]++; m.seen[m.id] > 1 {
		m.id += "#" + strconv.Itoa(m.seen[m.id])
	}
}

func (m *message) event(kind transcript.Kind, typ string, v format.Value) *transcript.Event {
	e := m.lend.Event(transcript.Event{Kind: kind, Role: m.role, Type: typ, Origin: m.parser.at})
	e.Parts[0] = m.part(v)
	return e
}

func (m *message) out(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = conversation, m.session, verdict, m.at, m.facts
	e.ID, e.Global, e.Home = m.id+"/"+strconv.Itoa(m.n), true, m.home
	if m.in.Role == roleFile {
		e.Global, e.Home = false, false // the database writes what it says in other words
	}
	m.n++
	m.Emit(e)
}

func (m *message) block(v format.Value) {
	typ := v.Get("type").Word()
	switch typ {
	case "text":
		e := m.event(transcript.KindMessage, typ, v)
		if m.hidden || m.role != "user" && m.role != "assistant" {
			e.Kind, e.Role = transcript.KindSystem, "system"
		}
		if v.Get("text").IsBlank() {
			e.Kind = transcript.KindNotice
			m.out(e, transcript.Uncounted)
			return
		}
		m.out(e, transcript.Counted)
	case "redactedThinking", "reasoning":
		e := m.event(transcript.KindReasoning, typ, v)
		e.Role = "assistant"
		m.out(e, transcript.Counted)
	case "toolRequest", "frontendToolRequest":
		m.call(typ, v)
	case "toolResponse":
		m.result(typ, v)
	case "image", "toolConfirmationRequest", "actionRequired", "systemNotification":
		m.out(m.event(transcript.KindNotice, typ, v), transcript.Uncounted)
	case "conversationCompacted", "contextLengthExceeded", "summarizationRequested":
		m.out(m.event(transcript.KindCompaction, typ, v), transcript.Uncounted)
	case "error":
		m.out(m.event(transcript.KindError, typ, v), transcript.Uncounted)
	default:
		m.out(m.event(transcript.KindUnknown, typ, v), transcript.Uncounted)
	}
}

// thought yields thoughts that follow each other as one.
func (m *message) thought(all []format.Value) {
	e := m.lend.Event(transcript.Event{Kind: transcript.KindReasoning, Role: "assistant", Type: "thinking", Origin: m.parser.at})
	first, last := all[0], all[len(all)-1]
	from := format.OffsetIn(m.whole, first)
	e.Parts[0] = transcript.Part{
		Text:   m.lend.Text(func(dst []byte) []byte { return appendThoughts(dst, all) }),
		Offset: from, Length: format.OffsetIn(m.whole, last) + int64(last.Len()) - from,
	}
	m.out(e, transcript.Counted)
}

func (m *message) call(typ string, v format.Value) {
	asked := v.Get("toolCall", "value")
	e := m.event(transcript.KindToolCall, typ, v)
	e.Role = "assistant"
	input := asked.Get("arguments")
	e.Parts[0].Call = &transcript.Call{ID: v.Get("id").Text(), Name: asked.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	m.out(e, transcript.Counted)
}

// pathNames are the members of an input that name files.
var pathNames = []string{"path", "file_path", "source", "target"}

func (m *message) result(typ string, v format.Value) {
	gave := v.Get("toolResult")
	e := m.event(transcript.KindToolResult, typ, v)
	e.Role = "tool"
	output := gave.Get("value")
	if failure := gave.Get("error"); !failure.IsNull() {
		output = failure
	}
	status := gave.Get("status").Str()
	e.Parts[0].Result = &transcript.Result{Call: v.Get("id").Text(), Status: status, Output: int64(output.Len())}
	if status != "" {
		e.Parts[0].Result.Failed = transcript.True(status != "success" || gave.Get("value", "isError").Bool() == transcript.Yes)
	}
	m.out(e, transcript.Counted)
}
