package opencode

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// exportHead matches how the output of "opencode export" begins, wherever it was saved: with the session's record.
var exportHead = lazyregexp.New(`^\s*\{\s*"info"\s*:\s*\{[^{}]*"id"\s*:\s*"ses_`)

func isExport(head []byte) bool {
	const enough = 512
	first := jsontext.TrimBOM(head)
	first = first[:min(len(first), enough)]
	return format.HasKeys(first, "info", "id") && exportHead.MatchString(string(first)) && (format.HasKeys(head, "directory") || format.HasKeys(head, "projectID") || format.HasKeys(head, "version"))
}

// export yields the records of an exported session: {info, messages: [{info, parts}]}, the same records with the same ids
// as in the tree.
func (p *parser) export() {
	root, whole := p.base, p.baseOrigin
	begin := func(v jsontext.Value) {
		p.base, p.baseOrigin = v, transcript.Origin{Offset: whole.Offset + jsontext.OffsetIn(root, v), Length: int64(v.Len())}
	}
	info := root.Get("info")
	if info.IsObject() {
		begin(info)
		p.session(info)
		p.described = info.Get("id").Text()
	}
	for item := range root.Get("messages").Items() {
		begin(item)
		p.exported(item, info)
	}
}

// exported yields the records of one message and its parts.
func (p *parser) exported(item, info jsontext.Value) {
	m := readMessage(item.Get("info"))
	if !m.value.IsObject() {
		p.Emit(&transcript.Problem{Run: info.Get("id").Text(), Kind: "not an object", Reason: "a message without info", Origin: p.baseOrigin})
		return
	}
	if m.session == "" {
		m.session = info.Get("id").Text()
	}
	m.origin = p.baseOrigin
	p.current, p.hasSteps = &m, false
	p.copied = isFork(info) && m.created.Valid && m.created.UnixMicro < info.Get("time", "created").MilliTime().UnixMicro
	p.message(m)
	for v := range item.Get("parts").Items() {
		t := readPart(v)
		if t.msg == "" {
			t.msg = m.id
		}
		if t.session == "" {
			t.session = m.session
		}
		if !t.at.Valid {
			t.at = idTime(t.id, m.created)
		}
		if !t.at.Valid {
			t.at = m.created
		}
		if t.msg == m.id {
			t.message = &m
		}
		p.part(t)
	}
	p.finishMessage()
	p.copied = false
}

// isFork reports whether a session began as a copy of another's messages.
func isFork(session jsontext.Value) bool {
	return session.Get("fork_session_id").Str() != "" || forkedTitle.MatchString(session.Get("title").Str())
}

// Emit passes a record on. What a fork has copied is history: in the export itself, since one file has both kinds.
func (p *parser) Emit(r transcript.Record) {
	if p.copied {
		switch r := r.(type) {
		case *transcript.Event:
			if r.Verdict == transcript.Counted {
				r.Verdict = transcript.CopiedHistory
			}
		case *transcript.Usage:
			r.Verdict = transcript.CopiedHistory
		}
	}
	p.Sink.Emit(r)
}
