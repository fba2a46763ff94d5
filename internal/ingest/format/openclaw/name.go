package openclaw

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// name is what the name of a file says.
type name struct {
	session string
	kept    string // why it was put aside: reset, deleted, bak, checkpoint; "" for the live file
	when    string // it was, as far as the name says
	packed  bool   // compressed
	ok      bool   // it is a session's
}

var (
	// aside is what is added to the name of a file that is put aside, or copied before it is changed.
	aside = lazyregexp.New(`^(.+)\.jsonl\.(?:(reset|deleted|bak)[.-](.+)|full\.bak|bak)$`)
	// checkpoint is a copy from before a compaction.
	checkpoint = lazyregexp.New(`^(.+)\.checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$`)
)

func nameOf(file string) (n name) {
	base := path.Base(file)
	if !strings.Contains(base, ".jsonl") {
		return n
	}
	if plain, ok := strings.CutSuffix(base, ".zst"); ok {
		base, n.packed = plain, true
	}
	switch {
	case strings.HasSuffix(base, ".trajectory.jsonl"):
		return n
	case checkpoint.MatchString(base):
		n.session, n.kept = checkpoint.FindStringSubmatch(base)[1], "checkpoint"
	case aside.MatchString(base):
		m := aside.FindStringSubmatch(base)
		n.session, n.kept, n.when = m[1], m[2], m[3]
		if n.kept == "" {
			n.kept = "bak"
		}
	case strings.HasSuffix(base, ".jsonl"):
		n.session = strings.TrimSuffix(base, ".jsonl")
	default:
		return n
	}
	n.session = pi.SessionOf(n.session)
	if i := strings.LastIndex(n.session, "-topic-"); i > 0 { // a thread of a chat
		n.session = n.session[:i]
	}
	n.ok = n.session != ""
	return n
}

// order sorts the files of a session: copies, then what was put aside, then what is there.
func (n name) order() string {
	switch n.kept {
	case "":
		return "2"
	case "reset", "deleted":
		return "1 " + n.when
	}
	return "0 " + n.when
}

// rank prefers what is there to what was put aside, and both to copies.
func (n name) rank() int { return int(n.order()[0] - '0') }

// agentOf is the agent whose directory a file lies in.
func agentOf(file string) string {
	dir := path.Dir(file)
	if agent := path.Base(path.Dir(dir)); path.Base(dir) == "sessions" && agent != "." && agent != "/" && !strings.HasPrefix(agent, ".") {
		return agent
	}
	return ""
}
