package vibe

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// log yields the records of a messages.jsonl.
func (p *parser) log() {
	first := true
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		if first {
			first = false
			p.emitRun(transcript.Conversation{})
			p.parentLink(o.Origin)
		}
		p.message(readMessage(o.Value, o.Origin))
	}
}

// document yields the records of a session in one document: its metadata, then its messages.
func (p *parser) document() {
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	messages := doc.Get("messages")
	if !doc.IsObject() || !messages.IsArray() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no list of messages", Origin: at})
		return
	}
	p.emitRun(transcript.Conversation{})
	if v := doc.Get("metadata"); v.IsObject() {
		p.metadata(v, jsontext.OriginIn(at, doc, v))
	}
	for v := range messages.Items() {
		origin := jsontext.OriginIn(at, doc, v)
		if p.Done() {
			return
		}
		if !v.IsObject() {
			p.problem(&transcript.Problem{Kind: "not a message", Reason: "a JSON value of another type", Origin: origin})
			continue
		}
		p.message(readMessage(v, origin))
	}
}
