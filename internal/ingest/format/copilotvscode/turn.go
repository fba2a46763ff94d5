package copilotvscode

import (
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// turn is a request with its answer, as far as what comes later depends on it.
type turn struct {
	id           string
	at           transcript.Time
	stamp, done  int64 // when it was asked and answered, milliseconds since 1970
	model, agent string
	mode         string
	system       bool // asked by the program
	copied       bool // from another session
	imported     bool // from a file
	tokens       tokens

	own    []string        // ids of the events that are no part of the answer
	parts  []part          // of the answer
	calls  map[string]bool // that the answer shows
	spoken bool            // the answer has words
	wonder bool            // and thoughts
	rounds map[string]round
	asked  []string          // their keys, in order
	paired map[string]string // calls that the answer shows under other ids -> theirs
}

// all gives the ids of a turn's events.
func (t *turn) all() []string {
	return append(slices.Clone(t.own), t.from(0)...)
}

// from gives the ids of the events that begin with the n-th part of the answer or behind it.
func (t *turn) from(n int) (ids []string) {
	for _, part := range t.parts[n:] {
		ids = append(ids, part.ids...)
	}
	return ids
}

// read is one member of a request that is no piece of what was said.
func (t *turn) read(key string, v format.Value) {
	switch key {
	case "timestamp":
		t.stamp, _ = v.Int()
		t.at = format.UnixMilli(t.stamp)
	case "modelId":
		t.model = v.Str()
	case "agent":
		t.agent = v.Get("id").Str()
	case "modelState":
		t.done, _ = v.Get("completedAt").Int()
	case "modeInfo":
		t.mode = v.Get("kind").Str()
	case "isSystemInitiated":
		t.system = v.Bool() == transcript.Yes
	case "result":
		t.readResult(v)
	default:
		t.tokens.read(key, v)
	}
}

// request yields the events of a request and its answer. p.whole is the request.
func (p *parser) request(n int, v format.Value) *turn {
	t := &turn{id: v.Get("requestId").Text(), calls: map[string]bool{}}
	if t.id == "" {
		t.id = "#" + strconv.Itoa(n)
	}
	for key, m := range v.Fields() {
		t.read(key, m)
	}
	// A fork gives what it copies new ids and the time at which it was made, and what was imported is older than its session.
	fork := p.created > 0 && t.stamp == p.created+int64(n) && t.done == t.stamp
	t.imported = t.stamp > 0 && t.stamp < p.created && !p.exported
	t.copied = fork || t.imported
	if fork {
		p.facts.Set("forked", true)
	}
	p.note(t)
	if !v.IsObject() {
		t.own = p.ids(func() { p.aside(t, "request", transcript.KindUnknown, "", v) })
		return t
	}
	t.own = p.ids(func() {
		p.prompt(t, v.Get("message"))
		if with := v.Get("variableData"); with.Get("variables").IsArray() && with.Get("variables").Len() > len("[]") {
			p.aside(t, "with", transcript.KindNotice, "variableData", with)
		}
	})
	response, result := v.Get("response"), v.Get("result")
	if !response.IsArray() && response.Exists() && !response.IsNull() { // of early versions
		p.answer(t, []format.Value{response})
	}
	parts := slices.Collect(response.Items())
	t.pair(parts)
	p.answer(t, parts)
	if result.IsObject() {
		p.outcome(t, result, true)
	}
	p.usage(t, v)
	t.rounds, t.asked = nil, nil // of a value that is gone
	return t
}

// note has the session be about the model that was asked last, in its mode.
func (p *parser) note(t *turn) {
	if t.mode != "" {
		p.is.Mode = t.mode
	}
	if _, model := t.tokens.asked(t.model); model != "" && (model != "auto" || p.is.Model == "") {
		p.is.Model = model
	}
	if dir := t.tokens.folder; dir != "" && p.is.Project == "" {
		p.is.Project = dir
	}
}

// prompt yields what was asked: the text of a message, or the message of an early version, which is its text.
func (p *parser) prompt(t *turn, message format.Value) {
	text := message
	if message.IsObject() {
		text = message.Get("text")
	}
	if text.IsBlank() {
		if message.Exists() {
			p.aside(t, "prompt", transcript.KindNotice, "message", message)
		}
		return
	}
	kind, role := transcript.KindMessage, "user"
	if t.system {
		kind, role = transcript.KindSystem, "system"
	}
	e := p.event(t, "prompt", kind, role, "message", text)
	e.Model, e.Agent = "", ""
	if !t.system && !p.named && p.is.Title == "" {
		p.is.Title = format.Title(text.Str())
	}
	p.emit(e)
}

// event is one of a turn, which counts unless it was copied.
func (p *parser) event(t *turn, suffix string, kind transcript.Kind, role, typ string, values ...format.Value) *transcript.Event {
	at, parts := p.cut(values...)
	_, model := t.tokens.asked(t.model)
	e := &transcript.Event{
		Conversation: p.session, ID: t.id + "/" + suffix, Kind: kind, Role: role, Type: typ, Time: t.at, Origin: at, Parts: parts,
		Verdict: transcript.Counted, Agent: t.agent, Model: model,
	}
	if t.copied {
		e.Verdict = transcript.CopiedHistory
	}
	return e
}

// aside yields a piece of a turn that is searched and does not count.
func (p *parser) aside(t *turn, suffix string, kind transcript.Kind, typ string, values ...format.Value) {
	e := p.event(t, suffix, kind, "", typ, values...)
	e.Verdict, e.Model = transcript.Uncounted, ""
	p.emit(e)
}

func (p *parser) emit(e *transcript.Event) {
	if p.seen != nil {
		*p.seen = append(*p.seen, e.ID)
	}
	if p.quiet {
		return
	}
	p.told = true
	p.speak()
	p.Emit(e)
}

// ids collects the ids of the events that are yielded meanwhile.
func (p *parser) ids(do func()) []string {
	outer := p.seen
	var ids []string
	p.seen = &ids
	do()
	if p.seen = outer; outer != nil {
		*outer = append(*outer, ids...)
	}
	return ids
}

// dry collects the ids of events without yielding anything.
func (p *parser) dry(do func()) []string {
	outer := p.quiet
	p.quiet = true
	defer func() { p.quiet = outer }()
	return p.ids(do)
}

// takeBack says that some events of a turn are no longer there, but for those that are told again. p.whole is the change.
func (p *parser) takeBack(t *turn, ids, again []string) {
	stay := map[string]bool{}
	for _, id := range again {
		stay[id] = true
	}
	for _, id := range ids {
		if stay[id] {
			continue
		}
		stay[id] = true
		e := p.event(t, "", transcript.KindNotice, "", "removed", p.whole.Get("kind"))
		e.ID, e.Verdict, e.Model = id, transcript.Uncounted, ""
		p.emit(e)
	}
}
