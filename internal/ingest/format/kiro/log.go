package kiro

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// log yields the records of a session's log of the command line.
func (p *parser) log() {
	p.begin(format.Stem(p.in.Path), orderLog)
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		p.base, p.origin = o.Value, o.Origin
		p.logged(o.Value)
	}
	p.end()
}

// logged yields the events of one line.
func (p *parser) logged(v jsontext.Value) {
	kind, data := v.Get("kind").Word(), v.Get("data")
	b := &blocks{parser: p, kind: kind, id: data.Get("message_id").Str(), at: v.Get("timestamp").Time()}
	if n, ok := data.Get("meta", "timestamp").Int(); ok && n > 0 {
		b.at = timestamp.UnixSeconds(n)
	}
	switch kind {
	case "Prompt":
		b.prompt(data)
	case "AssistantMessage", "ToolResults":
		for block := range data.Get("content").Items() {
			b.block(block)
		}
	case "Compaction":
		if summary := data.Get("summary"); summary.IsString() && !summary.IsBlank() {
			b.emit(global(p.event(transcript.KindCompaction, "system", kind, summaryID(summary), summary)))
		}
	case "ResetTo", "CancelledPrompt", "Clear":
		p.aside(transcript.KindLifecycle, kind, b.at, v, nil)
		return
	default:
		p.aside(transcript.KindUnknown, kind, b.at, v, nil)
		return
	}
	if b.n == 0 {
		p.aside(transcript.KindNotice, kind, b.at, v, nil)
	}
}

// blocks are the blocks of one line while their events are made.
type blocks struct {
	*parser
	kind, id string
	model    string
	at       transcript.Time
	n, texts int // events and texts so far
}

func (b *blocks) emit(e *transcript.Event) {
	e.Time = b.at
	b.n++
	b.say(e)
}

// prompt yields a prompt, which is one event with all its texts and images, and what hooks added to it.
func (b *blocks) prompt(data jsontext.Value) {
	var e *transcript.Event
	id, images := b.promptID(data.Get("content")), 0
	if added := data.Get("meta", "additionalContext"); added.IsString() && !added.IsBlank() {
		b.emit(global(b.event(transcript.KindSystem, "system", "additionalContext", contextID(id), added)))
	}
	for block := range data.Get("content").Items() {
		text := block.Get("data")
		switch {
		case block.Get("kind").Is("image"):
			images++
		case !block.Get("kind").Is("text") || text.IsBlank():
		case e == nil:
			e = b.event(transcript.KindMessage, "user", b.kind, id, text)
			b.titled(text)
		default:
			e.Parts = append(e.Parts, b.part(text))
		}
	}
	if e == nil && images > 0 {
		e = b.event(transcript.KindMessage, "user", b.kind, id, data.Get("content"))
	}
	if e == nil {
		return
	}
	if images > 0 {
		e.Attributes.Set("images", images)
	}
	b.emit(global(e))
}

// promptID identifies a prompt by its first text, or else by the message.
func (b *blocks) promptID(content jsontext.Value) string {
	for block := range content.Items() {
		if text := block.Get("data"); block.Get("kind").Is("text") && !text.IsBlank() {
			return cmp.Or(promptID(b.at, text), b.id)
		}
	}
	return b.id
}

// numbered returns an id for something in the message.
func (b *blocks) numbered(suffix string) string {
	if b.id == "" {
		return ""
	}
	return b.id + "/" + suffix
}

// block yields the event of one block of an answer, or of the results of tools.
func (b *blocks) block(v jsontext.Value) {
	data := v.Get("data")
	switch typ := v.Get("kind").Word(); typ {
	case "text":
		if data.IsBlank() {
			return
		}
		role, id := "assistant", b.id
		if b.kind == "ToolResults" { // the user said it instead of allowing a call
			role = "user"
		}
		if b.texts++; b.texts > 1 {
			id = b.numbered(strconv.Itoa(b.texts))
		}
		e := b.event(transcript.KindMessage, role, typ, id, data)
		e.Model = b.model
		b.emit(global(e))
	case "thinking":
		b.model = data.Get("modelId").Str()
		text := data.Get("text")
		if text.IsBlank() {
			return
		}
		e := b.event(transcript.KindReasoning, "assistant", typ, b.numbered("thinking"), text)
		e.Model = b.model
		b.emit(global(e))
	case "toolUse":
		name, id, input := data.Get("name").Word(), data.Get("toolUseId").Str(), data.Get("input")
		e := b.event(transcript.KindToolCall, "assistant", typ, callEvent(b.id, id), v)
		e.Model = b.model
		e.Parts[0].Call = &transcript.Call{ID: b.callID(id, name), Name: name, Input: int64(input.Len()), Paths: pathsOf(input)}
		b.emit(global(e))
	case "toolResult":
		call := data.Get("toolUseId").Str()
		e := b.event(transcript.KindToolResult, "tool", typ, resultID(call), v)
		e.Parts[0].Result = &transcript.Result{Call: call, Name: b.tools[call], Output: int64(data.Get("content").Len()), Failed: failedOf(data.Get("status"))}
		b.emit(global(e))
	case "image":
		b.n++
		b.aside(transcript.KindNotice, typ, b.at, v, nil)
	default:
		b.n++
		b.aside(transcript.KindUnknown, typ, b.at, v, nil)
	}
}
