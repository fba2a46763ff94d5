package cursor

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// streamHead is how far into a saved output the line is looked for that identifies it. A prompt before that line may be long.
const streamHead = 256 << 10

// orderStream begins the Order of saved output, which is a conversation's only kind of original or a copy of the others. Its first time
// follows. Answers without thinking or calls have none: most are to a later prompt.
const (
	orderStream = "0 "
	withoutTime = "later"
)

// stream is the state of a parse of what the command line program has printed. Each time it runs it prints one turn of a session, and
// programs that run it may append all of them to one file.
type stream struct {
	*parser
	seed     string // begins the ids of events: the same in a copy of the file
	objects  int
	spoken   bool            // the assistant has said something in this turn
	last     transcript.Time // of the lines of this turn
	fragment span
	wholeID  string           // of the fragments before this line, which has their message as a whole
	left     map[string]known // sessions that the file has left
}

// known is what the file has stated about a session so far.
type known struct {
	conv        transcript.Conversation
	hasMessages bool
	spoken      bool // processes that run at the same time may print to one file
	last        transcript.Time
}

// span is a run of lines whose fragments of text make up one event.
type span struct {
	kind   transcript.Kind // "" if there is none
	id     string
	origin transcript.Origin
	at     transcript.Time
	text   []byte
}

// stream yields the records of saved output.
func (p *parser) stream() {
	p.loc, p.shared, p.rank = location{}, true, rankStream
	head, err := io.ReadAll(io.LimitReader(p.in.Reader, streamHead))
	if err != nil {
		p.Fail(err)
		return
	}
	s := &stream{parser: p, left: map[string]known{}}
	s.identify(head)
	rest := io.MultiReader(bytes.NewReader(head), p.in.Reader)
	for o := range p.Each(jsontext.Objects(rest, "", s.problem)) {
		p.baseOrigin, p.base, p.at = o.Origin, o.Value, firstTime(o.Value.Get("timestamp_ms"))
		p.lend.Reset()
		s.objects++
		s.object(o.Value)
	}
	p.isGuess = p.isGuess || s.fragment.kind != "" // its next lines may follow
	s.closeFragment(false)
	p.Settle(p.session)
	s.finishLeft()
}

// finishLeft yields the runs of sessions that the file only names. It is known only now that their messages do not come later.
func (s *stream) finishLeft() {
	id, c, hasMessages := s.session, s.conv, s.hasMessages
	for _, other := range slices.Sorted(maps.Keys(s.left)) {
		if k := s.left[other]; !k.hasMessages && other != id {
			s.session, s.conv, s.hasMessages = other, k.conv, false
			s.finish()
		}
	}
	s.session, s.conv, s.hasMessages = id, c, hasMessages
}

// identify finds the first session and what tells this output from others. Its first lines do not: those of two runs that resume a session with
// the same prompt are the same. A line with a time, or the result, does. As long as there is neither, the ids of events are a guess.
func (s *stream) identify(head []byte) {
	end := 0
	for line := range bytes.Lines(head) {
		end += len(line)
		if !jsontext.BeginsObject(jsontext.TrimBOM(line)) || !format.MayHave(line, "session_id") {
			continue
		}
		v, err := jsontext.Parse(jsontext.TrimBOM(line))
		if err != nil || !v.IsObject() {
			continue
		}
		if s.session == "" {
			s.session = v.Get("session_id").Str()
		}
		at := v.Get("timestamp_ms")
		if firstTime(at).Valid || v.Get("type").Is("result") {
			s.order = orderStream + cmp.Or(at.Text(), withoutTime)
			s.seed = seedOf(bytes.TrimRight(head[:end], "\r\n"))
			return
		}
	}
	s.order, s.seed, s.isGuess = orderStream+withoutTime, seedOf(head), len(head) < streamHead
}

func seedOf(head []byte) string {
	sum := sha256.Sum256(head)
	return fmt.Sprintf("%x", sum[:8])
}

