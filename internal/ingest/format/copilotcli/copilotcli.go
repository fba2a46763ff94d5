// Package copilotcli reads what GitHub's Copilot CLI leaves in ~/.copilot/session-state: <session>/events.jsonl with
// workspace.yaml beside it, and <session>.jsonl of older versions. Versions 0.0.420 to 1.0.34 and 1.0.95 were seen, of 1.0.67 to 1.0.91 pieces; of
// session-store.db, with a row for each request (schema 8, versions 1.0.73 to 1.0.91), what several readers of it say, who agree.
// Layout and counting: docs/formats/copilot-cli.md.
//
// What it promises: a run and a conversation are a session, known by the sessionId of its first session.start. Every
// line is at least one row; what a message of the assistant holds (words, reasoning, calls) are events of their own.
//
// Where readers of these files disagree: tokens are those of the requests in session.usage_record (from about 1.0.94 on) or
// session-store.db, where these have all of them, else those of session.shutdown and, from about then on, session.usage_checkpoint, one
// set for each model; what they say is the same. Older versions count
// in each what came after the last resume, so that all are added; newer ones count from the beginning, so that their growth
// is (usage.go tells them apart). What messages say of their own
// output is a part of that, so it is kept uncounted, for sessions that never shut down too. totalNanoAiu is the
// vendor's unit and no cost in dollars.
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
func (copilot) Version() int { return 6 }

// The roles of the files.
const (
	roleEvents    = "events"
	roleWorkspace = "workspace" // workspace.yaml
	roleStore     = "store"     // session-store.db
	roleUsage     = "usage"     // the requests of a session, from there
)

// Places says where the program keeps its files. Only the sessions are a root: configuration and tokens lie beside
// them, and are left alone.
func (copilot) Places() []format.Place {
	return format.Place{Name: "copilot-cli"}.At("~/.copilot", "$COPILOT_HOME")
}

// Parse yields the records of one file.
func (copilot) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, names: map[string]string{}, asked: map[string]bool{}, spent: map[string]int64{}, closed: map[string]bool{}}
		switch in.Role {
		case roleEvents:
			p.events()
		case roleWorkspace:
			p.workspace()
		case roleUsage:
			p.requests()
		}
	}
}

// Text gives the text of one part of an event.
func (copilot) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleWorkspace:
		return string(raw), nil
	case roleUsage:
		return "", nil
	}
	return format.TextOf(role, raw, pieceText)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session string // native id; "" until a record needs it
	rank    int    // of what the file says; see rankOf
	titled  bool
	model   string
	version string
	names   map[string]string // of tools, by call id
	asked   map[string]bool   // calls that a message asked for
	spent   map[string]int64  // output tokens told so far, by request
	summed  int

	before     map[string]spending // by the last sums, by model
	closed     map[string]bool     // shutdowns and checkpoints, by id
	said       int64               // output tokens that messages stated since
	asks       bool                // any message since
	checkpoint bool                // the program keeps its sums over a resume
}

// problem reports what could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.session, pr)
}
