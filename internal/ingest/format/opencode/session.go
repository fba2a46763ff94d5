package opencode

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintSession = "session" // the session's own record exists, or saved output of it
	hintModel   = "model"   // "<message>\t<model>\t<provider>"
	hintRole    = "role"    // "<message>\t<role>"
	hintTime    = "time"    // "<message>\t<microseconds>": when a message was complete, or else created

	hintV1     = "first"  // "<message>\t<microseconds>": when a message of version 1 was created
	hintV2     = "second" // the same for version 2
	hintForked = "forked" // "<microseconds>": when a session was forked from another
	hintStream = "stream" // "<first message of saved output>\t<message>\t<offset>"
)

// forkedTitle matches the titles of forked sessions in version 1, the only trace of a fork there.
var forkedTitle = lazyregexp.New(`\(fork #[0-9]+\)$`)

// defaultTitle matches what version 1 calls a session, and its forks, until it has asked a model for a title.
var defaultTitle = lazyregexp.New(`^(?i:new|child) (?i:session) - [0-9]{4}-[0-9]{2}-[0-9]{2}T`)

// titleFrom titles the session of a prompt, unless it has a title.
func (p *parser) titleFrom(session, msg, prompt string, at transcript.Time) {
	title := format.Title(prompt)
	if title == "" || p.titled {
		return
	}
	p.titled = true
	r := &transcript.Run{ID: runID(session, msg), Local: true, Anchor: session, Anchored: session != "", Named: true, Rank: format.PromptRank(at), Title: title}
	if session != "" && session == p.described { // its record is in the same file
		r.Named, r.Rank = false, 1+p.rank
	}
	p.Emit(r)
}

// session yields the records of a session record: a file of the tree, or a row.
func (p *parser) session(v jsontext.Value) {
	id := cmp.Or(v.Get("id").Text(), p.loc.id)
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
	started := cmp.Or(v.Get("time", "created").MilliTime(), v.Get("time_created").MilliTime())
	title, project, version := v.Get("title").Str(), v.Get("directory").Str(), v.Get("version").Str()
	isFork := forkedTitle.MatchString(title)
	if defaultTitle.MatchString(title) {
		title = ""
	}
	p.runNamed, p.titled = map[string]bool{id: true}, title != ""
	p.Emit(&transcript.Run{
		ID: id, Local: true, Anchor: id, Anchored: true, Rank: 1 + p.rank, Group: first("projectID", "project_id"), Project: project,
		Title: title, Version: version, Started: started, Child: parent != "",
	})
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: id, Shared: true, Rank: 1 + p.rank, Title: title, Project: project, Version: version, Started: started,
		Child: parent != "",
	})
	p.Hint(id, hintSession, "yes", p.baseOrigin)
	if parent != "" {
		p.link("parent", parent, id)
	}
	origin := first("fork_session_id")
	if origin != "" && origin != id {
		p.link("fork", origin, id)
	}
	if started.Valid && (origin != "" || isFork) {
		p.Hint(id, hintForked, strconv.FormatInt(started.UnixMicro, 10), p.baseOrigin)
	}
	e := p.event(transcript.KindLifecycle, roleSession, id, "")
	e.ID, e.Time = id, started
	e.Parts = []transcript.Part{{Text: pieceText(v)}}
	p.Emit(e)
}

// link yields a link to a parent, to the origin of a fork, or, uncounted, to a file that a part names. Both ends are runs that this file names.
func (p *parser) link(kind, from, to string) {
	p.Emit(&transcript.Link{
		Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(to), Origin: p.baseOrigin, Uncounted: kind == linkFile,
	})
	for _, id := range []string{from, to} {
		if !p.runNamed[id] {
			p.runNamed[id] = true
			p.Emit(&transcript.Run{ID: id, Local: true, Anchor: id, Anchored: true, Named: true})
		}
	}
}
