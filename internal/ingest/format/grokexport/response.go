package grokexport

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// begin starts an event whose range is v. All but the message itself are named after their place in the response.
func (p *parser) begin(v jsontext.Value, place string, kind transcript.Kind, role string) {
	p.lend.Reset()
	p.parts = p.parts[:0]
	id := p.node.key
	if place != "" {
		id += "/" + place
	}
	p.event = transcript.Event{Conversation: p.id, ID: id, Kind: kind, Role: role, Time: p.node.at, Origin: p.origin(v), Model: p.node.model}
}

// add appends a part to the event, whose range is whole.
func (p *parser) add(whole, piece jsontext.Value) *transcript.Part {
	p.parts = append(p.parts, p.lend.Part(whole, piece, appendText))
	return &p.parts[len(p.parts)-1]
}

// emit yields the event.
func (p *parser) emit() {
	a := &p.event.Attributes
	a.Set("parent", p.parent)
	p.parent = ""
	if p.node.hidden {
		a.Set("off_path", true)
	}
	p.event.Parts = p.parts
	p.Emit(&p.event)
}

// response yields the events of one response.
func (p *parser) response() {
	v := p.node.v
	if !p.node.human {
		clear(p.called)
		p.reasoning(v)
		for i, step := range v.Get("steps").Numbered() {
			if p.Done() {
				return
			}
			p.step(step, "step"+strconv.Itoa(i))
		}
	}
	p.message(v)
}

// message yields what was asked or answered, with parts for what else it is made of: files, pages, cards.
func (p *parser) message(v jsontext.Value) {
	p.begin(v, "", transcript.KindMessage, "assistant")
	e := &p.event
	e.Type = v.Get("sender").Word()
	if p.node.human {
		e.Role = "user"
	}
	text := p.lend.Text(func(b []byte) []byte { return appendText(b, v) })
	p.parts = append(p.parts, transcript.Part{Text: text})
	for _, key := range []string{"file_attachments", "cited_web_search_results", "web_search_results", "card_attachments_json", "webpage_urls"} {
		if list := v.Get(key); list.HasItems() {
			if part := p.add(v, list); part.Text == "" {
				p.parts = p.parts[:len(p.parts)-1]
			} else if key != "file_attachments" {
				part.Kind = transcript.KindNotice
			}
		}
	}
	if text == "" && !v.Get("generated_image_urls").HasItems() {
		e.Verdict = transcript.Uncounted
	}
	e.Attributes.Set("error", v.Get("error").Str())
	if chosen := v.Get("model").Word(); chosen != e.Model && !p.node.human {
		e.Attributes.Set("chosen_model", chosen)
	}
	e.Attributes.Set("query_type", v.Get("query_type").Word())
	if v.Get("partial").Bool() == transcript.Yes {
		e.Attributes.Set("partial", true)
	}
	p.emit()
}

// reasoning yields the traces of an answer.
func (p *parser) reasoning(v jsontext.Value) {
	p.traces, p.effort = p.traces[:0], minEffort
	at := timeOf(v.Get("thinking_start_time"))
	p.trace(v.Get("thinking_trace"), "trace", at, "thinking_trace", "")
	for i, agent := range v.Get("agent_thinking_traces").Numbered() {
		p.trace(agent.Get("thinking_trace"), "agent"+strconv.Itoa(i), at, "agent_thinking_traces", format.ShortID(agent.Get("agent_id").Text()))
	}
}

// trace yields a whole reasoning, unless another one is the same.
func (p *parser) trace(v jsontext.Value, place string, at transcript.Time, typ, agent string) {
	for _, t := range p.traces {
		if bytes.Equal(t.text.Body(), v.Body()) {
			return
		}
	}
	if len(p.traces) < maxTraces && !v.IsBlank() {
		p.traces = append(p.traces, trace{text: v})
		p.effort += maxEffort * v.Len()
	}
	p.marked(v, place, at, typ, agent)
}

// How much traces are searched for what is not in them: these many traces, each so often, or so many bytes.
const (
	maxTraces = 16
	maxEffort = 32
	minEffort = 1 << 20
)

// isRead reports whether a text stands word for word in a whole reasoning, behind what was found there before.
func (p *parser) isRead(text jsontext.Value) bool {
	part := bytes.TrimSpace(text.Body())
	for i := range p.traces {
		t := &p.traces[i]
		rest := t.text.Body()[t.read:]
		if len(part) == 0 || p.effort <= 0 {
			return false
		}
		if at := bytes.Index(rest, part); at >= 0 {
			t.read += at + len(part)
			return true
		}
		p.effort -= len(rest)
	}
	return false
}

