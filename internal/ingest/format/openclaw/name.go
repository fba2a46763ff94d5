package openclaw

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// fileName is what the name of a file states.
type fileName struct {
	session    string
	reason     string // why the file was renamed or copied: reset, deleted, imported, bak, checkpoint; "" for the live file
	stamp      string // when, as far as the name says
	compressed bool
	ok         bool // the file is a session's
}

var (
	// archivedName matches the name of a file that was renamed, or copied before a change.
	archivedName = lazyregexp.New(`^(.+)\.jsonl\.(?:(reset|deleted|bak)[.-](.+)|full\.bak|bak)$`)
	// checkpointName matches the name of a copy from before a compaction.
	checkpointName = lazyregexp.New(`^(.+)\.checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$`)
	// importedName matches the name of a file that was moved aside when the database was made: after the key of its chat, or archive-tier if
	// the database did not get it.
	importedName = lazyregexp.New(`^(.+\.jsonl.*)\.imported-([0-9]+)(?:\.[0-9]+)?$`)
)

func nameOf(file string) (n fileName) {
	base := path.Base(file)
	if !strings.Contains(base, ".jsonl") {
		return n
	}
	imported := importedName.FindStringSubmatch(base)
	if imported != nil {
		base = imported[1]
	}
	if plain, ok := strings.CutSuffix(base, ".zst"); ok {
		base, n.compressed = plain, true
	}
	switch {
	case strings.HasSuffix(base, ".trajectory.jsonl"):
		return n
	case checkpointName.MatchString(base):
		n.session, n.reason = checkpointName.FindStringSubmatch(base)[1], "checkpoint"
	case archivedName.MatchString(base):
		m := archivedName.FindStringSubmatch(base)
		n.session, n.reason, n.stamp = m[1], m[2], m[3]
		if n.reason == "" {
			n.reason = "bak"
		}
	case strings.HasSuffix(base, ".jsonl"):
		n.session = strings.TrimSuffix(base, ".jsonl")
	default:
		return n
	}
	if imported != nil {
		n.session = n.session[strings.LastIndexByte(n.session, '.')+1:]
		if n.reason == "" {
			n.reason, n.stamp = "imported", imported[2]
		}
	}
	n.session = pi.SessionOf(n.session)
	if i := strings.LastIndex(n.session, "-topic-"); i > 0 { // a thread in a chat
		n.session = n.session[:i]
	}
	n.ok = n.session != ""
	return n
}

// order sorts the files of a session: copies, then renamed files, then the live file.
func (n fileName) order() string {
	switch n.reason {
	case "":
		return "2"
	case "reset", "deleted":
		return "1 " + n.stamp
	}
	return "0 " + n.stamp
}

// rank prefers the live file to renamed ones, and both to copies.
func (n fileName) rank() int { return int(n.order()[0] - '0') }

// entries returns what is known about the session of a file besides its content.
func (n fileName) entries() pi.Session {
	return pi.Session{
		ID: n.session, Shared: true, Order: n.order(), Rank: n.rank(), Rewritten: true, Prompt: userText, Mirrors: mirrorsCodex,
	}
}

// mirrorsCodex reports whether an answer is that of a turn of Codex, which OpenClaw runs and which keeps sessions of its own: it states only
// the last request of the turn.
func mirrorsCodex(message jsontext.Value) bool {
	return strings.HasPrefix(message.Get("idempotencyKey").Str(), "codex-app-server:")
}

// isHouse reports whether a directory of an agent holds sessions and nothing else: now, or from before there was a database.
func isHouse(dir string) bool { return dir == "sessions" || dir == "session-sqlite-import-archive" }

// agentOf returns the agent whose directory a file lies in.
func agentOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) == coldDir {
		dir = path.Dir(dir)
	}
	if agent := path.Base(path.Dir(dir)); isHouse(path.Base(dir)) && agent != "." && agent != "/" && !strings.HasPrefix(agent, ".") {
		return agent
	}
	return ""
}
