// Package codewhale reads the sessions of CodeWhale, which was called DeepSeek TUI before version 0.8.41: a file sessions/<session>.json for each, in
// ~/.codewhale or ~/.deepseek.
//
// Producer: checked in November 2026 against Hmbown/CodeWhale (crates/tui/src: session_manager.rs of DeepSeek TUI 0.8 to CodeWhale 0.9.12,
// session_tree.rs, commands/groups/session, session_resume; crates/core/src/request.rs; docs/SESSIONS.md), and the readers of kenn-io/agentsview and
// getagentseal/codeburn. Layout and counting: docs/formats/codewhale.md.
//
// Identity: a session is a run with one conversation; its id is a UUID. The program writes the whole file anew, and a checkpoint of it while the agent is
// at work; of several files of a session the one with the latest updated_at counts. Messages have no ids.
//
// Usage: only sums of a session are stored: a number of tokens that does not tell classes apart, and the cost. A fork begins with the sums of
// its parent, so of both the greater cost counts.
package codewhale

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return codewhale{} }

type codewhale struct{}

var (
	_ format.Placed        = codewhale{}
	_ format.UsageResolver = codewhale{}
	_ format.Withholder    = codewhale{}
)

// Name returns "codewhale".
func (codewhale) Name() string { return "codewhale" }

// Version counts changes of what Parse yields.
func (codewhale) Version() int { return 2 }

// roleSession is the role of all files that are read.
const roleSession = "session"

// Places returns where the program keeps its sessions, the same on every system, and where it did under its first name.
func (codewhale) Places() []format.Place {
	return format.Place{Name: "codewhale", Deletes: "all but the 50 latest sessions"}.At(
		"~/"+homeName+"/"+sessionsDir, "$CODEWHALE_HOME/"+sessionsDir, "~/"+formerHome+"/"+sessionsDir)
}

// Parse yields the records of one file.
func (codewhale) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.Session = sessionOf(in.Path)
		p.session(in.Reader)
	}
}

// Text returns the text of one part of an event.
func (codewhale) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
