package opencode

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// hintSession says that a session's own record is there, hintModel which model a message came from:
// "<message>\t<model>\t<provider>", hintRole who speaks in it: "<message>\t<role>", hintTime when it was complete, else made:
// "<message>\t<microseconds>".
const (
	hintSession = "session"
	hintModel   = "model"
	hintRole    = "role"
	hintTime    = "time"

	hintFirst  = "first"  // "<message>\t<microseconds>": when a message of version 1 was made
	hintSecond = "second" // the same of version 2
	hintForked = "forked" // when a session was forked from another, in microseconds
)

// forkedTitle is what version 1 calls a session that was forked, and all that says so.
var forkedTitle = lazyregexp.New(`\(fork #[0-9]+\)$`)

// session yields the record of a session: a file of the tree, or a row.
func (p *parser) session(v format.Value) {
	id := cmp.Or(v.Get("id").Text(), p.where.own)
	first := func(names ...string) string {
		for _, name := range names {
			if s := v.Get(name).Str(); s != "" {
				return s
			}
		}
		return ""
	}
	parent := first("parentID", "parent_id")
	if parent == id {
		parent = ""
	}
	p.named = map[string]bool{id: true}
	started := stamp(v.Get("time", "created"), v.Get("time_created"))
	title, project, version := v.Get("title").Str(), v.Get("directory").Str(), v.Get("version").Str()
	p.Emit(&transcript.Run{
		ID: id, Local: true, Anchor: id, Anchored: true, Rank: 1 + p.rank, Group: first("projectID", "project_id"), Project: project,
		Title: title, Version: version, Started: started, Child: parent != "",
	})
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: id, Shared: true, Rank: 1 + p.rank, Title: title, Project: project, Version: version, Started: started,
		Child: parent != "",
	})
	p.Emit(&transcript.Hint{Run: id, Key: hintSession, Value: "yes", Origin: p.at})
	if parent != "" {
		p.link("parent", parent, id)
	}
	origin := first("fork_session_id")
	if origin != "" && origin != id {
		p.link("fork", origin, id)
	}
	if started.Valid && (origin != "" || forkedTitle.MatchString(title)) {
		p.Emit(&transcript.Hint{Run: id, Key: hintForked, Value: strconv.FormatInt(started.UnixMicro, 10), Origin: p.at})
	}
	e := p.event(transcript.KindLifecycle, roleSession, id, "")
	e.ID, e.Time = id, started
	e.Parts = []transcript.Part{{Text: pieceText(v)}}
	p.Emit(e)
}

// link states that a session is the parent of another one, or what it was forked from. Both ends are runs that this file names.
func (p *parser) link(kind, from, to string) {
	p.Emit(&transcript.Link{
		Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(to), Origin: p.at,
	})
	for _, id := range []string{from, to} {
		if !p.named[id] {
			p.named[id] = true
			p.Emit(&transcript.Run{ID: id, Local: true, Anchor: id, Anchored: true, Named: true})
		}
	}
}

// stamp reads the first of several times in milliseconds that is one.
func stamp(all ...format.Value) transcript.Time {
	for _, v := range all {
		if n, ok := v.Int(); ok {
			if t := format.UnixMilli(n); t.Valid {
				return t
			}
		}
	}
	return transcript.Time{}
}
