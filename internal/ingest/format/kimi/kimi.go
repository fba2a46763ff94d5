// Package kimi reads the sessions of Moonshot AI's two programs: Kimi CLI (2025 to 2026; ~/.kimi/sessions/<hash of the
// directory>/<session>/wire.jsonl, subagents in subagents/<id>/) and Kimi Code, which took its place
// (~/.kimi-code/sessions/<directory>/<session>/agents/<agent>/wire.jsonl), with the state.json beside them. Files of Kimi Code
// (wire protocol 1.4) were seen, of Kimi CLI none; checked in November 2026 against the sources of both (wire/types.py, session_fork.py;
// agent/records/types.ts, session-store.ts, migration-legacy). Layout and counting: docs/formats/kimi.md.
//
// What it promises: a run is a session, known by its id, which is the name of its directory; a subagent is a run of its own, a child of
// it. A fork copies the whole directory, and says where the copy ends: what stands before is the origin's as long as the archive has
// the origin. Forks of Kimi CLI do not say so; their lines are known by their times, which are exact to the microsecond.
//
// Where readers of these files disagree: usage.record and step.end tell the tokens of the same request, so that step.end is used only
// where a file has no usage.record. Tokens of subagents that ran inside of their parent's file (SubagentEvent) are counted; ccusage
// leaves them out. Kimi CLI names no model, and none is guessed.
package kimi

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return kimi{} }

type kimi struct{}

var (
	_ format.Placed        = kimi{}
	_ format.UsageResolver = kimi{}
)

// Name returns "kimi".
func (kimi) Name() string { return "kimi" }

// Version counts changes of what Parse yields.
func (kimi) Version() int { return 4 }

// The roles of the files.
const (
	roleWire  = "wire"
	roleChat  = "context" // context.jsonl of Kimi CLI
	roleState = "state"   // state.json of a session
	roleMeta  = "meta"    // meta.json of a subagent
)

// Places says where the programs keep their sessions.
func (kimi) Places() []format.Place {
	return format.Place{Name: "kimi"}.At("~/.kimi-code/sessions", "$KIMI_CODE_HOME/sessions", "~/.kimi/sessions", "$KIMI_SHARE_DIR/sessions")
}

// Parse yields the records of one file.
func (kimi) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, place: placeOf(in.Path, in.Top()), names: map[string]string{}, tasks: map[string]task{}, keys: map[string]int{},
			told: map[string]bool{}, prompts: map[uint64]bool{}}
		switch in.Role {
		case roleWire:
			p.wire()
		case roleChat:
			p.context()
		case roleState:
			p.document(p.state)
		case roleMeta:
			p.document(p.meta)
		}
	}
}

// Text gives the text of one part of an event.
func (kimi) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink
	place place

	session, run, conversation string            // "" until they are known
	guess                      bool              // no line told whose the file is
	head                       *transcript.Event // the first line, when it does not say whose the file is
	facts                      facts
	names                      map[string]string // of tools, by call id
	tasks                      map[string]task   // what calls say of subagents inside of this file
	keys                       map[string]int    // of usage, how often
	told                       map[string]bool   // runs, conversations and links of subagents
	made                       transcript.Time   // of the file, as it says
	own                        bool              // a line was there that was not made with it
	recorded                   bool              // a usage.record was there
	prompts                    map[uint64]bool   // what was said, by its sum

	lend format.Lender // of the event of a line
}

// problem reports what could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.run, pr)
}
