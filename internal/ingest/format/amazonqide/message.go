package amazonqide

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message yields the events of one message: results of tools, what somebody said, calls, and beside them what does not count.
func (p *parser) message(m jsontext.Member) {
	t := &p.tab
	problem := func(kind, reason string) {
		p.Emit(&transcript.Problem{Run: t.run.ID, Kind: kind, Reason: reason, Origin: m.Origin})
	}
	if t.run.ID == "" {
		if !t.refused {
			problem("no id", "a tab states no historyId before its messages")
		}
		t.refused = true
		return
	}
	if m.Bytes == nil {
		problem("element too long", fmt.Sprintf("%d bytes, more than %d", m.Origin.Length, jsontext.MaxLine))
		return
	}
	images := blankImages(m.Bytes)
	v, err := jsontext.Parse(m.Bytes)
	switch {
	case err != nil:
		problem("bad json", err.Error())
		return
	case !v.IsObject():
		problem("not a message", "no object")
		return
	case !v.Get("type").Exists() && !v.Get("body").Exists():
		problem("not a message", "neither a type nor a body")
		return
	}
	p.lend.Reset()
	p.base, p.origin = v, m.Origin
	s := &said{
		parser: p, typ: v.Get("type").Word(), at: v.Get("timestamp").TimeOrMilli(), body: v.Get("body"), context: v.Get("userInputMessageContext"),
		hidden: v.Get("shouldDisplayMessage").Bool(), images: images,
	}
	s.id = t.identify(s.typ, v.Get("timestamp").Text(), v.Get("messageId").Str(), s.body.Str())
	s.events()
	t.begun = true
}

// said is one message while its events are made.
type said struct {
	*parser
	id            string
	typ           string
	at            transcript.Time
	body, context jsontext.Value
	hidden        transcript.Truth // Yes and No say that it is shown
	images        int
}

// identify returns the id of a message, by what it has and by how often that was there before: the first versions wrote no times.
func (t *tab) identify(has ...string) string {
	id := format.HashUUID(has...)
	t.said[id]++
	if n := t.said[id]; n > 1 {
		id = format.HashUUID(id, strconv.Itoa(n))
	}
	return id
}

// blankImages replaces the images of a message by zeros, and returns how many there are. Each is an object with a member for every byte.
func blankImages(b []byte) (n int) {
	const key = "images"
	if !format.HasKeys(b, key) {
		return 0
	}
	for m := range jsontext.Members(bytes.NewReader(b), key, func(*transcript.Problem) {}) { // it has read all that is replaced
		if m.Item {
			n++
			image := b[m.Origin.Offset:m.Origin.End()]
			for i := range image {
				image[i] = ' '
			}
			image[0] = '0'
		}
	}
	return n
}

// events yields the events of the message.
func (s *said) events() {
	results := s.context.Get("toolResults")
	s.project()
	for r := range results.Items() {
		s.result(r)
	}
	s.text(results.HasItems())
	for u := range s.base.Get("toolUses").Items() {
		s.call(u)
	}
	s.beside("context", s.context)
	s.beside("relatedContent", s.base.Get("relatedContent", "content"))
	s.beside("codeReference", s.base.Get("codeReference"))
}

// project takes the directory from what was sent with a prompt.
func (s *said) project() {
	run := &s.tab.run
	for dir := range s.context.Get("editorState", "workspaceFolders").Items() {
		run.Project = dir.Str()
		break
	}
	if dir := s.context.Get("envState", "currentWorkingDirectory").Str(); dir != "" && run.Project == "" {
		run.Project = dir
	}
}

// What the program writes in the name of the model and of the user.
const (
	textThinking = "Thinking..."
	textWorking  = "Working..."
	textTimedOut = "Response timed out - message took too long to generate"
	textOverflow = "The conversation history has overflowed, clearing state"
)

