// Package openclaw reads the sessions of OpenClaw (before: Clawdbot, Moltbot): <session>.jsonl in agents/<agent>/sessions of
// ~/.openclaw, with entries as Pi writes them, and sessions.json beside them, which says what chat a session belongs to. Versions
// of January to July 2026 keep them there; checked in November 2026 against the program's artifacts.ts, archive-compression.ts,
// transcript-rewrite.ts and session-transcript-files.fs.ts, its documentation and the reader of agentsview. Layout and counting:
// docs/formats/openclaw.md.
//
// What it promises: a run and a conversation are a session, known by the id in its header; all files of a session are joined,
// entry by entry.
//
// Where sources and readers disagree:
//
//   - A reset or a deletion renames a file, with its reason and time; what is said next stands in another file, most often
//     of another session, sometimes of the same. So each file counts, and each entry once. Readers that take the live files alone
//     miss most of what was paid.
//   - When the program cuts a long result short it writes all that follows again, under new ids and times, and may drop the
//     first ones later. A message is known by the time in itself, and an answer that stands twice was asked once.
//   - From July 2026 on (2026.7.2) live sessions are in a database, agents/<agent>/agent/openclaw-agent.sqlite, an entry a row; from
//     2026.9.7 on long ones are compressed. It holds keys as well: the rows of sessions are taken and nothing else. What it lays down
//     as .jsonl.reset and .jsonl.deleted, compressed too, is read.
package openclaw

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return openclaw{} }

type openclaw struct{}

var (
	_ format.Placed     = openclaw{}
	_ format.Withholder = openclaw{}
	_ format.Splitter   = openclaw{}
)

// Name returns "openclaw".
func (openclaw) Name() string { return "openclaw" }

// Version counts changes of what Parse yields.
func (openclaw) Version() int { return 4 }

// The roles of the files.
const (
	roleSession = "session"
	rolePacked  = "session-zst" // the same, compressed by the program
	roleChats   = "chats"       // sessions.json
	roleStore   = "store"       // openclaw-agent.sqlite
	roleRows    = "event"       // the entries of a session, from there
	roleNodes   = "chat"        // what sessions.json says, from there
)

// Places says where the program keeps its files, on every system alike.
func (openclaw) Places() []format.Place {
	place := format.Place{
		Name:    "openclaw",
		Deletes: "sessions, and what was reset or deleted, after session.maintenance.pruneAfter (30 days unless set), and sessions beyond maxEntries (500)",
	}
	return place.At("~/.openclaw/agents", "$OPENCLAW_STATE_DIR/agents", "$OPENCLAW_HOME/.openclaw/agents",
		"~/.clawdbot/agents", "$CLAWDBOT_STATE_DIR/agents", "~/.moltbot/agents")
}

// Parse yields the records of one file.
func (openclaw) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	switch in.Role {
	case roleChats:
		return chats(in)
	case roleNodes:
		return storedChats(in)
	case roleRows:
		return pi.Parse(in.Reader, stored(in.Path))
	}
	n := nameOf(in.Path)
	s := pi.Session{ID: n.session, Agent: agentOf(in.Path), Shared: true, Order: n.order(), Rank: n.rank(), Again: true, Prompt: asked}
	if in.Role == rolePacked {
		s.Inner = "zstd"
	}
	return pi.Parse(in.Reader, s)
}

// Text gives the text of one part of an event.
func (openclaw) Text(role string, raw []byte, _ int) (string, error) { return pi.Text(role, raw) }