// eventID returns the id of an event of this line.
func (s *stream) eventID() string { return fmt.Sprintf("%s/%d", s.seed, s.objects) }

// problem reports a line that is no JSON object: the program's warnings, or what ran it has written to the same file.
func (s *stream) problem(pr *transcript.Problem) {
	pr.Alone = true
	s.Problem(s.session, pr)
}

// object yields the records of a line.
func (s *stream) object(v jsontext.Value) {
	if id := v.Get("session_id").Str(); id != "" && id != s.session {
		s.enter(id)
	}
	if s.at.Valid {
		s.last = s.at
	}
	if s.session == "" {
		s.problem(&transcript.Problem{Kind: "no session", Reason: "no line names a session", Origin: s.baseOrigin})
		return
	}
	typ := v.Get("type").Word()
	kind := fragmentOf(v)
	s.wholeID = ""
	if kind != s.fragment.kind {
		s.closeFragment(typ == "assistant")
	}
	switch {
	case kind != "":
		s.addFragment(kind, v)
	case typ == "user", typ == "assistant":
		s.message(typ, v.Get("message", "content"))
	case typ == "tool_call":
		s.tool(v)
	case typ == "result":
		s.result(v)
	default:
		s.note(v, typ)
	}
}

// enter begins the lines of another session.
func (s *stream) enter(id string) {
	if s.session != "" {
		s.closeFragment(false)
		s.Settle(s.session)
		s.left[s.session] = known{s.conv, s.hasMessages, s.spoken, s.last}
		if s.hasMessages {
			s.finish()
		}
	}
	k := s.left[id]
	s.session, s.conv, s.hasMessages, s.spoken, s.last = id, k.conv, k.hasMessages, k.spoken, k.last
	s.model = k.conv.Model
}

// message yields the events of a whole message. A user's begins a turn.
func (s *stream) message(role string, content jsontext.Value) {
	if role == "user" {
		s.spoken, s.last = false, s.at
	}
	m := &message{parser: s.parser, role: role, id: cmp.Or(s.wholeID, s.eventID())}
	m.events(content)
	s.spoken = s.spoken || role == "assistant" && m.n > 0
}

// fragmentOf returns the kind of event of which a line has a fragment, "" if it has none. Thinking comes in fragments only, and its last line has
// no text. Messages come in fragments if partial output was asked for, and then once more as a whole, which either has no time or
// names the request.
func fragmentOf(v jsontext.Value) transcript.Kind {
	switch typ := v.Get("type"); {
	case typ.Is("thinking"):
		return transcript.KindReasoning
	case typ.Is("assistant") && v.Get("timestamp_ms").Exists() && !v.Get("model_call_id").Exists():
		return transcript.KindMessage
	}
	return ""
}

func (s *stream) addFragment(kind transcript.Kind, v jsontext.Value) {
	f := &s.fragment
	if f.kind == "" {
		*f = span{kind: kind, id: s.eventID(), origin: s.baseOrigin, at: s.at, text: f.text[:0]}
	}
	f.origin.Length = s.baseOrigin.End() - f.origin.Offset
	f.text = appendFragment(f.text, v)
	if v.Get("subtype").Is("completed") {
		s.closeFragment(false)
	}
}

// closeFragment yields the event of the fragments so far. A message that follows as a whole is counted there, with the id that its fragments have in a
// copy that ends before it.
func (s *stream) closeFragment(whole bool) {
	f := &s.fragment
	if f.kind == "" {
		return
	}
	at := s.at
	s.at = f.at
	e := s.event(f.kind, "assistant", "thinking")
	if f.kind == transcript.KindMessage {
		e.Type = "text"
	}
	e.Origin, e.Parts = f.origin, []transcript.Part{{Text: string(f.text)}}
	switch blank := len(bytes.TrimSpace(f.text)) == 0; {
	case blank:
		e.Kind = transcript.KindNotice
		s.Emit(e)
	case f.kind == transcript.KindMessage && whole:
		s.wholeID = f.id
		s.emitAs(transcript.CopiedHistory, "", e)
	case f.kind == transcript.KindMessage:
		s.spoken = true
		s.emitAs(transcript.Counted, f.id+"/1", e)
	default:
		s.emitAs(transcript.Counted, f.id, e)
	}
	f.kind, s.at = "", at
}

