// Package cortexcode reads the sessions of Cortex Code (CoCo), Snowflake's agent for the terminal and the desktop, in ~/.snowflake/cortex/conversations:
// <session>.json with what is noted about a session, and its messages in it or in <session>.history.jsonl.
//
// Producer: closed. Checked in November 2026 against the readers of kenn-io/agentsview, dataprofessor/cortex-replay and Harbor, two descriptions of real
// files (CoCo 1.1.1 of the terminal; 393 sessions of the desktop and the terminal, summer 2026) and Snowflake's documentation. Layout and counting:
// docs/formats/cortex-code.md.
//
// Identity: a session is a run with one conversation, called like its files, with a UUID. Messages have a UUID, too.
//
// Usage: neither tokens nor costs are stored.
package cortexcode

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return cortexCode{} }

type cortexCode struct{}

var (
	_ format.Placed     = cortexCode{}
	_ format.Resolver   = cortexCode{}
	_ format.Withholder = cortexCode{}
)

// Name returns "cortex-code".
func (cortexCode) Name() string { return "cortex-code" }

// Version counts changes of what Parse yields.
func (cortexCode) Version() int { return 1 }

// The roles of the files.
const (
	roleSession = "session" // <session>.json
	roleHistory = "history" // <session>.history.jsonl
)

// The ranks of what files state about a run.
const (
	rankHistory = iota
	rankSession
)

// The ranks of the files that hold its messages.
const (
	rankInside = iota // what is noted about the session, too
	rankApart
)

// Places returns where the program keeps its sessions, the same on every system.
func (cortexCode) Places() []format.Place {
	return format.Place{Name: "cortex-code", Deletes: "what is said after a point to which the user goes back"}.At(
		"~/"+homeName+"/"+conversationsPath, "$SNOWFLAKE_HOME/"+conversationsPath)
}

// Parse yields the records of one file.
func (cortexCode) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}, tools: map[string]string{}, seen: map[string]int{}}
		p.Session = sessionOf(in.Path)
		switch in.Role {
		case roleSession:
			p.session(in.Reader)
		case roleHistory:
			p.history(in.Reader)
		}
	}
}

// Resolve sets the fields of a conversation from what is noted about its session.
func (cortexCode) Resolve(f *transcript.Family) { format.InheritRun(f) }

// Text returns the text of one part of an event.
func (cortexCode) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
