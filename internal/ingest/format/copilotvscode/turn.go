package copilotvscode

import (
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// turn is a request with its answer, as far as later changes need it.
type turn struct {
	id              string
	at              transcript.Time
	stamp, done     int64 // time of the request and of the complete answer, milliseconds since 1970
	model, agent    string
	mode            string
	systemInitiated bool // not asked by the user
	copied          bool // from another session
	imported        bool // from a file
	usage           turnUsage

	ownIDs       []string          // ids of the events that are not parts of the answer
	parts        []answerPart      // of the answer
	calls        map[string]bool   // calls that the answer shows
	hasText      bool              // the answer has text
	hasReasoning bool              // the answer has reasoning
	rounds       map[string]round  // by call id
	roundIDs     []string          // keys of rounds, in order
	paired       map[string]string // ids in rounds of calls that the answer shows under other ids
}

// eventIDs returns the ids of a turn's events.
func (t *turn) eventIDs() []string {
	return append(slices.Clone(t.ownIDs), t.eventIDsFrom(0)...)
}

// eventIDsFrom returns the ids of the events that begin with the n-th part of the answer or after it.
func (t *turn) eventIDsFrom(n int) (ids []string) {
	for _, part := range t.parts[n:] {
		ids = append(ids, part.ids...)
	}
	return ids
}

// readMember reads a member of a request that is not content.
func (t *turn) readMember(key string, v jsontext.Value) {
	switch key {
	case "timestamp":
		t.stamp, _ = v.Int()
		t.at = timestamp.UnixMilli(t.stamp)
	case "modelId":
		t.model = v.Str()
	case "agent":
		t.agent = v.Get("id").Str()
	case "modelState":
		t.done, _ = v.Get("completedAt").Int()
	case "modeInfo":
		t.mode = v.Get("kind").Str()
	case "isSystemInitiated":
		t.systemInitiated = v.Bool() == transcript.Yes
	case "result":
		t.readResult(v)
	default:
		t.usage.read(key, v)
	}
}

// request yields the events of a request and its answer. p.base is the request.
func (p *parser) request(n int, v jsontext.Value) *turn {
	t := &turn{id: v.Get("requestId").Text(), calls: map[string]bool{}}
	if t.id == "" {
		t.id = "#" + strconv.Itoa(n)
	}
	for key, m := range v.Fields() {
		t.readMember(key, m)
	}
	// A fork gives copied requests new ids and the time of the fork. Imported requests are older than their session.
	fork := p.created > 0 && t.stamp == p.created+int64(n) && t.done == t.stamp
	t.imported = t.stamp > 0 && t.stamp < p.created && !p.exported
	t.copied = fork || t.imported
	if fork {
		p.facts.Set("forked", true)
	}
	p.applyTurn(t)
	if !v.IsObject() {
		t.ownIDs = p.collectIDs(func() { p.uncounted(t, "request", transcript.KindUnknown, "", v) })
		return t
	}
	t.ownIDs = p.collectIDs(func() {
		p.prompt(t, v.Get("message"))
		if with := v.Get("variableData"); with.Get("variables").IsArray() && with.Get("variables").Len() > len("[]") {
			p.uncounted(t, "with", transcript.KindNotice, "variableData", with)
		}
	})
	response, result := v.Get("response"), v.Get("result")
	if !response.IsArray() && response.Exists() && !response.IsNull() { // early versions
		p.answerParts(t, []jsontext.Value{response})
	}
	parts := slices.Collect(response.Items())
	t.pairCalls(parts)
	p.answerParts(t, parts)
	if result.IsObject() {
		p.resultEvents(t, result, true)
	}
	p.usage(t, v)
	t.rounds, t.roundIDs = nil, nil // their value is no longer valid
	return t
}

// applyTurn sets the conversation's model, mode and project from its latest turn.
func (p *parser) applyTurn(t *turn) {
	if t.mode != "" {
		p.conv.Mode = t.mode
	}
	if _, model := t.usage.providerModel(t.model); model != "" && (model != "auto" || p.conv.Model == "") {
		p.conv.Model = model
	}
	if dir := t.usage.folder; dir != "" && p.conv.Project == "" {
		p.conv.Project = dir
	}
}

// prompt yields a prompt: the text of a message, or, in early versions, the message itself.
func (p *parser) prompt(t *turn, message jsontext.Value) {
	text := message
	if message.IsObject() {
		text = message.Get("text")
	}
	if text.IsBlank() {
		if message.Exists() {
			p.uncounted(t, "prompt", transcript.KindNotice, "message", message)
		}
		return
	}
	kind, role := transcript.KindMessage, "user"
	if t.systemInitiated {
		kind, role = transcript.KindSystem, "system"
	}
	e := p.event(t, "prompt", kind, role, "message", text)
	e.Model, e.Agent = "", ""
	if !t.systemInitiated && !p.hasTitle && p.conv.Title == "" {
		p.conv.Title = format.Title(text.Str())
	}
	p.emit(e)
}

// event returns an event of a turn. It counts unless the turn was copied.
func (p *parser) event(t *turn, suffix string, kind transcript.Kind, role, typ string, values ...jsontext.Value) *transcript.Event {
	at, parts := p.locate(values...)
	_, model := t.usage.providerModel(t.model)
	e := &transcript.Event{
		Conversation: p.session, ID: t.id + "/" + suffix, Kind: kind, Role: role, Type: typ, Time: t.at, Origin: at, Parts: parts,
		Verdict: transcript.Counted, Agent: t.agent, Model: model,
	}
	if t.copied {
		e.Verdict = transcript.CopiedHistory
	}
	return e
}

// uncounted yields an uncounted event of a turn.
func (p *parser) uncounted(t *turn, suffix string, kind transcript.Kind, typ string, values ...jsontext.Value) {
	e := p.event(t, suffix, kind, "", typ, values...)
	e.Verdict, e.Model = transcript.Uncounted, ""
	p.emit(e)
}

func (p *parser) emit(e *transcript.Event) {
	if p.collected != nil {
		*p.collected = append(*p.collected, e.ID)
	}
	if p.dryRun {
		return
	}
	p.emitted = true
	p.emitConversation()
	p.Emit(e)
}

// collectIDs returns the ids of the events that do yields.
func (p *parser) collectIDs(do func()) []string {
	outer := p.collected
	var ids []string
	p.collected = &ids
	do()
	if p.collected = outer; outer != nil {
		*outer = append(*outer, ids...)
	}
	return ids
}

// dryRunIDs returns the ids of the events that do would yield, and yields none.
func (p *parser) dryRunIDs(do func()) []string {
	outer := p.dryRun
	p.dryRun = true
	defer func() { p.dryRun = outer }()
	return p.collectIDs(do)
}

// retract takes back events of a turn, except those in keep. p.base is the change.
func (p *parser) retract(t *turn, ids, keep []string) {
	kept := map[string]bool{}
	for _, id := range keep {
		kept[id] = true
	}
	for _, id := range ids {
		if kept[id] {
			continue
		}
		kept[id] = true
		e := p.event(t, "", transcript.KindNotice, "", "removed", p.base.Get("kind"))
		e.ID, e.Verdict, e.Model = id, transcript.Uncounted, ""
		p.emit(e)
	}
}
