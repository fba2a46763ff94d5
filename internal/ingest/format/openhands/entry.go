package openhands

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entry is one event of either version with its members, looked up once.
type entry struct {
	value  jsontext.Value
	origin transcript.Origin

	id     string // by which copies of the event are recognised; "" if it has none
	number int64  // of version 0, -1 if it has none
	stamp  jsontext.Value
	at     transcript.Time
	source string
	kind   string // of version 1
	says   bool   // it is what the user said

	// of version 1
	message, thought, reasoning, thinking, item jsontext.Value
	action, observation                         jsontext.Value // in version 0 the names of both
	tool, call, response                        string
	toolCall, summary, extended                 jsontext.Value

	// of version 0
	args, content, extras, metadata, metrics jsontext.Value
	model                                    string
}

func readEntry(v jsontext.Value, at transcript.Origin) (e entry) {
	e.value, e.origin, e.number = v, at, -1
	var id jsontext.Value
	for key, f := range v.Fields() {
		switch key {
		case "id":
			id = f
		case "timestamp":
			e.stamp, e.at = f, f.Time()
		case "source":
			e.source = f.Word()
		case "kind":
			e.kind = f.Word()
		case "llm_message":
			e.message = f
		case "thought":
			e.thought = f
		case "reasoning_content":
			e.reasoning = f
		case "thinking_blocks":
			e.thinking = f
		case "responses_reasoning_item":
			e.item = f
		case "action":
			e.action = f
		case "observation":
			e.observation = f
		case "tool_name":
			e.tool = f.Word()
		case "tool_call_id":
			e.call = f.Str()
		case "tool_call":
			e.toolCall = f
		case "summary":
			e.summary = f
		case "extended_content":
			e.extended = f
		case "llm_response_id":
			e.response = f.Str()
		case "args":
			e.args = f
		case "content":
			e.content = f
		case "extras":
			e.extras = f
		case "tool_call_metadata":
			e.metadata = f
		case "llm_metrics":
			e.metrics = f
		}
	}
	e.identify(id)
	return e
}

// identify reads what identifies an event, and who says it. Events of version 0 are numbered in their conversation, so that the number and the time
// together identify one.
func (e *entry) identify(id jsontext.Value) {
	if e.isFirst() {
		e.tool, e.call = e.metadata.Get("function_name").Word(), e.metadata.Get("tool_call_id").Str()
		response := e.metadata.Get("model_response")
		e.response, e.model = response.Get("id").Str(), response.Get("model").Str()
		e.says = e.action.Is("message") && e.source == "user"
		n, ok := id.Int()
		if !ok || n < 0 {
			return
		}
		e.number = n
		if stamp := e.stamp.Str(); stamp != "" {
			e.id = strconv.FormatInt(n, 10) + "@" + stamp
		}
		return
	}
	e.id = id.Str()
	e.says = e.kind == "MessageEvent" && e.source == "user" && (e.message.Get("role").Is("user") || !e.message.Get("role").Exists())
}

// isFirst reports whether the event is of version 0, in which the action or observation is a name.
func (e *entry) isFirst() bool { return e.action.IsString() || e.observation.IsString() }

// title returns the title that a prompt gives to its conversation.
func (e *entry) title() string {
	switch {
	case !e.says:
		return ""
	case e.isFirst():
		return format.Title(e.args.Get("content").Str())
	}
	return format.Title(textOf(e.message.Get("content")))
}

// entry yields the records of an event.
func (p *parser) entry(e *entry) {
	if e.isFirst() {
		p.first(e)
		return
	}
	p.second(e)
}

// event returns an event for values of an entry, or for the whole. It is valid until the next entry. ending tells several events of one entry apart.
func (p *parser) event(e *entry, ending string, kind transcript.Kind, role, typ string, values ...jsontext.Value) *transcript.Event {
	ev := p.lend.Event(transcript.Event{Conversation: p.run, Kind: kind, Role: role, Type: typ, Time: e.at, Origin: e.origin})
	if e.id != "" {
		ev.ID, ev.Global, ev.Home = e.id+ending, true, p.home()
	}
	ev.Seq = transcript.Known(p.seq)
	if p.seq < 0 {
		ev.Seq = transcript.Count{}
	}
	for i, v := range values {
		switch part := p.part(e, v); {
		case i == 0:
			ev.Parts[0] = part
		case !isEmpty(v):
			ev.Parts = append(ev.Parts, part)
		}
	}
	if len(values) == 0 {
		ev.Parts[0] = p.part(e, e.value)
	}
	return ev
}

// home reports whether the file is the program's own, and no export.
func (p *parser) home() bool {
	return p.in.Role != roleTrajectory && !exportedName.MatchString(p.at.name)
}

// part returns the part for a value of an entry, or for the whole entry if the value is absent.
func (p *parser) part(e *entry, v jsontext.Value) transcript.Part {
	return p.lend.Part(e.value, v, appendText)
}

// uncounted yields a row for an entry that does not count.
func (p *parser) uncounted(e *entry, kind transcript.Kind, typ string, values ...jsontext.Value) {
	ev := p.event(e, "", kind, "", typ, values...)
	ev.Verdict = transcript.Uncounted
	p.Emit(ev)
}

// isEmpty reports whether a value is absent, null, blank, or a list or object without members.
func isEmpty(v jsontext.Value) bool {
	switch {
	case v.IsString():
		return v.IsBlank()
	case v.IsArray():
		return !v.HasItems()
	case v.IsObject():
		for range v.Fields() {
			return false
		}
		return true
	}
	return v.IsNull()
}
