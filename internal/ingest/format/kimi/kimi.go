// Package kimi reads the sessions of Moonshot AI's two programs: Kimi CLI (2025 to 2026; ~/.kimi/sessions/<hash of the
// directory>/<session>/wire.jsonl, subagents in subagents/<id>/) and its successor Kimi Code
// (~/.kimi-code/sessions/<directory>/<session>/agents/<agent>/wire.jsonl), with the state.json beside them.
//
// Producers: files of Kimi Code (wire protocol 1.4) were seen, of Kimi CLI none; checked in November 2026 against the sources of both
// (wire/types.py, session_fork.py; agent/records/types.ts, session-store.ts, migration-legacy, wire-manifest.d.ts of protocol 1.5). Layout and
// counting: docs/formats/kimi.md.
//
// Identity: a session is a run, identified by its id, which is the name of its directory; a subagent is a run of its own, a child of
// it. A fork copies the whole directory and states where the copy ends: what comes before is the origin's as long as the archive has
// the origin. Forks by Kimi CLI do not state it; their lines are identified by their times, which are exact to the microsecond.
//
// Where readers of these files disagree: usage.record and step.end state the tokens of the same request, so step.end is used only
// in files without a usage.record. Tokens of subagents inside their parent's file (SubagentEvent) are counted; ccusage
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
func (kimi) Version() int { return 9 }

// The roles of the files.
const (
	roleWire  = "wire"
	roleChat  = "context" // context.jsonl of Kimi CLI
	roleState = "state"   // state.json of a session
	roleMeta  = "meta"    // meta.json of a subagent
)

// Places returns where the programs keep their sessions.
func (kimi) Places() []format.Place {
	all := format.Place{Name: "kimi"}.At("~/.kimi-code/sessions", "$KIMI_CODE_HOME/sessions", "~/.kimi/sessions", "$KIMI_SHARE_DIR/sessions")
	for _, home := range append(format.ConfigHomes, "~/.local/share") { // Kimi Work, the desktop program, has Kimi Code inside
		all = append(all, format.Place{Name: "kimi-work"}.At(home+"/kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions")...)
	}
	return all
}

// Parse yields the records of one file.
func (kimi) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, loc: locate(in.Path, in.Top()), toolNames: map[string]string{}, tasks: map[string]task{}, keys: map[string]int{},
			emitted: map[string]bool{}, prompts: map[uint64]bool{}}
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

// Text returns the text of one part of an event.
func (kimi) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink
	loc location

	session, run, conversation string            // "" until they are known
	guessed                    bool              // no line states whose the file is
	pending                    *transcript.Event // the first line, if it does not state whose the file is
	facts                      facts
	toolNames                  map[string]string // by call id
	tasks                      map[string]task   // what calls state about subagents inside this file
	keys                       map[string]int    // occurrences of usage keys
	emitted                    map[string]bool   // runs, conversations and links of subagents
	fileTime                   transcript.Time   // creation of the file, from its metadata line
	hasOwn                     bool              // a line had another time than the file's creation
	hasRecords                 bool              // a usage.record was seen
	prompts                    map[uint64]bool   // hashes of prompts

	lend format.Lender // of the event of a line
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.run, pr)
}
