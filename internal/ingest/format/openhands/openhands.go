// Package openhands reads the conversations of OpenHands: of its SDK, CLI and servers (version 1) a directory with base_state.json and one JSON file
// for each event, of the first application (version 0) a directory with numbered events, and what both export.
//
// Producer: checked in November 2026 against several versions of its event store, state, metrics and serialisation (software-agent-sdk, the CLI, the
// application from 0.2x to 1.x), and against other programs that read its files. Layout and counting: docs/formats/openhands.md.
//
// Identity: a conversation is a run with one conversation, called by the directory that holds its events. The files of its events form one shared
// conversation. A fork copies events with their ids.
//
// Prompt tokens include those of the cache, except of agents that run behind the Agent Client Protocol. Version 1 states requests only in the state
// of a conversation, which a parent repeats for its sub-agents; version 0 states a request beside each call, and with each action the total so far:
// see Resolve.
package openhands

import (
	"hash/fnv"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return openhands{} }

type openhands struct{}

var (
	_ format.Placed        = openhands{}
	_ format.UsageResolver = openhands{}
	_ format.Zipped        = openhands{}
)

// Name returns "openhands".
func (openhands) Name() string { return "openhands" }

// Version counts changes of what Parse yields.
func (openhands) Version() int { return 2 }

// The roles of the files.
const (
	roleEvent      = "event"      // one event of version 1
	roleState      = "state"      // base_state.json
	roleFirst      = "first"      // one event of version 0
	roleMeta       = "meta"       // metadata.json of version 0, meta.json of the servers
	roleTrajectory = "trajectory" // an array of events of either version
)

// Places returns where the programs keep conversations, the same on every system.
func (openhands) Places() []format.Place {
	return format.Place{Name: "openhands", Deletes: "conversations that are deleted"}.At(
		"~/.openhands/conversations", "$OPENHANDS_PERSISTENCE_DIR/conversations", "$OPENHANDS_CONVERSATIONS_DIR",
		"~/.openhands/agent-canvas/conversations", "$OH_CONVERSATIONS_PATH", "~/.openhands/v1_conversations", "$OH_PERSISTENCE_DIR/v1_conversations",
		"~/.openhands/sessions", "~/.openhands-state/sessions", "$FILE_STORE_PATH/sessions")
}

// Parse yields the records of one file.
func (openhands) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, at: locate(in.Path)}
		p.run = p.at.run
		if in.Role == roleTrajectory {
			p.trajectory()
			return
		}
		doc, origin := p.Document(in.Reader, p.problem)
		if !doc.Exists() {
			return
		}
		if !doc.IsObject() {
			p.problem(&transcript.Problem{Kind: "not an object", Reason: "a JSON value of another type", Origin: origin})
			return
		}
		switch in.Role {
		case roleState:
			p.state(doc, origin)
		case roleMeta:
			p.meta(doc, origin)
		default:
			e := readEntry(doc, origin)
			p.single(&e)
		}
	}
}

// Text returns the text of one part of an event.
func (openhands) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleState || role == roleMeta {
		return format.TextOf(role, raw, aboutText)
	}
	return format.TextOf(role, raw, textOf)
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in   format.Input
	at   location
	run  string
	seq  int64 // of the entry
	lend format.Lender
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) { p.Problem(p.run, pr) }

// The ranks of what originals state about a run. The title is that of the state, else the first prompt.
const (
	rankState  = 1 << 30
	rankPrompt = rankState - 1 // less the number of the event, or its time where it has none
)

// epoch is the beginning of 2025, before there were files without numbers.
const epoch = 1735689600

// promptRank returns the rank of a prompt's file: the first prompt has the highest.
func (p *parser) promptRank(e *entry) int {
	after := p.seq
	if after < 0 {
		after = e.at.UnixMicro/1e6 - epoch
	}
	return int(rankPrompt - min(max(after, 0), rankPrompt-1))
}

// single yields the records of a file with one event.
func (p *parser) single(e *entry) {
	p.seq = p.at.seq
	r := &transcript.Run{ID: p.run, Child: p.at.parent != "", Model: e.model, Started: e.at}
	if title := e.title(); title != "" {
		r.Title, r.Rank = title, p.promptRank(e)
	} else {
		r.Ended = e.at // a prompt states none: the rank of the first is the highest, and its time would be the end of the run
	}
	p.Emit(r)
	p.Emit(&transcript.Conversation{ID: p.run, Run: p.run, Shared: true, Order: p.at.order(e), Rank: precedence(p.run), Child: r.Child})
	p.entry(e)
}

// precedence is the rank of a conversation among those that have the same events. A fork does not state what it is a copy of, and which one counts
// must not depend on where the files lie, or which of them was a source by itself.
func precedence(run string) int {
	h := fnv.New32a()
	h.Write([]byte(run))
	return int(h.Sum32() >> 1)
}

// trajectory yields the events of an array.
func (p *parser) trajectory() {
	p.run = ""
	var r transcript.Run
	for o := range p.Each(jsontext.Elements(p.in.Reader, p.problem)) {
		p.lend.Reset()
		e := readEntry(o.Value, o.Origin)
		if p.run == "" {
			p.run = p.at.trajectory(e.stamp.Str())
			r = transcript.Run{ID: p.run, Started: e.at}
			first := r
			p.Emit(&first)
			p.Emit(&transcript.Conversation{ID: p.run, Run: p.run, Shared: true})
			p.Settle(p.run)
		}
		if e.at.Valid && e.at.UnixMicro >= r.Ended.UnixMicro {
			r.Ended = e.at
		}
		if r.Title == "" {
			r.Title = e.title()
		}
		if e.model != "" {
			r.Model = e.model
		}
		p.seq = e.number
		p.entry(&e)
	}
	if p.Done() {
		return
	}
	if p.run == "" {
		p.Settle(p.at.trajectory(""))
		return
	}
	p.Emit(&r)
}
