// Package goose reads the sessions of Goose, Block's agent: the database sessions/sessions.db (from 1.10), and the files
// sessions/<session>.jsonl of the versions before, which the program takes over into it. Checked in November 2026 against the
// program's session store of 1.0 to 1.45 (schemas 0 to 15; 16 and 17 add nothing that is read), its messages and its page on logs.
// Layout and counting: docs/formats/goose.md.
//
// What it promises: a run and its one conversation are a session. The database numbers sessions anew each day, so that such a session is
// known by its number and when it was made. Messages are known by what the program calls them, when they were made and what
// they say: it gives one name to several, writes all of them anew under other numbers when it makes a conversation shorter, and copies them to a session
// that goes on from another.
//
// A request is a row of usage_ledger, whose input is the whole prompt. Without such rows (schemas before 15) what the session's own row
// has counted counts, one sum for all of it. What the program carried forward from such a sum into the ledger is a derived total.
package goose

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return goose{} }

type goose struct{}

var (
	_ format.Placed     = goose{}
	_ format.Resolver   = goose{}
	_ format.Splitter   = goose{}
	_ format.Withholder = goose{}
)

// Name returns "goose".
func (goose) Name() string { return "goose" }

// Version counts changes of what Parse yields.
func (goose) Version() int { return 3 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // of one session
	roleFile     = "file" // a session of the versions before the database
)

// Places says where the program keeps its sessions: Linux and macOS, Windows, and early versions.
func (goose) Places() []format.Place {
	const deletes = "sessions that are deleted, and messages behind one that is edited"
	var all []format.Place
	for _, dir := range []string{"~/.local/share/goose", "$XDG_DATA_HOME/goose", "$GOOSE_PATH_ROOT/data", "~/AppData/Roaming/Block/goose/data", "$APPDATA/Block/goose/data",
		"~/Library/Application Support/Block/goose", "~/.config/goose"} {
		all = append(all, format.Place{Name: "goose", Path: dir + "/" + sessionsDir, Deletes: deletes})
	}
	return all
}

// Parse yields the records of one file.
func (goose) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{in: in, Sink: format.Sink{Yield: yield}, seen: map[string]int{}}
		switch in.Role {
		case roleRows:
			p.lines(p.row)
		case roleFile:
			p.session = fileSession(in.Path)
			p.lines(p.entry)
		}
	}
}

// The ranks of what an original says of a session: what the program took over from a file counts.
const (
	rankFile = 1
	rankRows = 2
)

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session string            // that is told of
	bare    string            // as the program calls it
	spoken  bool              // its conversation was stated
	met     bool              // it was named
	seen    map[string]int    // how often a message was met
	at      transcript.Origin // of whole
	whole   format.Value      // the line that values are cut from
	lend    format.Lender
}

func (p *parser) lines(line func(format.Value)) {
	problem := func(pr *transcript.Problem) {
		pr.Run = p.session
		p.Emit(pr)
	}
	for o := range p.Each(format.Objects(p.in.Reader, "", problem)) {
		p.at, p.whole = o.Origin, o.Value
		p.lend.Reset()
		line(o.Value)
	}
}

// conversation is the id of the one conversation that a session has.
const conversation = "main"

// speak states the session and its conversation, once.
func (p *parser) speak(rank int) {
	if !p.spoken {
		p.spoken = true
		p.Emit(&transcript.Run{ID: p.session, Rank: rank})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.session, Rank: rank})
	}
}

// part is a piece of a line that has its own bytes.
func (p *parser) part(v format.Value) transcript.Part {
	text := p.lend.Text(func(dst []byte) []byte { return appendPiece(dst, v) })
	return transcript.Part{Text: text, Offset: format.OffsetIn(p.whole, v), Length: int64(v.Len())}
}

// aside is an uncounted row of the session.
func (p *parser) aside(kind transcript.Kind, typ string, at transcript.Time) {
	e := p.lend.Event(transcript.Event{Run: p.session, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Time: at, Origin: p.at})
	e.Parts[0] = p.part(p.whole)
	p.Emit(e)
}

// stamp reads a time in seconds, or in milliseconds where it cannot be one in seconds.
func stamp(v format.Value) transcript.Time {
	n, ok := v.Int()
	switch {
	case !ok:
		return transcript.Time{}
	case n > 1e11:
		return format.UnixMilli(n)
	}
	return format.UnixSeconds(n)
}
