// Package droid reads the sessions of Droid, the coding agent of Factory: a file <id>.jsonl for each, with <id>.settings.json beside it, below
// ~/.factory/sessions/<directory of the work>. It also reads what droid exec prints with --output-format stream-json, if somebody has
// saved it.
//
// Producer: its source is closed. Checked in November 2026 against unpacked code of its session store, the types of its SDK, and the readers
// of several other programs with their test data. Layout and counting: docs/formats/droid.md.
//
// Identity: a session is a run with one conversation, identified by its id. A fork copies lines with their ids.
//
// Tokens are totals of the session in its settings. A fork counts from 0; a session that continues a compacted one has its total, too: see
// Resolve. Nobody says whether printed tokens are of one run or of the session: of a resumed session the highest counts.
package droid

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return droid{} }

type droid struct{}

var (
	_ format.Placed        = droid{}
	_ format.UsageResolver = droid{}
)

// Name returns "droid".
func (droid) Name() string { return "droid" }

// Version counts changes of what Parse yields.
func (droid) Version() int { return 3 }

// The roles of the files.
const (
	roleSession  = "session"  // <id>.jsonl
	roleSettings = "settings" // <id>.settings.json
	roleOutput   = "output"   // saved output of droid exec
)

// The ranks of originals.
const (
	rankSession  = 0
	rankSettings = 1
)

// Places returns where the program keeps its sessions, the same on every system. Transcripts in projects are only in the
// documentation of its hooks.
func (droid) Places() []format.Place {
	return format.Place{Name: "droid"}.At("~/.factory/sessions", "~/.factory/projects", "$FACTORY_HOME_OVERRIDE/.factory/sessions")
}

// Parse yields the records of one file.
func (droid) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, toolNames: map[string]string{}, seen: map[string]bool{}}
		switch in.Role {
		case roleSession:
			p.session()
		case roleSettings:
			p.settings()
		case roleOutput:
			p.output()
		}
	}
}

// Text returns the text of one part of an event.
func (droid) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleOutput {
		return format.TextOf(role, raw, jsontext.Appended(appendPrinted))
	}
	return format.TextOf(role, raw, textOf)
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in  format.Input
	run string // "" until a line is read

	facts    transcript.Conversation // what is known about the session
	forkedOf string                  // session that this one was forked from, or continues
	child    bool                    // a subagent's
	named    bool                    // the header has a title

	toolNames map[string]string // by call id
	seen      map[string]bool   // ids of messages
	calls     int               // calls without an id so far
	said      bool              // a message or a summary was read

	lend format.Lender // of the events of a line
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = p.in.Role != roleSettings
	p.Problem(p.run, pr)
}

// emitSession yields what is known about the session so far, for its run and its conversation alike.
func (p *parser) emitSession() {
	c := p.facts
	c.ID, c.Run, c.Child = p.run, p.run, p.child
	if p.in.Role == roleOutput { // all outputs of a session are one conversation
		c.Shared, c.Order = true, orderOf(c.Started)
	}
	p.Emit(&transcript.Run{
		ID: p.run, Rank: rankSession, Child: c.Child, Title: c.Title, Model: c.Model, Project: c.Project, Started: c.Started, Ended: c.Ended,
		Attributes: c.Attributes,
	})
	p.Emit(&c)
}
