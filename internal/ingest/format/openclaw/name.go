package openclaw

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// fileName is what the name of a file states.
type fileName struct {
	session    string
	reason     string // why the file was renamed or copied: reset, deleted, bak, checkpoint; "" for the live file
	stamp      string // when, as far as the name says
	compressed bool
	ok         bool // the file is a session's
}

var (
	// archivedName matches the name of a file that was renamed, or copied before a change.
	archivedName = lazyregexp.New(`^(.+)\.jsonl\.(?:(reset|deleted|bak)[.-](.+)|full\.bak|bak)$`)
	// checkpointName matches the name of a copy from before a compaction.
	checkpointName = lazyregexp.New(`^(.+)\.checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$`)
)

func nameOf(file string) (n fileName) {
	base := path.Base(file)
	if !strings.Contains(base, ".jsonl") {
		return n
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

// agentOf returns the agent whose directory a file lies in.
func agentOf(file string) string {
	dir := path.Dir(file)
	if agent := path.Base(path.Dir(dir)); path.Base(dir) == "sessions" && agent != "." && agent != "/" && !strings.HasPrefix(agent, ".") {
		return agent
	}
	return ""
}