// appendFragment appends the text of a fragment.
func appendFragment(dst []byte, v jsontext.Value) []byte {
	dst = append(dst, v.Get("text").Str()...)
	for b := range v.Get("message", "content").Items() {
		dst = append(dst, b.Get("text").Str()...)
	}
	return dst
}

// emitAs yields an event of the conversation with a verdict and an id.
func (s *stream) emitAs(verdict transcript.Verdict, id string, e *transcript.Event) {
	s.emitConversation()
	e.Verdict, e.ID, e.Conversation, e.Run = verdict, id, s.session, ""
	s.Emit(e)
}

// toolOf returns the name of the tool in a call, its input and the value that has the result.
func toolOf(call jsontext.Value) (name string, input, tool jsontext.Value) {
	for key, v := range call.Fields() {
		short, ok := strings.CutSuffix(key, "ToolCall")
		switch {
		case !v.IsObject():
		case ok && short == "mcp" && v.Get("args", "name").IsString():
			return v.Get("args", "name").Word(), v.Get("args"), v
		case ok:
			return short, v.Get("args"), v
		case key == "function":
			return v.Get("name").Word(), v.Get("arguments"), v
		}
	}
	return "", jsontext.Value{}, jsontext.Value{}
}

// tool yields a call or its result.
func (s *stream) tool(v jsontext.Value) {
	call, id := v.Get("tool_call"), v.Get("call_id").Str()
	name, input, tool := toolOf(call)
	result := tool.Get("result")
	switch subtype := v.Get("subtype"); {
	case !tool.Exists():
		s.note(v, "tool_call")
	case subtype.Is("started"):
		e := s.event(transcript.KindToolCall, "assistant", "tool_call")
		e.Parts = []transcript.Part{s.part(call)}
		e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), pathNames, nil)}
		s.emitAs(transcript.Counted, s.eventID(), e)
	case subtype.Is("completed"):
		if !result.Exists() {
			result = tool
		}
		e := s.event(transcript.KindToolResult, "tool", "tool_call")
		e.Parts = []transcript.Part{s.part(result)}
		r := &transcript.Result{Call: id, Name: name, Output: int64(result.Len())}
		r.Status, r.Failed = outcomeOf(result)
		e.Parts[0].Result = r
		s.emitAs(transcript.Counted, s.eventID(), e)
	default:
		s.note(v, "tool_call")
	}
}

// outcomeOf returns how a call ended: the member of the result that has the output. There are many for failures, and few others.
func outcomeOf(result jsontext.Value) (status string, failed transcript.Truth) {
	for key, v := range result.Fields() {
		if !v.IsObject() {
			continue
		}
		switch key {
		case "args", "approved", "async", "stillRunning":
			return key, transcript.Unstated
		case "success", "complete", "registered", "startSuccess", "saveSuccess", "discardSuccess":
			code, _ := v.Get("exitCode").Int()
			return key, transcript.True(code != 0 || v.Get("isError").Bool() == transcript.Yes)
		}
		return key, transcript.Yes
	}
	return "", transcript.Unstated
}

// result yields the end of a turn and its usage. Its text is that of all messages of the turn: it counts only where there are none, since only
// the result was asked for.
func (s *stream) result(v jsontext.Value) {
	id := s.eventID()
	if text := v.Get("result"); !s.spoken && !text.IsBlank() && !isFailure(v) {
		e := s.event(transcript.KindMessage, "assistant", "result")
		e.Parts = []transcript.Part{s.part(text)}
		s.emitAs(transcript.Counted, id, e)
	} else {
		s.note(v, "result")
	}
	s.spoken = false
	s.usage(v, id)
}

