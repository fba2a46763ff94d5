package continuedev

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document yields the records of a session.
func (p *parser) document() {
	p.id = format.Stem(p.in.Path)
	doc, at := p.Document(p.in.Reader, func(pr *transcript.Problem) {
		pr.Run = p.id
		p.Emit(pr)
	})
	if !doc.Exists() {
		return
	}
	p.doc, p.start = doc, at.Offset-doc.Offset()
	p.id = cmp.Or(doc.Get("sessionId").Str(), p.id)
	history := doc.Get("history")
	if !history.IsArray() { // an early version, of another layout
		p.Emit(&transcript.Run{ID: p.id, Named: true})
		p.uncountedRow(doc, transcript.KindUnknown, "", transcript.Time{})
		return
	}
	p.survey(history)
	p.emitSession(history)
	for n, item := range history.Numbered() {
		if p.Done() {
			return
		}
		p.item(item, n)
	}
	p.usage(history)
}

// survey notes which calls there are, and which have their result in a message of its own.
func (p *parser) survey(history jsontext.Value) {
	p.answered, p.calls = map[string]bool{}, map[string]call{}
	for item := range history.Items() {
		message := item.Get("message")
		if message.Get("role").Is("tool") {
			p.answered[callOf(message)] = true
		}
		for c := range message.Get("toolCalls").Items() {
			p.calls[c.Get("id").Text()] = call{name: c.Get("function", "name").Str()}
		}
		for state := range statesOf(item) {
			p.calls[state.Get("toolCallId").Text()] = call{state.Get("toolCall", "function", "name").Str(), state.Get("status").Str()}
		}
	}
	delete(p.answered, "")
}

// callOf returns the id of the call that a message answers.
func callOf(message jsontext.Value) string {
	return cmp.Or(message.Get("toolCallId").Text(), message.Get("tool_call_id").Text())
}

// newTitles are the titles of sessions that have none yet.
var newTitles = map[string]bool{"": true, "New Session": true, "Untitled Session": true}

// emitSession yields the run and its conversation. A session without messages does not count.
func (p *parser) emitSession(history jsontext.Value) {
	title, model, empty := p.doc.Get("title").Str(), "", true
	for item := range history.Items() {
		empty = false
		if newTitles[title] && item.Get("message", "role").Is("user") {
			title = firstText(item.Get("message", "content"))
		}
		if m, _ := modelOf(item); m != "" {
			model = m
		}
	}
	run := transcript.Run{
		ID: p.id, Rank: 1, Title: format.Title(title), Project: projectOf(p.doc.Get("workspaceDirectory").Str()),
		Model: cmp.Or(model, p.doc.Get("chatModelTitle").Str()), Named: empty,
	}
	mode := p.doc.Get("mode").Str()
	run.Attributes.Set("mode", mode)
	p.Emit(&run)
	if empty {
		p.uncountedRow(p.doc, transcript.KindLifecycle, "session", transcript.Time{})
		return
	}
	p.Emit(&transcript.Conversation{ID: conversation, Run: p.id, Title: run.Title, Project: run.Project, Model: run.Model, Mode: mode})
}

// modelOf returns the model that gave an answer, and its provider, from the last log of a prompt: its options name the model, and before
// them only its title in the settings does.
func modelOf(item jsontext.Value) (model, provider string) {
	for log := range item.Get("promptLogs").Items() {
		model = cmp.Or(log.Get("completionOptions", "model").Str(), log.Get("modelTitle").Str())
		provider = log.Get("modelProvider").Str()
	}
	return model, provider
}

// firstText returns the first text in the content of a message.
func firstText(content jsontext.Value) string {
	if content.IsString() {
		return content.Str()
	}
	for part := range content.Items() {
		if text := part.Get("text").Str(); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// list yields the records of the list of sessions.
func (p *parser) list() {
	const unknownRun = "continue"
	problem := func(pr *transcript.Problem) {
		pr.Run = unknownRun
		p.Emit(pr)
	}
	for o := range p.Each(jsontext.Elements(p.in.Reader, problem)) {
		v := o.Value
		p.id, p.start = cmp.Or(v.Get("sessionId").Text(), v.Get("session_id").Text()), o.Origin.Offset-v.Offset()
		if p.id == "" {
			p.Emit(&transcript.Problem{Run: unknownRun, Kind: "no session", Reason: "the element names no session", Origin: o.Origin})
			continue
		}
		created := timeOf(cmp.Or(v.Get("dateCreated"), v.Get("date_created")))
		dir := cmp.Or(v.Get("workspaceDirectory").Str(), v.Get("workspace_directory").Str())
		run := &transcript.Run{ID: p.id, Named: true, Project: projectOf(dir), Started: created}
		if title := v.Get("title").Str(); !newTitles[title] {
			run.Title = format.Title(title)
		}
		p.Emit(run)
		p.uncountedRow(v, transcript.KindLifecycle, "session", created)
	}
}

// timeOf reads a time: milliseconds or seconds since 1970, as a number or in a string, or as text.
func timeOf(v jsontext.Value) transcript.Time {
	number := v
	if v.IsString() {
		number = v.Inside()
	}
	if n, _, ok := strings.Cut(string(number.Raw()), "."); ok {
		if inner, err := jsontext.Parse([]byte(n)); err == nil {
			number = inner // seconds with decimals, of early versions
		}
	}
	if n, ok := number.Int(); ok {
		return timestamp.Epoch(n)
	}
	return v.Time()
}

// uncountedRow yields an uncounted row of the session.
func (p *parser) uncountedRow(v jsontext.Value, kind transcript.Kind, typ string, at transcript.Time) {
	p.lend.Reset()
	e := p.lend.Event(transcript.Event{Run: p.id, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Time: at, Origin: p.origin(v)})
	e.Parts[0].Text = p.lend.Text(func(dst []byte) []byte { return appendText(dst, v) })
	p.Emit(e)
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return transcript.Origin{Offset: p.start + v.Offset(), Length: int64(v.Len())}
}
