// Package geminicli reads the sessions of Google's Gemini CLI below ~/.gemini/tmp/<project>: chats/session-*.json (one
// document, rewritten with every change; until about version 0.40) and chats/session-*.jsonl (a log), subagents in
// chats/<session>/, and logs.json, the prompts. Versions 0.1 to 0.40 were seen; checked in November 2026 against
// chatRecordingService.ts of the program. Layout and counting: docs/formats/gemini-cli.md.
//
// What it promises: a run and a conversation are a session, known by its sessionId; the document that a migration
// leaves beside the log is the same one, and so are earlier states of either. A message is written again whenever
// it changes: what stands last counts, known by session, message and place in it. Messages that were rewound or
// replaced stay: they were asked and answered.
//
// Where readers of these files disagree: tokens are those of one request, not a running total, so nothing is
// subtracted from one message to the next; cached ones are inside of input, thoughts beside output, and what tools
// added to the prompt beside input.
package geminicli

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return gemini{} }

type gemini struct{}

var _ format.Placed = gemini{}

// Name returns "gemini-cli".
func (gemini) Name() string { return "gemini-cli" }

// Version counts changes of what Parse yields.
func (gemini) Version() int { return 3 }

// The roles of the files.
const (
	roleDocument = "session"
	roleLog      = "session-log"
	rolePrompts  = "prompts" // logs.json
)

// Places says where the program keeps its files. GEMINI_CLI_HOME replaces the home directory, not ~/.gemini.
func (gemini) Places() []format.Place {
	place := format.Place{Name: "gemini-cli", Deletes: "sessions that are older, or more, than general.sessionRetention allows are deleted at start-up"}
	return place.At("~/.gemini/tmp", "$GEMINI_CLI_HOME/.gemini/tmp")
}

// Parse yields the records of one file.
func (gemini) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in}
		switch in.Role {
		case roleDocument:
			p.document()
		case roleLog:
			p.log()
		case rolePrompts:
			p.prompts()
		}
	}
}

// Text gives the text of one part of an event.
func (gemini) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, pieceText)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session  string // native id; "" until a record needs it
	head     header
	titled   bool
	model    string
	answers  map[string]answered // of the model so far, by message
	spent    map[string]bool     // messages that stated tokens
	pieces   map[string][]string // suffixes of the ids of a message's events, as it stands now
	requests []*transcript.Usage // of a document, as its last messages tell them
	byKey    map[string]*transcript.Usage
	at       transcript.Origin // of whole
	whole    format.Value      // the document or line that values are cut from
}

// problem reports what could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Run, pr.Alone = p.session, true
	p.Emit(pr)
}

// origin is the place of a value in the file.
func (p *parser) origin(v format.Value) transcript.Origin {
	o := p.at
	o.Offset += format.OffsetIn(p.whole, v)
	o.Length = int64(v.Len())
	return o
}
