package antigravity

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// step is one line with its members, looked up once.
type step struct {
	value  jsontext.Value
	origin transcript.Origin
	at     transcript.Time

	typ, source, status              string
	index                            transcript.Count
	number                           jsontext.Value // in which the index is
	content, thinking, calls         jsontext.Value
	caller                           jsontext.Value // the call that an action is of, in a database
	input, cached, output, createdAt jsontext.Value
	model                            string

	emitted bool
	pieces  pieces
}

// pieces says which events a step has, and of an action, which call it is of.
type pieces struct {
	thinking, whole, action bool
	calls                   int
	call, tool              string
}

func readStep(o jsontext.Object) (s step) {
	s.value, s.origin = o.Value, o.Origin
	for key, v := range o.Value.Fields() {
		switch key {
		case "type":
			s.typ = v.Word()
		case "source":
			s.source = v.Word()
		case "status":
			s.status = v.Word()
		case "step_index":
			s.number, s.index = v, v.Count()
		case "created_at":
			s.createdAt, s.at = v, v.Time()
		case "content":
			s.content = v
		case "thinking":
			s.thinking = v
		case "tool_calls":
			s.calls = v
		case "input_tokens":
			s.input = v
		case "cache_read_tokens":
			s.cached = v
		case "output_tokens":
			s.output = v
		}
	}
	return s
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in  format.Input
	run string

	started  bool                    // a line was read
	facts    transcript.Conversation // what is known about the conversation
	answered transcript.Count        // number of the last prompt or answer, until the first result
	open     transcript.Call         // the only call of the last answer, until its result
	steps    map[int64]pieces        // of each step as it was last stated

	lend format.Lender // of the events of a line
}

// transcript yields the records of a conversation.
func (p *parser) transcript() {
	problem := func(pr *transcript.Problem) { p.Problem(p.run, pr) }
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", problem)) {
		p.lend.Reset()
		if !p.started {
			p.started = true
			p.emitConversation()
		}
		s := p.read(o)
		format.Extend(&p.facts.Started, &p.facts.Ended, s.at)
		p.step(&s)
	}
	if p.started && !p.Done() {
		p.emitConversation()
	}
}

// sourceImplicit is the source of what the program says in the user's name.
const sourceImplicit = "USER_IMPLICIT"

// read reads the step in a line of a log, or in a row of a database.
func (p *parser) read(o jsontext.Object) step {
	if p.in.Role == roleSteps {
		if o.Value.Get("step").IsString() {
			p.Problem(p.run, &transcript.Problem{Kind: "no protobuf", Reason: "the column step is no protobuf message; the row is kept as it is", Origin: o.Origin})
		}
		return readRow(o)
	}
	return readStep(o)
}

// emitConversation yields what is known about the conversation so far, for its run, too.
func (p *parser) emitConversation() {
	c := p.facts
	c.ID, c.Run, c.Rank = p.run, p.run, ranks[p.in.Role]
	p.Emit(&transcript.Run{ID: p.run, Rank: c.Rank, Title: c.Title, Model: c.Model, Started: c.Started, Ended: c.Ended})
	p.Emit(&c)
}

// step yields the events of a step. The type decides what it is, and for types that are not known who made it: each action of the model is a step
// of a type of its own, which holds what it brought about.
func (p *parser) step(s *step) {
	if s.model != "" {
		p.facts.Model = s.model
	}
	switch s.typ {
	case "USER_INPUT":
		if s.source == sourceImplicit {
			p.whole(s, transcript.KindSystem, "system")
			break
		}
		p.prompt(s)
	case "PLANNER_RESPONSE":
		p.answer(s)
	case "CHECKPOINT":
		p.whole(s, transcript.KindCompaction, "system")
	case "ERROR_MESSAGE":
		p.whole(s, transcript.KindError, "system")
	case "TOOL_RESPONSE", "GENERIC":
		p.result(s)
	default:
		switch {
		case s.caller.Exists():
			p.result(s)
		case s.typ == "":
			p.uncounted(s, transcript.KindUnknown)
		case s.source == "MODEL":
			p.result(s)
		case s.source == "SYSTEM", strings.HasPrefix(s.source, "USER"):
			p.whole(s, transcript.KindSystem, "system")
		default:
			p.uncounted(s, transcript.KindUnknown)
		}
	}
	if !s.emitted {
		p.uncounted(s, transcript.KindNotice)
	}
	p.retractReplaced(s)
}

