package chibi

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parseOldest reads context.json, the single document of a context before there were logs: name, times and messages as in
// the model's API. Its entries have no times.
func parseOldest(in format.Input, out *emitter) {
	run := transcript.Run{ID: out.run, Local: true}
	v, offset := object(in, out)
	run.Started, run.Ended = readTime(v.Get("created_at")), readTime(v.Get("updated_at"))
	if run.Started.Valid {
		run.Anchor = anchor(run.Started, "")
	}
	out.Emit(&run)
	out.Emit(&transcript.Conversation{
		Run: out.run, Shared: true, Order: order(in), Started: run.Started, Ended: run.Ended,
		Attributes: transcript.Attributes{"role": in.Role},
	})
	ids := identity{}
	for m := range v.Get("messages").Items() {
		at := transcript.Origin{Offset: offset + jsontext.OffsetIn(v, m), Length: int64(m.Len())}
		if !m.IsObject() {
			out.problem(&transcript.Problem{Kind: "not an object", Reason: "a message of another type", Origin: at})
			continue
		}
		if !out.Emit(message(m, out.run, at, ids)) {
			return
		}
	}
}

// message returns the event of one message.
func message(m jsontext.Value, run string, at transcript.Origin, ids identity) *transcript.Event {
	parts := messageParts(m)
	e := entry{id: m.Get("id").Text(), role: m.Get("role").Str(), kind: "message"}
	if e.id == "" {
		e.id = m.Get("_id").Text()
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	e.text = strings.Join(texts, "\n")
	role := e.role
	if role == "agent" {
		role = "assistant"
	}
	return &transcript.Event{
		Run: run, ID: ids.id(&e), Kind: parts[0].Kind, Role: role, Type: e.role, Origin: at, Parts: parts,
	}
}

// messageParts splits a message into its text, or a tool's result, and the calls it makes.
func messageParts(m jsontext.Value) []transcript.Part {
	first := transcript.Part{Kind: transcript.KindMessage}
	var text []byte
	var calls []transcript.Part
	for key, value := range m.Fields() {
		switch key {
		case "id", "_id", "role", "name", "tool_call_id":
		case "tool_calls":
			for c := range value.Items() {
				calls = append(calls, callPart(c))
			}
		default:
			text = jsontext.AppendStrings(text, value)
		}
	}
	first.Text = string(text)
	if m.Get("role").Str() == "tool" {
		first.Kind = transcript.KindToolResult
		first.Result = &transcript.Result{
			Call: m.Get("tool_call_id").Str(), Name: m.Get("name").Str(), Output: int64(len(m.Get("content").Text())),
		}
	}
	if first.Text == "" && first.Result == nil && len(calls) > 0 {
		return calls
	}
	return append([]transcript.Part{first}, calls...)
}

func callPart(c jsontext.Value) transcript.Part {
	name, input := c.Get("function", "name").Str(), c.Get("function", "arguments").Text()
	return transcript.Part{
		Kind: transcript.KindToolCall, Role: "assistant", Text: joined(name, input),
		Call: &transcript.Call{ID: c.Get("id").Str(), Name: name, Input: int64(len(input)), Paths: paths(input)},
	}
}