// text yields what the message says. What the program has made up in the model's name does not count.
func (s *said) text(withResults bool) {
	kind, role := transcript.KindMessage, ""
	switch s.typ {
	case "prompt":
		role = "user"
		switch {
		case s.isSummary(withResults):
			kind, role = transcript.KindCompaction, "system"
		case s.hidden == transcript.No, s.body.Is(textOverflow):
			kind, role = transcript.KindSystem, "system"
		}
	case "answer", "answer-part", "answer-stream":
		role = "assistant"
		if s.hidden == transcript.No && (s.body.Is(textThinking) || s.body.Is(textWorking) || s.body.Is(textTimedOut)) {
			kind = transcript.KindNotice
		}
	case "system-prompt":
		kind, role = transcript.KindSystem, "system"
	case "directive", "tool":
		kind = transcript.KindNotice
	default:
		kind = transcript.KindUnknown
	}
	switch {
	case kind == transcript.KindUnknown:
		v := s.body
		if s.images > 0 && !v.Exists() { // whose bytes would have to be read for the text of the whole
			v = s.base.Get("type")
		}
		s.aside(kind, s.typ, s.id, v)
		return
	case s.body.IsBlank() && (s.images == 0 || !s.body.IsString()):
		return
	case kind == transcript.KindNotice:
		s.aside(kind, s.typ, s.id, s.body)
		return
	}
	if role == "user" && s.tab.title == "" {
		s.tab.title = strings.Clone(format.Title(s.body.Str()))
	}
	e := s.event(kind, role, s.typ, s.id, s.body)
	e.Attributes.Set("intent", s.base.Get("userIntent").Str())
	if s.images > 0 {
		e.Attributes.Set("images", s.images)
	}
	s.say(e)
}

// isSummary reports whether a prompt is the summary with which a tab begins that replaces a compacted one. Prompts have an origin, and versions without
// have no times.
func (s *said) isSummary(withResults bool) bool {
	return !s.tab.begun && !withResults && s.hidden == transcript.Yes && s.at.Valid && !s.base.Get("origin").Exists()
}

// result yields what a tool gave.
func (s *said) result(v jsontext.Value) {
	call := v.Get("toolUseId").Str()
	r := &transcript.Result{Call: call, Name: s.tab.tools[call], Output: int64(v.Get("content").Len()), Status: v.Get("status").Word()}
	switch r.Status {
	case "error":
		r.Failed = transcript.Yes
	case "success":
		r.Failed = transcript.No
	}
	e := s.event(transcript.KindToolResult, "tool", "toolResult", s.identifyCall("result", call), v)
	e.Parts[0].Result = r
	s.say(e)
}

// pathNames and pathLists are the members of a call's input that name files.
var pathNames, pathLists = []string{"path"}, []string{"paths"}

// call yields a call of a tool.
func (s *said) call(v jsontext.Value) {
	id, name, input := v.Get("toolUseId").Str(), v.Get("name").Word(), v.Get("input")
	e := s.event(transcript.KindToolCall, "assistant", "toolUse", s.identifyCall("call", id), v)
	if id == "" {
		s.tab.calls++
		id = "#" + strconv.Itoa(s.tab.calls)
	}
	s.tab.tools[id] = name
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input.UnwrapContainer(), pathNames, pathLists)}
	s.say(e)
}

// identifyCall returns the id of a call or its result.
func (s *said) identifyCall(what, call string) string {
	if call == "" {
		return s.tab.identify(what, s.id)
	}
	return format.HashUUID(what, call)
}

// event returns an event of the tab for a value in the message.
func (s *said) event(kind transcript.Kind, role, typ, id string, v jsontext.Value) *transcript.Event {
	e := s.lend.Event(transcript.Event{Conversation: s.tab.run.ID, Kind: kind, Role: role, Type: typ, ID: id, Time: s.at, Origin: s.origin})
	e.Parts[0] = s.lend.Part(s.base, v, appendText)
	return e
}

// say emits an event, which counts once.
func (s *said) say(e *transcript.Event) {
	t := &s.tab
	format.Extend(&t.run.Started, &t.run.Ended, e.Time)
	if t.any = true; !t.opened {
		s.emitRun()
	}
	if t.seen[e.ID] {
		e.ID, e.Verdict = "", transcript.DuplicateOf
	}
	t.seen[e.ID] = true
	s.Emit(e)
}

// beside yields what a message has beside its text, if there is text in it.
func (s *said) beside(typ string, v jsontext.Value) {
	if v.IsNull() || strings.TrimSpace(textOf(v)) == "" {
		return
	}
	s.aside(transcript.KindNotice, typ, format.HashUUID(typ, s.id), v)
}

// aside yields a row that does not count: of the conversation, or of the run as long as that has none.
func (s *said) aside(kind transcript.Kind, typ, id string, v jsontext.Value) {
	e := s.event(kind, "", typ, id, v)
	e.Verdict = transcript.Uncounted
	if !s.tab.opened {
		e.Conversation, e.Run = "", s.tab.run.ID
	}
	s.Emit(e)
}