// retractReplaced takes back the events that a step had when it was stated before, and no longer has.
func (p *parser) retractReplaced(s *step) {
	if !s.index.Known {
		return
	}
	if p.steps == nil {
		p.steps = map[int64]pieces{}
	}
	before, now := p.steps[s.index.N], s.pieces
	p.steps[s.index.N] = now
	retract := func(id string) {
		e := p.event(s, s.number, transcript.KindNotice, "", id)
		e.Verdict, e.Type = transcript.Uncounted, "replaced"
		p.Emit(e)
	}
	if before.thinking && !now.thinking {
		retract(thinkingID)
	}
	if before.whole && !now.whole {
		retract("")
	}
	for n := now.calls; n < before.calls; n++ {
		retract(callID(n))
	}
}

// The ids of the pieces of a step, behind its number.
const thinkingID = "/thinking"

func callID(n int) string { return "/" + strconv.Itoa(n) }

// event yields an event for one value of a step. id tells it from the others of the step. Its number is no Seq: steps that log nothing are missing.
func (p *parser) event(s *step, v jsontext.Value, kind transcript.Kind, role, id string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.run, Kind: kind, Role: role, Type: s.typ, Time: s.at, Origin: s.origin})
	if s.index.Known {
		e.ID = strconv.FormatInt(s.index.N, 10) + id
	}
	if role == "assistant" {
		e.Model = p.facts.Model
	}
	e.Parts[0] = p.lend.Part(s.value, v, appendText)
	s.emitted = true
	return e
}

// uncounted yields a row that does not count for a step.
func (p *parser) uncounted(s *step, kind transcript.Kind) {
	e := p.event(s, jsontext.Value{}, kind, "", "")
	e.Verdict, e.ID = transcript.Uncounted, ""
	p.Emit(e)
}

// whole yields a step that is its content.
func (p *parser) whole(s *step, kind transcript.Kind, role string) {
	if hasText(s.content) {
		s.pieces.whole = true
		p.Emit(p.event(s, s.content, kind, role, ""))
	}
}

// hasText reports whether a member of a step has a text, or an object with one.
func hasText(v jsontext.Value) bool { return !v.IsBlank() || v.IsObject() || v.IsArray() }

// prompt yields what the user said, with what the program has put around it, and notes the model that the user has chosen.
func (p *parser) prompt(s *step) {
	p.open, p.answered = transcript.Call{}, s.index
	p.whole(s, transcript.KindMessage, "user")
	text := promptText(s.content)
	if model := modelIn(text); model != "" {
		p.facts.Model = strings.Clone(model)
	}
	if p.facts.Title == "" {
		p.facts.Title = strings.Clone(format.Title(requestIn(text)))
	}
}

// promptText returns the text of a prompt. In a database it is in pieces, of which one may end within a word.
func promptText(content jsontext.Value) string {
	if content.IsString() {
		return content.Str()
	}
	return jsontext.Build(func(dst []byte) []byte {
		for piece := range content.Items() {
			dst = append(dst, piece.Get("text").Str()...)
		}
		return dst
	})
}

// requestIn returns what the user typed.
func requestIn(text string) string {
	if _, after, ok := strings.Cut(text, "<USER_REQUEST>"); ok {
		text, _, _ = strings.Cut(after, "</USER_REQUEST>")
	}
	return text
}

// modelIn returns the model that a prompt says was chosen since the last one: "The user changed setting `Model Selection` from A to B. ...".
func modelIn(text string) string {
	_, after, ok := strings.Cut(text, "`Model Selection` from ")
	if !ok {
		return ""
	}
	line, _, _ := strings.Cut(after, "\n")
	_, name, ok := strings.Cut(line, " to ")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name+" ", ". ") // not the point in a version
	return strings.TrimSuffix(strings.TrimSpace(name), ".")
}