// isFailure reports whether a result is that of a turn that failed.
func isFailure(v jsontext.Value) bool { return v.Get("is_error").Bool() == transcript.Yes }

// usage yields the tokens of a turn, of all its requests together, at the last time that the turn states. Input is without what was read from a
// cache or written to one.
func (s *stream) usage(v jsontext.Value, id string) {
	u := v.Get("usage")
	if !u.IsObject() {
		return
	}
	request := v.Get("request_id").Str()
	if request != "" {
		id = request
	}
	s.Emit(&transcript.Usage{
		Run: s.session, Conversation: s.session, Key: s.session + ":" + id, Rank: rankStream, Origin: s.baseOrigin, Time: s.last, Model: s.model, RequestID: request,
		Input: u.Get("inputTokens").Tokens(), Output: u.Get("outputTokens").Tokens(),
		CacheRead: u.Get("cacheReadTokens").Tokens(), CacheWrite: u.Get("cacheWriteTokens").Tokens(),
	})
}

// note yields an uncounted event for any other line.
func (s *stream) note(v jsontext.Value, typ string) {
	e := s.event(transcript.KindUnknown, "", typ)
	switch {
	case typ == "system" && v.Get("subtype").Is("init"):
		e.Kind = transcript.KindLifecycle
		s.model = v.Get("model").Str()
		s.conv.Model, s.conv.Project = s.model, v.Get("cwd").Str()
	case typ == "result" && isFailure(v):
		e.Kind = transcript.KindError
	case typ == "system", typ == "result", typ == "connection", typ == "retry":
		e.Kind = transcript.KindLifecycle
	}
	if typ == "result" {
		e.Attributes = transcript.Attributes{"status": v.Get("subtype").Str()}
		if d, ok := v.Get("duration_ms").Int(); ok {
			e.Attributes["duration_ms"] = d
		}
	}
	e.Parts = []transcript.Part{s.part(v)}
	s.Emit(e)
}

// streamText returns the text of a part of saved output from its bytes: of fragments, or of one value.
func streamText(raw []byte) (string, error) {
	var text []byte
	fragments := false
	for o, err := range jsontext.Objects(bytes.NewReader(raw), "", func(*transcript.Problem) {}) {
		if err != nil {
			return "", err
		}
		if fragments = fragmentOf(o.Value) != ""; !fragments {
			break
		}
		text = appendFragment(text, o.Value)
	}
	if fragments {
		return string(text), nil
	}
	return format.TextOf(roleStream, raw, jsontext.Appended(appendStream))
}

// appendStream appends the text of a line or a part of one: of a call the tool and its input; of a result line nothing, since it
// repeats the messages, unless the turn failed; of everything else all strings except ids and types.
func appendStream(dst []byte, v jsontext.Value) []byte {
	if v.IsString() {
		return appendText(dst, v)
	}
	if fragmentOf(v) != "" { // inside another line, where no program has put it yet
		return appendFragment(dst, v)
	}
	if name, input, _ := toolOf(v); name != "" {
		dst = append(dst, name...)
		return jsontext.AppendScalars(dst, input.Unwrap())
	}
	if v.Get("type").Is("result") && v.Get("session_id").Exists() && !isFailure(v) {
		return dst
	}
	appendText := jsontext.AppendText
	if !v.Get("type").IsString() { // what a tool returned
		appendText = jsontext.AppendTextAndNumbers
	}
	return appendText(dst, v, func(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
		return dst, key == "type" || depth == 1 && streamKeys[key] || v.IsDataURL()
	})
}

// streamKeys are members of a line that hold no text to search.
var streamKeys = map[string]bool{"subtype": true, "session_id": true, "request_id": true, "call_id": true, "model_call_id": true, "apiKeySource": true, "permissionMode": true}
