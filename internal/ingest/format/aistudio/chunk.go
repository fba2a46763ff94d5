package aistudio

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// begin starts an event whose range is v. All but the first of a chunk have a place in it.
func (p *parser) begin(v jsontext.Value, place string, kind transcript.Kind, role string) {
	p.lend.Reset()
	p.parts = p.parts[:0]
	id := p.id
	if place != "" {
		id += "/" + place
	}
	p.event = transcript.Event{Conversation: p.run, ID: id, Global: true, Home: !p.taken, Kind: kind, Role: role, Time: p.time, Origin: p.origin(v)}
	if role == "assistant" {
		p.event.Model = p.model
	}
}

// add appends a part to the event, whose range is whole.
func (p *parser) add(whole, piece jsontext.Value) *transcript.Part {
	p.parts = append(p.parts, p.lend.Part(whole, piece, appendText))
	return &p.parts[len(p.parts)-1]
}

func (p *parser) emit() {
	p.event.Attributes, p.attributes = p.attributes, nil
	p.event.Parts = p.parts
	p.Emit(&p.event)
}

// said yields the events of a chunk.
func (p *parser) said() {
	c := p.chunk
	p.model = cmp.Or(modelOf(c.Get("model")), p.last)
	p.searched(c.Get("grounding"))
	p.attributes = attributesOf(c)
	p.text(c)
	p.tools(c, "")
	for i, part := range c.Get("parts").Numbered() {
		p.tools(part, strconv.Itoa(i))
	}
	if failed := c.Get("errorMessage"); !failed.IsBlank() {
		p.begin(c, "error", transcript.KindError, "system")
		p.event.Type, p.event.Verdict = "errorMessage", transcript.Uncounted
		p.add(c, failed)
		p.emit()
	}
}

// attributesOf returns what a chunk states beside what was said.
func attributesOf(c jsontext.Value) (a transcript.Attributes) {
	if n := c.Get("tokenCount").Tokens(); n.Known {
		a.Set("tokens", n.N)
	}
	if reason := c.Get("finishReason").Word(); reason != "STOP" {
		a.Set("finish_reason", reason)
	}
	if c.Get("isEdited").Bool() == transcript.Yes {
		a.Set("edited", true)
	}
	a.Set("branch_of", c.Get("branchParent", "displayName").Str())
	a.Set("branch_prompt", c.Get("branchParent", "promptId").Str())
	return a
}

// isThought reports whether a chunk is reasoning: it says so, or all of its parts with text do.
func isThought(c jsontext.Value) bool {
	thoughts, others := 0, 0
	for part := range c.Get("parts").Items() {
		switch {
		case part.Get("text").IsBlank():
		case part.Get("thought").Bool() == transcript.Yes:
			thoughts++
		default:
			others++
		}
	}
	return c.Get("isThought").Bool() == transcript.Yes || thoughts > 0 && others == 0
}

// text yields what was said in a chunk, with a part for each file. The text repeats the parts, unless there is none. A chunk that is
// only a file is not counted.
func (p *parser) text(c jsontext.Value) {
	user := c.Get("role").Is("user")
	p.begin(c, "", transcript.KindMessage, "assistant")
	e := &p.event
	e.Type = c.Get("role").Word()
	switch {
	case user:
		p.begin(c, "", transcript.KindMessage, "user")
		e.Type = "user"
	case isThought(c):
		e.Kind, e.Type = transcript.KindReasoning, "thought"
	case e.Type != "model":
		e.Kind, e.Role = transcript.KindUnknown, "system"
	}
	if text := c.Get("text"); !text.IsBlank() {
		p.add(c, text)
	} else {
		for part := range c.Get("parts").Items() {
			if !part.Get("text").IsBlank() {
				p.add(c, part.Get("text"))
			}
		}
	}
	if len(p.parts) == 0 {
		e.Verdict = transcript.Uncounted
	}
	for key, f := range c.Fields() {
		if isFile(key) {
			p.file(c, f)
		}
	}
	for part := range c.Get("parts").Items() {
		p.file(c, part.First("inlineData", "fileData"))
	}
	if len(p.parts) > 0 {
		p.emit()
	}
}

// file adds a file of a chunk. Of one without a name there is only a part if the chunk has nothing else.
func (p *parser) file(c, f jsontext.Value) {
	if f.IsNull() {
		return
	}
	if part := p.add(c, f); part.Text == "" && len(p.parts) > 1 {
		p.parts = p.parts[:len(p.parts)-1]
	}
}

// searched yields a search of the web, with its queries, and what it found.
func (p *parser) searched(v jsontext.Value) {
	queries, found := v.Get("webSearchQueries"), v.Get("groundingSources").HasItems() || v.Get("corroborationSegments").HasItems()
	const name = "google_search"
	call := ""
	if queries.HasItems() {
		call = p.callID()
		p.begin(v, "search", transcript.KindToolCall, "assistant")
		p.event.Type = "grounding"
		p.add(v, queries).Call = &transcript.Call{ID: call, Name: name, Input: int64(queries.Len())}
		p.emit()
	}
	if found {
		p.begin(v, "found", transcript.KindToolResult, "tool")
		p.event.Type = "grounding"
		p.add(v, v).Result = &transcript.Result{Call: call, Name: name, Output: int64(v.Len())}
		p.emit()
	}
}

// callID returns an id for a call. Calls have none of their own.
func (p *parser) callID() string {
	p.calls++
	return "#" + strconv.Itoa(p.calls)
}

// tools yields the call that a chunk, or a part of one, has, and the result, which follows the call.
func (p *parser) tools(v jsontext.Value, place string) {
	for _, key := range []string{"executableCode", "functionCall"} {
		if call := v.Get(key); call.IsObject() {
			p.begin(call, key+place, transcript.KindToolCall, "assistant")
			p.event.Type = key
			part := p.add(call, call)
			part.Call = &transcript.Call{ID: p.callID(), Name: nameOf(call), Input: int64(call.Len())}
			p.emit()
		}
	}
	for _, key := range []string{"codeExecutionResult", "functionResponse"} {
		if result := v.Get(key); result.IsObject() {
			p.begin(result, key+place, transcript.KindToolResult, "tool")
			p.event.Type = key
			r := &transcript.Result{Name: nameOf(result), Status: result.Get("outcome").Word(), Output: int64(result.Len())}
			if p.calls > 0 {
				r.Call = "#" + strconv.Itoa(p.calls)
			}
			switch r.Status {
			case "":
			case "OUTCOME_OK":
				r.Failed = transcript.No
			case "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED":
				r.Failed = transcript.Yes
			}
			p.add(result, result).Result = r
			p.emit()
		}
	}
}

// nameOf returns the name of a tool. Code is run by one that is not named.
func nameOf(v jsontext.Value) string { return cmp.Or(v.Get("name").Str(), "code_execution") }
