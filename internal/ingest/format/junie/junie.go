// Package junie reads the sessions of Junie, the coding agent of JetBrains, on the command line and in its editors: a directory for each below
// ~/.junie/sessions, with events.jsonl, and index.jsonl beside them.
//
// Producer: closed; the npm package only downloads it. Checked in November 2026 against a catalogue of all kinds of events with their members and
// how often they occur (in about a million lines of February to July 2026), four readers with lines of real sessions of 2026, from the command
// line and from IntelliJ IDEA (irrlicht, superbased-observer, kenn-io/agentsview, junhoyeo/tokscale; versions up to 26.9), and what these found in
// its serialisers. Layout and counting: docs/formats/junie.md.
//
// Identity: a session is a run with one conversation, called like its directory; no line names it. A prompt has an id, and so has each step: what an
// agent says, and each call of a tool. A step is written anew whenever it changes, and once more when its task has ended.
//
// Usage: a line for each request. Readers agree that inputTokens is without the cache, and the stated costs are the providers' prices for exactly
// these classes; one calls their unit unknown, but completion.taskCostUsd is their sum. A cost of 0 is no statement: local and own models have it.
package junie

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return junie{} }

type junie struct{}

var (
	_ format.Placed     = junie{}
	_ format.Resolver   = junie{}
	_ format.Withholder = junie{}
)

// Name returns "junie".
func (junie) Name() string { return "junie" }

// Version counts changes of what Parse yields.
func (junie) Version() int { return 1 }

// The roles of the files.
const (
	roleEvents = "events" // events.jsonl: all that happened in a session
	roleIndex  = "index"  // index.jsonl: names and directories of all sessions
)

// The ranks of what files state about a run.
const (
	rankIndex = iota
	rankEvents
)

// Places returns where the program keeps its sessions, the same on every system.
func (junie) Places() []format.Place {
	return format.Place{Name: "junie"}.At("~/"+homeName+"/"+sessionsDir, "$JUNIE_HOME/"+sessionsDir)
}

// Parse yields the records of one file.
func (junie) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}, blocks: map[string]string{}, said: map[string]uint64{}}
		switch in.Role {
		case roleEvents:
			p.Session = sessionOf(in.Path)
			p.EachRow(in.Reader, p.line)
			p.end()
		case roleIndex:
			p.EachRow(in.Reader, p.entry)
		}
	}
}

// Resolve sets the fields of a conversation from the index.
func (junie) Resolve(f *transcript.Family) { format.InheritRun(f) }

// parser is one parse of one file.
type parser struct {
	format.Rows
	blocks map[string]string // the kind of block that tells most of a step
	said   map[string]uint64 // what was last stated of something, as a hash

	at      transcript.Time // of the line
	agent   string          // sub-agent that acted, "" for the main one
	head    transcript.Conversation
	isNamed bool  // by the program or the user
	largest int64 // tokens of the largest prompt so far
}

// entry yields what a line of the index states about a session.
func (p *parser) entry(v jsontext.Value) {
	id := v.Get("sessionId").Str()
	p.Session = id
	if id == "" {
		p.NoSession()
		return
	}
	run := &transcript.Run{
		ID: id, Named: true, Rank: rankIndex, Title: format.Title(v.Get("taskName").Str()), Project: v.Get("projectDir").Str(),
		Started: v.Get("createdAt").MilliTime(), Ended: v.Get("updatedAt").MilliTime(), Status: v.Get("status").Word(),
	}
	p.Emit(run)
	p.Uncounted(transcript.KindNotice, "index", run.Ended)
}
