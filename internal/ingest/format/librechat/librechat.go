// Package librechat reads conversations that users export from LibreChat as JSON, one per file.
//
// Producer: checked in December 2026 against the function that exports a conversation and the one that builds its tree, the schema of messages, the
// types of their content, what counts an answer's tokens, the program's own importer with its samples, and what forks a conversation. Layout and
// counting: docs/formats/librechat.md.
//
// Identity: a conversation and a message have ids. Several exports of a conversation are joined: of an edited message the newest counts. A fork copies
// messages under new ids, and says nowhere of what.
//
// Usage: an answer states the tokens of its output, and nothing of its input. It is identified by its time, which forks and imports keep.
package librechat

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return libreChat{} }

type libreChat struct{}

// Name returns "librechat-export".
func (libreChat) Name() string { return "librechat-export" }

// Version counts changes of what Parse yields.
func (libreChat) Version() int { return 1 }

const roleExport = "export"

// Parse yields the records of one file.
func (libreChat) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}}
		problem := func(pr *transcript.Problem) {
			pr.Run = p.id
			p.Emit(pr)
		}
		for o := range p.Each(jsontext.Elements(in.Reader, problem)) {
			p.at, p.base = o.Origin, o.Value
			p.conversation(o.Value)
		}
	}
}

// Text returns the text of one part of an event.
func (libreChat) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	lend format.Lender

	at   transcript.Origin // of base
	base jsontext.Value    // the document

	id     string // of the conversation
	before string // id of the message before
}

// origin returns the place of a value in the document.
func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return jsontext.OriginIn(p.at, p.base, v)
}
