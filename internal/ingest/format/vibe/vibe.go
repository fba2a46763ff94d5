// Package vibe reads the sessions of Mistral Vibe: a directory for each, <prefix>_<date>_<time>_<8 characters of the id>, with
// messages.jsonl and meta.json, below ~/.vibe/logs/session; subagents in agents/ of the session that started them; and the single
// documents <prefix>_<date>_<time>_<id>.json of versions 0 and 1. Since autumn 2026 there is a second store, unified/<session>/, with the
// session's history in chunks and a journal: unified.go, entry.go.
//
// Producer: checked in November 2026 against several versions of its source (interaction_logger.py of version 1; session_logger.py,
// session_loader.py, session_migration.py, types.py, agent_loop.py, compaction, tools/builtins/task.py of version 2; the projection, the session
// protocol and the host of the unified store, and other programs that read it). Layout and counting: docs/formats/vibe.md.
//
// Identity: a session is a run with one conversation. Only meta.json has the whole id, so the run is identified by the 8 characters
// that the directory's name has of it, by which the program itself finds sessions. A fork copies messages with their ids. In the
// unified store the directory has the whole id; entries are identified in it, and what a fork took along has ids that show it.
//
// Tokens are totals of the session in meta.json: see Resolve. Where a version states them with each answer, these count.
package vibe

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return vibe{} }

type vibe struct{}

var (
	_ format.Placed        = vibe{}
	_ format.UsageResolver = vibe{}
)

// Name returns "vibe".
func (vibe) Name() string { return "vibe" }

// Version counts changes of what Parse yields.
func (vibe) Version() int { return 5 }

// The roles of the files.
const (
	roleMessages = "messages" // messages.jsonl
	roleMeta     = "meta"     // meta.json
	roleDocument = "document" // metadata and messages of versions 0 and 1
)

// Places returns where the program keeps its sessions, the same on every system.
func (vibe) Places() []format.Place {
	return format.Place{Name: "vibe"}.At("~/.vibe/logs/session", "$VIBE_HOME/logs/session")
}

// Parse yields the records of one file.
func (vibe) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		loc, role := locateUnified(in.Path)
		if role == "" {
			loc = locate(in.Path)
		}
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, loc: loc, run: loc.run, toolNames: map[string]string{}, seen: map[string]bool{}}
		p.history.seen = map[string]string{}
		switch in.Role {
		case roleMessages:
			p.log()
		case roleMeta:
			p.meta()
		case roleDocument:
			p.document()
		case roleJournal:
			p.journal()
		case roleChunk:
			p.chunk()
		case roleProjection:
			p.projection()
		case roleRuntime:
			p.runtime()
		}
	}
}

// Text returns the text of one part of an event.
func (vibe) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in  format.Input
	loc location
	run string

	toolNames map[string]string // by call id
	seen      map[string]bool   // ids of messages
	answer    string            // id of the last answer, to which results of tools belong
	calls     int               // calls without an id so far
	started   bool              // a message was read
	hasTitle  bool

	history history // of a session in the unified store

	lend format.Lender // of the events of a message
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = p.in.Role != roleMeta
	p.Problem(p.run, pr)
}

// The ranks of originals: meta.json outranks the messages, and these outrank the document that they were converted from.
const (
	rankDocument = 0
	rankMessages = 1
	rankMeta     = 2
)

// emitRun yields fields of the run and its conversation alike.
func (p *parser) emitRun(c transcript.Conversation) {
	c.ID, c.Run, c.Child = p.loc.name, p.run, p.loc.parent != ""
	if c.Rank = rankMessages; p.in.Role == roleDocument {
		c.Rank = rankDocument
	}
	p.Emit(&transcript.Run{
		ID: p.run, Rank: c.Rank, Child: c.Child, Title: c.Title, Agent: c.Agent, Model: c.Model, Project: c.Project, Branch: c.Branch,
		Started: c.Started, Ended: c.Ended,
	})
	p.Emit(&c)
}

// parentLink yields the link from the session that started a subagent, which is the directory above.
func (p *parser) parentLink(at transcript.Origin) {
	if p.loc.parent != "" {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.loc.parent), To: transcript.RunEnd(p.run), Origin: at})
	}
}
