package cortexcode

import (
	"cmp"
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
	id        string // "" if only its place identifies it
	duplicate bool   // the file has the same message before
	at        transcript.Time
	role      string
	model     string
	n         int // events so far
}

// message yields the events of one message.
func (p *parser) message(v jsontext.Value) {
	m := &message{parser: p, at: v.First("user_sent_time", "assistant_sent_time").Time(), role: v.Get("role").Word(), model: v.Get("model").Word()}
	m.identify(v)
	format.Extend(&p.started, &p.ended, m.at)
	content := v.Get("content")
	empty := transcript.KindNotice
	switch m.role {
	case "user":
		m.user(content)
	case "assistant":
		m.answer(content)
	case "system":
		if !content.IsNull() {
			m.emit(m.Event(transcript.KindSystem, "system", m.role, content), transcript.Counted)
		}
	default:
		empty = transcript.KindUnknown
	}
	if m.n == 0 {
		m.emit(m.Event(empty, "", m.role, v), transcript.Uncounted)
	}
}

// identify sets the id of a message. Two messages that share one, but say something else, are two.
func (m *message) identify(v jsontext.Value) {
	id := v.Get("id").Str()
	if !isMessageID(id) {
		return
	}
	h := fnv.New64a()
	h.Write(v.Get("content").Raw())
	said := fmt.Sprintf("%s %x", id, h.Sum64())
	if m.seen[said]++; m.seen[said] > 1 {
		m.duplicate = true
		return
	}
	if m.seen[id]++; m.seen[id] > 1 {
		id += "#" + strconv.Itoa(m.seen[id])
	}
	m.id = id
}

func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	if m.duplicate && verdict == transcript.Counted {
		verdict = transcript.DuplicateOf
	}
	e.Conversation, e.Run, e.Time, e.Verdict = conversation, m.Session, m.at, verdict
	if e.Role == "assistant" {
		e.Model = m.model
	}
	if m.id != "" {
		e.ID, e.Global = m.id+"/"+strconv.Itoa(m.n), true
	}
	m.n++
	m.Emit(e)
}

// user yields what the user said, with a part for each text, what the program put beside it, and the results of tools.
func (m *message) user(content jsontext.Value) {
	if content.IsString() {
		m.ask([]transcript.Part{m.Part(content)}, content.Str())
		return
	}
	var parts []transcript.Part
	prompt := ""
	for v := range content.Items() {
		switch {
		case !v.Get("type").Is("text"):
			if !v.Get("type").Is("image") {
				m.ask(parts, prompt)
				parts = nil
			}
			m.block(v)
		case isProgram(v):
			m.ask(parts, prompt)
			parts = nil
			m.emit(m.Event(transcript.KindSystem, "system", "text", v), transcript.Counted)
		case !v.Get("text").IsBlank():
			if len(parts) == 0 {
				prompt = v.First("displayText", "text").Str()
			}
			parts = append(parts, m.Part(v))
		}
	}
	m.ask(parts, prompt)
}

// ask yields a prompt, unless it is empty.
func (m *message) ask(parts []transcript.Part, prompt string) {
	if len(parts) == 0 {
		return
	}
	m.TitleFrom(prompt, format.PromptRank(m.at))
	e := m.Lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: "user", Type: "user", Origin: m.Row.Origin})
	e.Parts = parts
	m.emit(e, transcript.Counted)
}

// isProgram reports whether the program itself has put a text into a message.
func isProgram(v jsontext.Value) bool {
	return v.Get("internalOnly").Bool() == transcript.Yes || v.Get("is_user_prompt").Bool() == transcript.No && !v.Get("displayText").IsString() ||
		strings.HasPrefix(strings.TrimSpace(v.Get("text").Str()), "<system-reminder>")
}

// answer yields what the agent thought, said and called.
func (m *message) answer(content jsontext.Value) {
	if content.IsString() {
		m.emit(m.Event(transcript.KindMessage, "assistant", "text", content), transcript.Counted)
		return
	}
	for v := range content.Items() {
		m.block(v)
	}
}

func (m *message) block(v jsontext.Value) {
	switch typ := v.Get("type").Word(); {
	case typ == "text" && isProgram(v):
		m.emit(m.Event(transcript.KindSystem, "system", typ, v), transcript.Counted)
	case typ == "text" && !v.Get("text").IsBlank():
		m.emit(m.Event(transcript.KindMessage, "assistant", typ, v), transcript.Counted)
	case typ == "text":
	case typ == "thinking":
		if thought := v.Get("thinking"); thought.IsString() && !thought.IsBlank() || !thought.Get("text").IsBlank() {
			m.emit(m.Event(transcript.KindReasoning, "assistant", typ, v), transcript.Counted)
		}
	case typ == "tool_use":
		m.call(v)
	case typ == "tool_result":
		m.result(v)
	case typ == "image":
		m.emit(m.Event(transcript.KindNotice, m.role, typ, v), transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), transcript.Uncounted)
	}
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"file_path", "path"}
	pathLists = []string{"paths", "file_paths"}
)

// inner returns what a block holds: the program puts calls and results into a member called like their type.
func inner(v jsontext.Value) jsontext.Value {
	if in := v.Get(v.Get("type").Word()); in.IsObject() {
		return in
	}
	return v
}

func (m *message) call(v jsontext.Value) {
	in := inner(v)
	input := in.Get("input")
	c := &transcript.Call{
		ID: in.First("tool_use_id", "id").Str(), Name: in.Get("name").Word(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, pathLists),
	}
	m.tools[c.ID] = c.Name
	e := m.Event(transcript.KindToolCall, "assistant", "tool_use", v)
	e.Parts[0].Call = c
	m.emit(e, transcript.Counted)
}

func (m *message) result(v jsontext.Value) {
	in := inner(v)
	res := &transcript.Result{Call: in.Get("tool_use_id").Str(), Failed: in.Get("is_error").Bool(), Status: in.Get("status").Word(), Output: int64(in.Get("content").Len())}
	res.Name = cmp.Or(in.Get("name").Word(), m.tools[res.Call])
	switch res.Status {
	case "success":
		res.Failed = transcript.No
	case "error":
		res.Failed = transcript.Yes
	}
	e := m.Event(transcript.KindToolResult, "tool", "tool_result", v)
	e.Parts[0].Result = res
	m.emit(e, transcript.Counted)
}
