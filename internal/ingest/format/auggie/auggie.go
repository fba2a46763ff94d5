// Package auggie reads the sessions of Auggie, Augment's coding agent for the terminal: one document for each, <id>.json, below ~/.augment/sessions.
//
// Producer: checked in November 2026 against the program itself (npm package @augmentcode/auggie 0.36.0, whose bundle is readable: session store,
// agent state, history summaries, sub-agents, costs and session statistics) and a reader that was compared with real sessions
// (junhoyeo/tokscale). Layout and counting: docs/formats/auggie.md.
//
// Identity: a session is a run with one conversation, called by its UUID. Its exchanges have the UUIDs of their requests, which a backup of a session
// and what the service sends to another machine keep.
//
// Usage: each exchange is one request. The classes of its tokens are disjoint, as the program adds them up for the size of the prompt. Costs belong
// to transactions: the program takes the last statement of each. Those of sub-agents are only a sum, unless the program was told to record them.
package auggie

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return auggie{} }

type auggie struct{}

var (
	_ format.Placed     = auggie{}
	_ format.Withholder = auggie{}
)

// Name returns "auggie".
func (auggie) Name() string { return "auggie" }

// Version counts changes of what Parse yields.
func (auggie) Version() int { return 3 }

// roleSession is the role of the only kind of file.
const roleSession = "session"

// The ranks of originals of a run: a backup is what the session was before the history of the service replaced it.
const (
	rankBackup = iota
	rankSession
)

// Places returns where the program keeps its sessions, the same on every system.
func (auggie) Places() []format.Place {
	return []format.Place{{Name: "auggie", Path: "~/" + homeName + "/" + sessionsDir, Deletes: "sessions that are deleted"}}
}

// Parse yields the records of one session.
func (auggie) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}, rank: rankSession, tools: map[string]string{}}
		id, isBackup := sessionOf(in.Path)
		if p.Session = id; isBackup {
			p.rank = rankBackup
		}
		p.document(in.Reader)
	}
}