// answer yields the reasoning, the text and the calls of an answer, and its tokens.
func (p *parser) answer(s *step) {
	p.open, p.answered = transcript.Call{}, s.index
	if hasText(s.thinking) {
		s.pieces.thinking = true
		p.Emit(p.event(s, s.thinking, transcript.KindReasoning, "assistant", thinkingID))
	}
	p.whole(s, transcript.KindMessage, "assistant")
	n := 0
	for v := range s.calls.Items() {
		id := callID(n)
		n++
		args := v.Get("args")
		if p.in.Role == roleSteps {
			args = v.Get("arguments_json")
		}
		c := transcript.Call{ID: v.Get("id").Str(), Name: v.Get("name").Word(), Input: int64(args.Len()), Paths: paths(args.Unwrap())}
		if c.ID == "" {
			c.ID = "#" + strconv.FormatInt(s.index.N, 10) + id
		}
		e := p.event(s, v, transcript.KindToolCall, "assistant", id)
		if e.Parts[0].Call = &c; n == 1 {
			p.open = c
		}
		p.Emit(e)
	}
	if s.pieces.calls = n; n > 1 {
		p.open = transcript.Call{}
	}
	p.usage(s)
}

// pathNames are the members of a call's input that name files. Each value is JSON in a string.
var pathNames = []string{"AbsolutePath", "TargetFile", "DirectoryPath", "SearchPath", "SearchDirectory", "File"}

func paths(args jsontext.Value) (all []string) {
	for _, name := range pathNames {
		v := args.Get(name)
		if inside := v.Inside(); inside.IsString() {
			v = inside
		}
		if s := v.Str(); s != "" && !strings.Contains(s, "\n") {
			all = append(all, s)
		}
	}
	return all
}

// result yields what an action brought about.
func (p *parser) result(s *step) {
	s.pieces.whole, s.pieces.action = true, true
	e := p.event(s, s.content, transcript.KindToolResult, "tool", "")
	p.setCall(s)
	r := &transcript.Result{Call: s.pieces.call, Name: s.pieces.tool, Status: s.status, Output: int64(s.content.Len())}
	if s.status == "ERROR" {
		r.Failed = transcript.Yes
	}
	e.Parts[0].Result = r
	p.Emit(e)
}

// setCall finds the call of an action. Nothing in the step names it: it is known if the answer before made only one, and this is the first
// result since. A step may be written again when it ends, even behind a later answer.
func (p *parser) setCall(s *step) {
	late := p.answered.Known && s.index.Known && s.index.N < p.answered.N
	before := p.steps[s.index.N]
	switch {
	case s.caller.Exists():
		s.pieces.call, s.pieces.tool = s.caller.Get("id").Str(), s.caller.Get("name").Word()
	case s.index.Known && before.action && (late || !p.answered.Known):
		s.pieces.call, s.pieces.tool = before.call, before.tool
	case !late:
		s.pieces.call, s.pieces.tool = p.open.ID, p.open.Name
		p.open, p.answered = transcript.Call{}, transcript.Count{}
	}
}

// usage yields the tokens of the request that an answer came from. The time tells it from the same step after the user went back.
func (p *parser) usage(s *step) {
	u := &transcript.Usage{
		Run: p.run, Conversation: p.run, Time: s.at, Origin: s.origin, Model: p.facts.Model, Requests: transcript.Known(1),
		Input: s.input.Tokens(), CacheRead: s.cached.Tokens(), Output: s.output.Tokens(),
	}
	if !u.Input.Known && !u.Output.Known {
		return
	}
	if s.index.Known {
		u.Key = p.run + " " + strconv.FormatInt(s.index.N, 10) + " " + s.createdAt.Str()
		if s.at.Valid {
			u.Key = stepKey(p.run, s.index.N, s.at)
		}
	}
	u.Rank = u.Input.N + u.CacheRead.N + u.Output.N
	p.Emit(u)
}
