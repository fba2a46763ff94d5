// Package geminicli reads the sessions of Google's Gemini CLI below ~/.gemini/tmp/<project>: chats/session-*.json (one
// document, rewritten with every change; until about version 0.40) and chats/session-*.jsonl (a log), subagents in
// chats/<session>/, and logs.json, the prompts; plans, long outputs of tools, chats that the user has saved and commands that they have run;
// and what the program has printed with -o stream-json or -o json.
//
// Producer: versions 0.1 to 0.60 were seen; checked in November 2026 against chatRecordingService.ts of the program, and
// for its output nonInteractiveCli.ts, stream-json-formatter.ts and uiTelemetry.ts. docs/formats/gemini-cli.md describes
// layout and counting.
//
// A run and its conversation are a session, identified by its sessionId. The document that a migration leaves beside the
// log is the same session, and so are earlier states of either. The program writes a message again whenever it changes: the
// last version counts, identified by session, message and place in it. Messages that were rewound or replaced remain: they
// were requested and answered.
//
// Where readers of these files disagree: token counts are those of one request, not a running total, so nothing is
// subtracted between messages. Cached tokens are part of input; thoughts are not part of output, and what tools added to
// the prompt is not part of input. The totals in the output are those of one run of the program, also of a resumed one.
//
// Saved output names its lines by the time at which it begins, since it has no ids. It is a copy where a file of the
// session has messages.
package geminicli

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return gemini{} }

type gemini struct{}

var (
	_ format.Placed   = gemini{}
	_ format.Resolver = gemini{}
)

// Name returns "gemini-cli".
func (gemini) Name() string { return "gemini-cli" }

// Version counts changes of what Parse yields.
func (gemini) Version() int { return 8 }

// The roles of the files.
const (
	roleDocument   = "session"
	roleLog        = "session-log"
	rolePrompts    = "prompts" // logs.json
	rolePlan       = "plan"
	roleToolOutput = "tool-output"
	roleSaved      = "checkpoint" // what /chat save has saved
	roleShell      = "shell_history"
	roleStream     = "stream" // what "gemini -o stream-json" prints
	roleOutput     = "output" // what "gemini -o json" prints
)

// Places returns the directories where the program keeps its files. GEMINI_CLI_HOME replaces the home directory, not
// ~/.gemini.
func (gemini) Places() []format.Place {
	place := format.Place{Name: "gemini-cli", Deletes: "sessions that are older, or more, than general.sessionRetention allows are deleted at start-up"}
	return append(place.At("~/.gemini/tmp", "$GEMINI_CLI_HOME/.gemini/tmp"),
		format.Place{Name: "tabnine", Path: "~/.tabnine/agent/tmp", Deletes: place.Deletes})
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
		case rolePlan, roleToolOutput, roleShell:
			p.text()
		case roleSaved:
			p.saved()
		case roleStream:
			p.stream()
		case roleOutput:
			p.output()
		}
	}
}

// Text returns the text of one part of an event.
func (gemini) Text(role string, raw []byte, _ int) (string, error) {
	switch role {
	case roleStream:
		return linesText(raw), nil
	case roleOutput:
		return format.TextOf(role, raw, streamText)
	case rolePlan, roleToolOutput, roleShell:
		return format.LooseText(raw), nil
	case roleSaved:
		return format.TextOf(role, raw, savedText)
	}
	return format.TextOf(role, raw, pieceText)
}

// parser parses one file.
type parser struct {
	in format.Input
	format.Sink

	session   string // native id; "" until a record needs it
	head      header
	hasTitle  bool
	model     string
	answers   map[string]answerMeta // the model's answers so far, by message
	hasTokens map[string]bool       // messages that stated tokens
	suffixes  map[string][]string   // suffixes of the event ids of each message's last version
	requests  []*transcript.Usage   // of a document, as its last messages state them
	byKey     map[string]*transcript.Usage
	out       stream
	at        transcript.Origin // origin of whole
	whole     jsontext.Value    // the document or line that values are cut from
}

// problem yields a problem of the session.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Run, pr.Alone = p.session, true
	p.Emit(pr)
}

// origin returns the place of a value in the file.
func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return jsontext.OriginIn(p.at, p.whole, v)
}
