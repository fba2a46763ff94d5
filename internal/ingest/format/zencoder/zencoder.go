// Package zencoder reads the sessions of Zencoder's command line program: ~/.zencoder/sessions/<id>.jsonl, with a header and then a message per line.
//
// Producer: closed. Checked in December 2026 against the reader that its maker has written (kenn-io/agentsview, internal/parser/zencoder.go and its
// tests, of March 2026). Layout and counting: docs/formats/zencoder.md.
//
// Identity: a session is a run with one conversation; its id is in the header and in the file's name. Messages have no ids: they are identified by
// their time, which has milliseconds, role and content, so that what a continuation may repeat counts once.
//
// Usage: no tokens are known to be stated.
package zencoder

import (
	"cmp"
	"iter"
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return zencoder{} }

type zencoder struct{}

var _ format.Placed = zencoder{}

// Name returns "zencoder".
func (zencoder) Name() string { return "zencoder" }

// Version counts changes of what Parse yields.
func (zencoder) Version() int { return 1 }

const roleSession = "session"

// Places returns where the program keeps its sessions.
func (zencoder) Places() []format.Place {
	return []format.Place{{Name: "zencoder", Path: "~/.zencoder/sessions"}}
}

// sessionFile matches the path of a session in the program's own directory.
var sessionFile = lazyregexp.New(`(?:^|/)\.zencoder/sessions/[^/]+\.jsonl$`)

// Detect claims sessions by their place, and elsewhere by their header.
func (zencoder) Detect(h format.Head) format.Claim {
	c := format.Claim{Role: roleSession, Log: true}
	switch {
	case sessionFile.MatchString(h.Path):
		c.Strength, c.Root = format.Certain, path.Dir(h.Path)
	case path.Ext(h.Path) == ".jsonl" && hasHeader(h.Bytes):
		c.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return c
}

// hasHeader reports whether the first object in a head is a header.
func hasHeader(head []byte) bool {
	for line, whole := range format.ObjectLines(head) {
		if v := format.LineStart(line, whole); v.Exists() {
			return isHeader(v) && v.Get("creationReason").IsString() && v.Get("createdAt").IsString()
		}
	}
	return false
}

// isHeader reports whether a line is a header: it has no role.
func isHeader(v jsontext.Value) bool { return v.Get("id").IsString() && !v.Get("role").Exists() }

// Parse yields the records of one session.
func (zencoder) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendText}, names: map[string]string{}}
		p.Session = cmp.Or(format.Stem(in.Path), path.Base(in.Path))
		p.EachRow(in.Reader, p.line)
		if p.Begun && !p.Done() {
			p.emitRun()
		}
	}
}

// Text returns the text of one part of an event.
func (zencoder) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a session", raw, jsontext.Appended(appendText))
}

// appendText appends the text of a line or a block.
func appendText(dst []byte, v jsontext.Value) []byte {
	if v.Get("type").Is("tool-result") {
		return jsontext.AppendTextAndNumbers(dst, v.Get("content"), visit)
	}
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "role", "tag", "createdAt", "toolCallId", "provider", "subtype", "signature":
		return dst, true
	case "input":
		return jsontext.AppendScalars(dst, v), true
	}
	return dst, v.IsDataURL() || v.IsBase64()
}
