package codex

import (
	"io"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line holds the members of a rollout line around its payload. Lines of 2025-05 to 2025-08 have no envelope: payload is
// absent and the line itself is an item, a header or a state.
type line struct {
	typ     string
	at      jsontext.Value
	ordinal jsontext.Value
	payload jsontext.Value
	state   bool // {"record_type":"state"}, of mid-2025
}

func readLine(v jsontext.Value) (l line) {
	for key, m := range v.Fields() {
		switch key {
		case "type":
			l.typ = m.Word()
		case "timestamp":
			l.at = m
		case "ordinal":
			l.ordinal = m
		case "payload":
			l.payload = m
		case "record_type":
			l.state = true
		}
	}
	if msg := l.payload.Get("msg"); l.typ == "event" && msg.IsObject() { // Every Code has an envelope around what Codex calls event_msg
		l.typ, l.payload = "event_msg", msg
	}
	return l
}

// rollout yields the records of a thread's file.
func (p *parser) rollout(r io.Reader, inner string) {
	p.inner = inner
	p.calls, p.prompts = map[string]string{}, map[uint64]bool{}
	for o, err := range jsontext.Objects(r, inner, p.problem) {
		if layer.IsContent(err) {
			p.problem(&transcript.Problem{Kind: "bad zstd", Reason: err.Error(), Origin: transcript.Origin{Inner: inner}})
			break
		}
		if err != nil {
			p.Fail(err)
			return
		}
		if p.line(o); p.Done() {
			return
		}
	}
	p.begin(nil)
}

// line yields the records of one line. Its event comes last, so that the conversation precedes its first event.
func (p *parser) line(o jsontext.Object) {
	l := readLine(o.Value)
	p.lend.Reset()
	e := p.lend.Event(transcript.Event{Verdict: transcript.Uncounted, Type: l.typ, Time: l.at.Time(), Origin: o.Origin, Seq: l.ordinal.Count()})
	if p.inherits && (e.Seq.N >= p.head.ownFrom.N || p.isOwn(l)) {
		p.inherits = false
		p.Hint(p.thread, hintOwn, strconv.FormatInt(o.Origin.Offset, 10), o.Origin)
	}
	switch {
	case !l.payload.Exists() && l.state:
		e.Kind, e.Type = transcript.KindLifecycle, "state"
	case !l.payload.Exists() && l.typ == "" && !o.Value.Get("role").Exists() && o.Value.Get("id").Exists():
		p.meta(e, o.Value)
		e.Type = "header"
	case !l.payload.Exists():
		p.item(e, o.Value)
	case l.typ == "response_item":
		p.item(e, l.payload)
		p.turns.add(e.Type, l.payload)
	case l.typ == "event_msg":
		if p.notice(e, o.Value, l.payload); e.Kind == "" {
			return
		}
	case l.typ == "session_meta":
		p.meta(e, l.payload)
	case l.typ == "turn_context":
		p.turn(e, l.payload)
	case l.typ == "compacted":
		e.Kind = transcript.KindCompaction
	case l.typ == "token_usage_record":
		e.Kind = transcript.KindLifecycle
		p.record(e, l.payload)
	case l.typ == "inter_agent_communication":
		e.Kind = transcript.KindNotice
	case bookkeepingTypes[l.typ]:
		e.Kind = transcript.KindLifecycle
	default:
		e.Kind = transcript.KindUnknown
	}
	if !l.payload.Exists() || l.typ != "response_item" && l.typ != "event_msg" {
		e.Parts[0].Text = p.lend.Text(func(dst []byte) []byte { return appendLine(dst, o.Value, l) })
	}
	p.begin(&e.Origin)
	e.Conversation = p.conversation
	p.Emit(e)
}

// isOwn reports whether a line belongs to a turn of the thread's own, or states its settings. In a subagent's file that the program has written anew the head
// says that own history begins behind all that was there then.
func (p *parser) isOwn(l line) bool {
	if turn := l.payload.Get("turn_id").Str(); format.TimeOfUUID(turn).Valid && format.TimeOfUUID(p.thread).Valid {
		return !precedes(turn, p.thread)
	}
	return l.payload.Get("type").Is("thread_settings_applied") && l.payload.Get("thread_id").Is(p.thread)
}

// bookkeepingTypes are the types of lines for the program's own bookkeeping.
var bookkeepingTypes = map[string]bool{
	"world_state": true, "inter_agent_communication_metadata": true, "retained_context": true, "security_risk_score": true,
	"realtime_item": true,
}

// turn records what a turn_context states about the requests that follow.
func (p *parser) turn(e *transcript.Event, payload jsontext.Value) {
	e.Kind = transcript.KindLifecycle
	var id, model string
	for key, m := range payload.Fields() {
		switch key {
		case "turn_id":
			id = m.Str()
		case "model":
			if m.Is(p.model) {
				model = p.model
			} else {
				model = m.Str()
			}
		case "effort":
			p.effort = m.Str()
		}
	}
	p.useModel(e, model)
	p.began(e, id)
	if value := p.turns.begin(id, e.Origin.Offset); value != "" {
		p.tier, p.answered = p.nextTier, false
		key := hintTurn
		if p.isContinuation() {
			key = hintPage
		}
		p.Hint(p.thread, key, value, e.Origin)
	}
}

// useModel records the model of the requests that follow.
func (p *parser) useModel(e *transcript.Event, model string) {
	p.begin(&e.Origin)
	if model != "" && model != p.model {
		p.model = model
		p.Emit(&transcript.Run{ID: p.thread, Model: model})
		p.Emit(&transcript.Conversation{ID: p.conversation, Run: p.thread, Model: model})
	}
}
