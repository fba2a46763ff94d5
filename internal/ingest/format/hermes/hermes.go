// Package hermes reads the sessions of Hermes Agent, the agent of Nous Research: the database state.db in its home directory and in those
// of its profiles, the transcripts that earlier versions kept in files beside it (sessions/<session>.jsonl and session_<session>.json),
// and what "hermes sessions export" writes.
//
// Producer: checked in November 2026 against the session store of Hermes Agent (schemas 1 to 30), its accounting, its gateway and its
// documentation of sessions. Layout and counting: docs/formats/hermes.md.
//
// Identity: a session is a run with one conversation. Its id (date, time and hexadecimal digits) is the same in the database, in files and in
// exports. A message is identified as the program itself tells messages apart: by its time, role, content and calls. The number of its row
// is not enough, since the program writes messages anew, under other numbers, whenever it shortens a conversation.
//
// Usage: requests are not recorded one by one. The database adds them up, by model and kind of work from schema 20 on, and by session in all
// schemas. Where sources of earlier readers disagree (whether the sums of a session are more than those of its models), what counts is the
// sums of the models, and of the session only what they do not cover, as in the program's own report.
package hermes

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return hermes{} }

type hermes struct{}

var (
	_ format.Placed     = hermes{}
	_ format.Resolver   = hermes{}
	_ format.Splitter   = hermes{}
	_ format.Withholder = hermes{}
)

// Name returns "hermes".
func (hermes) Name() string { return "hermes" }

// Version counts changes of what Parse yields.
func (hermes) Version() int { return 4 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows"     // the rows of one session
	roleLog      = "log"      // a transcript of the gateway, in versions before the database was its only store
	roleSnapshot = "snapshot" // the messages of a session in one document, as the agent wrote them after each turn
	roleExport   = "export"   // of sessions, one per line
)

// Places returns the database, the transcripts and the profiles in the program's home directory, on Linux, macOS and Windows. The rest of that
// directory is no transcript, and much: the program itself, with what it depends on.
func (hermes) Places() []format.Place {
	place := format.Place{
		Name:    "hermes",
		Deletes: "ended sessions that were not used for sessions.retention_days (90 unless set), and sessions that are deleted; in early versions, messages that are undone",
	}
	var all []format.Place
	for _, home := range []string{"~/" + homeName, "$HERMES_HOME", "~/AppData/Local/hermes", "$LOCALAPPDATA/hermes"} {
		all = append(all, place.At(home+"/"+databaseName, home+"/"+sessionsDir, home+"/"+profilesDir)...)
	}
	return all
}

// Parse yields the records of one file.
func (hermes) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{in: in, Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}, archived: map[uint64]bool{}, written: map[string]int{}}
		switch in.Role {
		case roleRows:
			p.EachRow(in.Reader, p.row)
		case roleLog:
			p.enter(format.Stem(in.Path))
			p.EachRow(in.Reader, p.logLine)
		case roleSnapshot:
			p.snapshot()
		case roleExport:
			p.EachRow(in.Reader, p.exported)
		}
	}
}

// The ranks of a session's originals: the database outranks exports, and both outrank the files of earlier versions, of which none always
// has more than the other.
const (
	rankPrompt = iota // what is not stated, but follows from the first prompt
	rankFile
	rankExport
	rankRows
)

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Rows

	hasTitle     bool            // a title was taken from a prompt
	isContinuing bool            // no message so far is the session's own: see message.identify
	isCarrying   bool            // the last message was a summary, or carried over with it
	archived     map[uint64]bool // messages that the model does not get any more, by the hash of what they are
	written      map[string]int  // how often a message was written
}

// enter makes a session the current one.
func (p *parser) enter(session string) {
	if p.Begin(session) {
		p.hasTitle, p.isContinuing, p.isCarrying = false, true, false
		clear(p.archived)
		clear(p.written)
	}
}

// conversation is the id of the only conversation in a session.
const conversation = "main"

// emitConversation yields the session and its conversation, once.
func (p *parser) emitConversation() {
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Run{ID: p.Session, Rank: p.runRank()})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session, Rank: p.rank()})
	}
}

// rank is how an original's conversation ranks.
func (p *parser) rank() int {
	switch p.in.Role {
	case roleRows:
		return rankRows
	case roleExport:
		return rankExport
	}
	return rankFile
}

// runRank is how what messages say of a session ranks: its own row in a database is another original.
func (p *parser) runRank() int {
	if p.in.Role == roleRows {
		return rankPrompt
	}
	return p.rank()
}
