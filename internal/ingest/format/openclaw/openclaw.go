// Package openclaw reads the sessions of OpenClaw (formerly Clawdbot, Moltbot): <session>.jsonl in agents/<agent>/sessions of
// ~/.openclaw, with entries as Pi writes them, and sessions.json beside them, which maps chats to sessions.
//
// Producer: versions of January to July 2026 keep sessions in these files; checked in November 2026 against OpenClaw's artifacts.ts,
// archive-compression.ts, transcript-rewrite.ts and session-transcript-files.fs.ts, its documentation and the reader of agentsview.
// Layout and counting: docs/formats/openclaw.md.
//
// Identity: a session is a run with one conversation, identified by the id in its header; all files of a session are joined,
// entry by entry.
//
// Where sources and readers disagree:
//
//   - A reset or a deletion renames a file, with its reason and time; the chat continues in another file, mostly
//     of another session, sometimes of the same. So each file counts, and each entry once. Readers that take only the live files
//     miss most of the paid requests.
//   - When OpenClaw truncates a long result it writes all following entries again, under new ids and times, and may later drop the
//     first copies. A message is identified by the time in itself, and an answer that is written twice was one request.
//   - From July 2026 on (2026.7.2) live sessions are in a database, agents/<agent>/agent/openclaw-agent.sqlite, one row per entry; from
//     2026.9.7 on long entries are compressed. The database also holds keys: only the rows of sessions are taken. The files that it still
//     writes as .jsonl.reset and .jsonl.deleted, also compressed ones, are read, and so are those that it moved to session-sqlite-import-archive
//     when it made the database. Of a chat the database has all sessions (session_windows). Files below sessions/cold (from 2026.9.12 on, if
//     switched on) have the rows of one session: checked against session-cold-storage-codec.ts.
//   - An answer of Codex, which OpenClaw runs, states the tokens of its last request only. Codex's own session has all, so these do not count.
package openclaw

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/ingest/layer"
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
func (openclaw) Version() int { return 9 }

// The roles of the files.
const (
	roleSession     = "session"
	roleCompressed  = "session-zst" // a session compressed by OpenClaw
	roleCold        = "cold"        // the rows of a session that was moved out of the database
	roleChats       = "chats"       // sessions.json
	roleStore       = "store"       // openclaw-agent.sqlite
	roleRows        = "event"       // the entries of one session, from the database
	roleStoredChats = "chat"        // the content of sessions.json, from the database
)

// Places returns where OpenClaw and QClaw, which is built on it, keep their files, the same on every system.
func (openclaw) Places() []format.Place {
	place := format.Place{
		Name:    "openclaw",
		Deletes: "sessions, and what was reset or deleted, after session.maintenance.pruneAfter (30 days unless set), and sessions beyond maxEntries (500)",
	}
	places := place.At("~/.openclaw/agents", "$OPENCLAW_STATE_DIR/agents", "$OPENCLAW_HOME/.openclaw/agents",
		"~/.clawdbot/agents", "$CLAWDBOT_STATE_DIR/agents", "~/.moltbot/agents")
	return append(places, format.Place{Name: "qclaw", Path: "~/.qclaw/agents", Deletes: place.Deletes},
		format.Place{Name: "kimi-claw", Path: "~/.kimi_openclaw/agents", Deletes: place.Deletes})
}

// Parse yields the records of one file.
func (openclaw) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	switch in.Role {
	case roleChats:
		return chats(in)
	case roleStoredChats:
		return storedChats(in)
	case roleRows:
		return pi.Parse(in.Reader, storedSession(in.Path))
	case roleCold:
		return cold(in)
	}
	n := nameOf(in.Path)
	s := n.entries()
	s.Agent = agentOf(in.Path)
	if in.Role != roleCompressed {
		return pi.Parse(in.Reader, s)
	}
	s.Inner = "zstd"
	return pi.Parse(layer.Zstd(in.Reader), s)
}

// Text returns the text of one part of an event.
func (openclaw) Text(role string, raw []byte, _ int) (string, error) { return pi.Text(role, raw) }
