package rovodev

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one request or response while its events are made.
type message struct {
	*parser
	role  string
	at    transcript.Time
	id    string // that the provider has given the response
	from  string // that, else the id of the run of the program that the message is of
	model string
	n     int // events so far
}

// roles are those of the kinds of messages.
var roles = map[string]string{"request": "user", "response": "assistant"}

// message yields the events of one message, and what it used.
func (p *parser) message(v jsontext.Value) {
	kind := v.First("kind", "role").Word()
	m := &message{
		parser: p, role: cmp.Or(roles[kind], kind), at: v.Get("timestamp").Time(),
		id: v.First("provider_response_id", "vendor_id").Text(), model: v.Get("model_name").Word(),
	}
	m.from = cmp.Or(m.id, v.Get("run_id").Text())
	p.run.Model = cmp.Or(m.model, p.run.Model)
	for part := range v.Get("parts").Items() {
		m.part(part)
	}
	if content := v.Get("content"); content.Exists() && !v.Get("parts").Exists() {
		m.say(content, v)
	}
	if said := v.Get("instructions"); !said.IsBlank() && !bytes.Equal(said.Raw(), p.instructions.Raw()) {
		p.instructions = said
		m.emit(m.Event(transcript.KindSystem, "system", "instructions", said), v, transcript.Uncounted)
	}
	format.Extend(&p.run.Started, &p.run.Ended, m.at)
	if m.n == 0 {
		kind := transcript.KindNotice
		if !v.Get("parts").IsArray() {
			kind = transcript.KindUnknown
		}
		m.emit(m.Event(kind, "", m.role, v), v, transcript.Uncounted)
	}
	m.usage(v)
}

// part yields the event of a part of a message.
func (m *message) part(v jsontext.Value) {
	typ, content := v.Get("part_kind").Word(), v.Get("content")
	switch typ {
	case "system-prompt":
		m.emit(m.Event(transcript.KindSystem, "system", typ, v), v, transcript.Counted)
	case "user-prompt":
		m.prompt(v)
	case "text":
		if m.role == "user" {
			m.prompt(v)
		} else if !content.IsBlank() {
			m.emit(m.Event(transcript.KindMessage, m.role, typ, v), v, transcript.Counted)
		}
	case "thinking":
		if !content.IsBlank() {
			m.emit(m.Event(transcript.KindReasoning, m.role, typ, v), v, transcript.Counted)
		}
	case "tool-call", "builtin-tool-call":
		m.call(v)
	case "tool-return", "builtin-tool-return":
		m.result(v)
	case "retry-prompt":
		if v.Get("tool_name").IsString() {
			m.result(v)
		} else {
			m.emit(m.Event(transcript.KindSystem, "system", typ, v), v, transcript.Counted)
		}
	case "compaction":
		m.emit(m.Event(transcript.KindCompaction, "system", typ, v), v, transcript.Counted)
	case "file":
		m.emit(m.Event(transcript.KindNotice, m.role, typ, v), v, transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), v, transcript.Uncounted)
	}
}

// say yields a message that has content and no parts.
func (m *message) say(content, v jsontext.Value) {
	if m.role == "user" || m.role == "assistant" {
		e := m.Event(transcript.KindMessage, m.role, m.role, content)
		if m.role == "user" {
			m.TitleFrom(unreminded(textOf(content)), format.PromptRank(m.at))
		}
		m.emit(e, v, transcript.Counted)
	}
}

// prompt yields what the user said, or what the program has said in the user's place.
func (m *message) prompt(v jsontext.Value) {
	content := v.Get("content")
	if content.IsString() && content.IsBlank() {
		return
	}
	said := firstText(content)
	kind, role := transcript.KindMessage, "user"
	if content.IsString() && unreminded(said) == "" {
		kind, role = transcript.KindSystem, "system"
	} else {
		m.TitleFrom(unreminded(said), format.PromptRank(m.timeOf(v)))
	}
	m.emit(m.Event(kind, role, v.Get("part_kind").Word(), v), v, transcript.Counted)
}

// unreminded returns a prompt without the reminders that the program has put before it.
func unreminded(prompt string) string {
	for {
		prompt = strings.TrimSpace(prompt)
		tag, rest, ok := strings.Cut(prompt, ">")
		if !ok || tag != "<system-reminder" && tag != "<system_reminder" {
			return prompt
		}
		if _, prompt, ok = strings.Cut(rest, "</"+tag[1:]+">"); !ok {
			return rest
		}
	}
}

// firstText returns the first text in the content of a prompt, which may have images and files, too.
func firstText(content jsontext.Value) string {
	if content.IsString() {
		return content.Str()
	}
	for item := range content.Items() {
		text := item
		if item.IsObject() {
			text = item.Get("content")
		}
		if !text.IsBlank() {
			return text.Str()
		}
	}
	return ""
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"file_path", "path"}
	pathLists = []string{"file_paths", "paths"}
)

func (m *message) call(v jsontext.Value) {
	input := v.Get("args")
	c := &transcript.Call{
		ID: v.Get("tool_call_id").Text(), Name: v.Get("tool_name").Word(), Input: int64(input.Len()),
		Paths: format.Paths(input.UnwrapContainer(), pathNames, pathLists),
	}
	m.tools[c.ID] = c.Name
	e := m.Event(transcript.KindToolCall, m.role, v.Get("part_kind").Word(), v)
	e.Parts[0].Call = c
	m.emit(e, v, transcript.Counted)
}

// result yields what a tool returned. A prompt to try a call again is the result of it, too.
func (m *message) result(v jsontext.Value) {
	typ := v.Get("part_kind").Word()
	r := &transcript.Result{Call: v.Get("tool_call_id").Text(), Status: v.Get("outcome").Word()}
	r.Output = int64(v.Get("content").Len())
	r.Name = cmp.Or(v.Get("tool_name").Word(), m.tools[r.Call])
	switch {
	case typ == "retry-prompt" || r.Status == "failed" || r.Status == "denied":
		r.Failed = transcript.Yes
	case r.Status == "success":
		r.Failed = transcript.No
	}
	e := m.Event(transcript.KindToolResult, "tool", typ, v)
	e.Parts[0].Result = r
	m.emit(e, v, transcript.Counted)
}

// timeOf returns the time of a part: its own, else that of its message.
func (m *message) timeOf(part jsontext.Value) transcript.Time {
	return cmp.Or(part.Get("timestamp").Time(), m.at)
}

// emit yields the event of a part.
func (m *message) emit(e *transcript.Event, part jsontext.Value, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time = conversation, m.Session, verdict, m.timeOf(part)
	format.Extend(&m.run.Started, &m.run.Ended, e.Time)
	if e.Role == "assistant" {
		e.Model = m.model
	}
	if e.Time.Valid {
		e.ID, e.Global = m.identity(e, part), true
	}
	m.n++
	m.Emit(e)
}

// identity returns the id of an event. A fork repeats all that it is made of, and of several parts that have the same in one
// session the first is the first in the other.
func (m *message) identity(e *transcript.Event, part jsontext.Value) string {
	at := strconv.FormatInt(e.Time.UnixMicro, 10)
	key := strings.Join([]string{at, m.from, m.role, e.Type, part.Get("tool_call_id").Text()}, "\x00")
	m.seen[key]++
	return format.HashUUID(key, strconv.Itoa(m.seen[key]))
}
