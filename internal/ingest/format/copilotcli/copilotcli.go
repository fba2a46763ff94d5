// Package copilotcli reads what GitHub's Copilot CLI keeps in ~/.copilot/session-state: <session>/events.jsonl with
// workspace.yaml, the plan, summaries and reports beside it, and <session>.jsonl of older versions; and session-store.db, with a row for
// each request.
//
// Sessions of before 0.0.342 (October 2025), in history-session-state, are read as the messages in them, which readers agree on.
//
// Producer: versions 0.0.420 to 1.0.34 and 1.0.95 were seen, of 1.0.67 to 1.0.91 only pieces; for session-store.db (schema 8,
// versions 1.0.73 to 1.0.91) the source is several readers of it, which agree. Checked in November 2026. Layout and counting:
// docs/formats/copilot-cli.md.
//
// Identity: a session is a run with one conversation, identified by the sessionId of its first session.start. Every
// line gives at least one row; the parts of an assistant.message (text, reasoning, tool requests) are events of their own.
// Lines are identified by their ids: a fork is a copy of events.jsonl in which only the session's id is another (forkSessionV1 in
// copilotcliSessionService.ts of VS Code; its vscode.metadata.json names the origin).
//
// Where readers of these files disagree: tokens are those of the requests in session.usage_record (from about 1.0.94 on) or
// in session-store.db, if these have all requests; else those of session.shutdown and, from about 1.0.94 on, of
// session.usage_checkpoint, one set of totals for each model. Both state the same tokens. In older versions each set counts
// from the last resume, so all sets are added; in newer ones each counts from the start of the session, so only its growth is
// added (usage.go tells them apart). outputTokens of messages are a part of the totals, so they are kept uncounted, also
// for sessions that never shut down. totalNanoAiu is the vendor's unit and not a cost in dollars.
//
// Saved output: lines that users of 1.0.13 to 1.0.86 have published show those of the session, with the same ids, without a
// session.start, among ephemeral ones, and a result that alone names the session.
package copilotcli

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return copilot{} }

type copilot struct{}

var (
	_ format.Placed        = copilot{}
	_ format.Splitter      = copilot{}
	_ format.UsageResolver = copilot{}
)

// Name returns "copilot-cli".
func (copilot) Name() string { return "copilot-cli" }

// Version counts changes of what Parse yields.
func (copilot) Version() int { return 13 }

// The roles of the files.
const (
	roleEvents     = "events"
	roleWorkspace  = "workspace" // workspace.yaml
	roleEditor     = "editor"    // vscode.metadata.json
	roleStore      = "store"     // session-store.db
	roleUsage      = "usage"     // the requests of one session, from session-store.db
	rolePlan       = "plan"
	roleCheckpoint = "checkpoint" // a summary, written when the session was compacted
	roleResearch   = "research"   // reports of /research
	roleFile       = "file"       // what the model keeps for the session
	roleEarly      = "early-session"
	roleOutput     = "output" // what "copilot -p --output-format json" printed
)

// Places returns where Copilot CLI keeps its files. Only the sessions are a root: configuration and tokens beside
// them are left alone.
func (copilot) Places() []format.Place {
	return format.Place{Name: "copilot-cli"}.At("~/.copilot", "$COPILOT_HOME")
}

// Parse yields the records of one file.
func (copilot) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in}
		p.reset()
		switch in.Role {
		case roleEvents:
			p.events()
		case roleWorkspace:
			p.workspace()
		case roleEditor:
			p.editor()
		case roleUsage:
			p.storedRequests()
		case roleEarly:
			p.early()
		case roleOutput:
			p.output()
		case rolePlan, roleCheckpoint, roleResearch, roleFile:
			p.product()
		}
	}
}

// Text returns the text of one part of an event.
func (copilot) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleWorkspace:
		return string(raw), nil
	case roleUsage:
		return "", nil
	case rolePlan, roleCheckpoint, roleResearch, roleFile:
		return format.LooseText(raw), nil
	}
	if role == roleEarly {
		return format.TextOf(role, raw, earlyText)
	}
	return format.TextOf(role, raw, pieceText)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session    string // native id; "" until a record needs it
	rank       int    // of the file; see rankOf
	hasTitle   bool
	child      bool // it works for another session
	model      string
	version    string
	toolNames  map[string]string // by call id
	requested  map[string]bool   // call ids that an assistant.message requested
	outputOf   map[string]int64  // output tokens emitted so far, by request
	totalsSeen int               // shutdowns and checkpoints so far

	order   string // of the session's output among others
	parts   int    // events of this line so far
	unnamed bool   // the output ends before a line that names its session

	lastTotals     map[string]modelTotals // those of the last shutdown or checkpoint, by model
	emittedIDs     map[string]bool        // shutdowns and checkpoints, by id
	outputSince    int64                  // output tokens that messages stated since the last totals
	messagesSince  bool                   // any message since the last totals
	hasCheckpoints bool                   // this version writes checkpoints, and so keeps its totals over a resume
}

// reset forgets what the lines so far said of calls and tokens.
func (p *parser) reset() {
	p.toolNames, p.requested, p.outputOf, p.emittedIDs = map[string]string{}, map[string]bool{}, map[string]int64{}, map[string]bool{}
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.session, pr)
}