// marked yields a text of the model, in which calls of tools are marked up: an event for each, and for the text between them.
func (p *parser) marked(v jsontext.Value, place string, at transcript.Time, typ, agent string) {
	if v.IsBlank() {
		return
	}
	n := 0
	for piece := range pieces(v.Body()) {
		own := place
		if n > 0 {
			own += "/" + strconv.Itoa(n)
		}
		n++
		p.piece(v, piece, own, at, typ)
		if p.event.Kind == "" {
			continue
		}
		p.event.Attributes.Set("agent", agent)
		p.emit()
	}
}

// piece prepares the event of a piece of a text. Its kind is "" if it is a call that was told before.
func (p *parser) piece(v jsontext.Value, c piece, place string, at transcript.Time, typ string) {
	p.begin(v, place, transcript.KindReasoning, "assistant")
	e := &p.event
	raw := v.Raw()
	if c.from > 0 || c.to < len(v.Body()) || c.call {
		raw = v.Body()[c.from:c.to]
		e.Origin.Offset += int64(1 + c.from)
		e.Origin.Length = int64(len(raw))
	}
	e.Type, e.Time = typ, cmp.Or(at, e.Time)
	part := transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendRaw(b, raw) })}
	switch {
	case c.call:
		card := unquote(raw)
		id, name := p.callID(field(card, "tool_usage_card_id")), field(card, "tool_name")
		e.Kind = transcript.KindToolCall
		if p.called[id] != "" {
			e.Kind = ""
			return
		}
		p.called[id] = cmp.Or(name, "tool")
		part.Call = &transcript.Call{ID: id, Name: format.ShortID(name), Input: int64(len(field(card, "tool_args")))}
	case typ == "raw_function_result":
		e.Kind, e.Role = transcript.KindToolResult, "tool"
		part.Result = &transcript.Result{Output: int64(len(raw))}
	}
	p.parts = append(p.parts, part)
}

// callID returns the id of a call in the conversation.
func (p *parser) callID(own string) string {
	switch {
	case own == "":
		p.calls++
		return "#" + strconv.Itoa(p.calls)
	case format.IsUUID(own):
		return own
	}
	return p.node.key + "/" + format.ShortID(own)
}

// found are the lists of a step with what tools returned.
func found(key string) bool {
	switch key {
	case "web_search_results", "rag_results", "connector_search_results", "collection_search_results", "xposts":
		return true
	}
	return false
}

// step yields what an answer thought, asked and found in one step.
func (p *parser) step(step jsontext.Value, place string) {
	for tag, text := range step.Get("tagged_text").Fields() {
		if !p.isRead(text) {
			p.marked(text, place+"/"+format.ShortID(tag), transcript.Time{}, format.ShortID(tag), "")
		}
	}
	for i, card := range step.Get("tool_usage_cards").Numbered() {
		p.card(card, place+"/call"+strconv.Itoa(i))
	}
	results := step.Get("tool_usage_results")
	for i, r := range results.Numbered() {
		p.begin(r, place+"/result"+strconv.Itoa(i), transcript.KindToolResult, "tool")
		p.event.Type = "tool_usage_results"
		result := &transcript.Result{Output: int64(r.Len())}
		if id := r.Get("tool_usage_card_id").Text(); id != "" {
			result.Call = p.callID(id)
			result.Name = p.called[result.Call]
		}
		p.add(r, r).Result = result
		p.emit()
	}
	for key, list := range step.Fields() {
		if !found(key) || !list.HasItems() || p.Done() {
			continue
		}
		p.begin(list, place+"/"+key, transcript.KindToolResult, "tool")
		p.event.Type = key
		if results.HasItems() { // which have them already
			p.event.Verdict = transcript.Uncounted
		}
		p.add(list, list).Result = &transcript.Result{Output: int64(list.Len())}
		p.emit()
	}
}

// card yields a call that a step has as an object: {"tool_usage_card_id":ID,"tool":{NAME:{"args":INPUT}}}.
func (p *parser) card(card jsontext.Value, place string) {
	if !card.IsObject() {
		return
	}
	id := p.callID(card.Get("tool_usage_card_id").Text())
	if p.called[id] != "" {
		return
	}
	name, input := "", card.Get("tool")
	for key, tool := range input.Fields() {
		name, input = key, tool
		if args := tool.Get("args"); args.Exists() {
			input = args
		}
		break
	}
	p.called[id] = cmp.Or(name, "tool")
	p.begin(card, place, transcript.KindToolCall, "assistant")
	p.event.Type = "tool_usage_cards"
	p.add(card, input).Call = &transcript.Call{ID: id, Name: format.ShortID(name), Input: int64(input.Len())}
	p.emit()
}
