// Package cursor reads what Cursor, the editor and its agent for the command line, leaves: transcripts in
// ~/.cursor/projects/<slug>/agent-transcripts (lines of JSON, or plain text of older versions), the conversations in the editor's
// database globalStorage/state.vscdb, and those of the command line in ~/.cursor/chats/<hash>/<session>/store.db. Cursor publishes no
// layout; checked in November 2026 against what some dozen readers of these files say (editor 0.43 to 3.13, composers of version 1 to
// 17, command line 2025 to 2026.09). Layout and counting: docs/formats/cursor.md.
//
// What it promises: a run and a conversation are a composer or session, known by its id, which is the name of its transcript and part
// of the keys of its rows. Both databases hold credentials: of them only the rows of conversations are read, without keys of ciphers,
// and never is the file kept.
//
// Where a conversation is in a database and in a transcript the database counts: a transcript has neither results of tools nor models
// nor tokens, its times are those of prompts alone, and thoughts in it are cut. Only where the database has lost messages, so that the
// transcript has more, that counts. Where readers disagree: messages that no list of the composer names any more were asked and
// answered, and count; most follow the list alone. Tokens of a message are what the program put there, seldom more than 0, and
// an estimate: nobody knows whether they have what was cached.
package cursor

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return cursor{} }

type cursor struct{}

var (
	_ format.Placed        = cursor{}
	_ format.Splitter      = cursor{}
	_ format.UsageResolver = cursor{}
	_ format.Withholder    = cursor{}
)

// Name returns "cursor".
func (cursor) Name() string { return "cursor" }

// Version counts changes of what Parse yields.
func (cursor) Version() int { return 4 }

// The roles of the files.
const (
	roleTranscript = "transcript" // lines of JSON
	rolePlain      = "plain"      // a transcript as plain text
	roleMeta       = "meta"       // meta.json of a session of the command line
	roleWorkspace  = "workspace"  // workspace.json of a directory that was open in the editor
	roleState      = "state"      // state.vscdb
	roleStore      = "store"      // store.db
	roleRows       = "rows"       // of one composer, from state.vscdb
	roleChat       = "chat"       // the rows of store.db
)

// Places says where the programs keep their files: Linux, macOS, Windows.
func (cursor) Places() []format.Place {
	const deletes = "conversations that are deleted; new versions of the editor have emptied old ones"
	var all []format.Place
	for _, dir := range []string{"~/.cursor", "$CURSOR_CONFIG_DIR", "$XDG_CONFIG_HOME/cursor"} {
		all = append(all, format.Place{Name: "cursor", Path: dir + "/projects"}, format.Place{Name: "cursor", Path: dir + "/chats"})
	}
	for _, home := range format.ConfigHomes {
		user := home + "/Cursor/User/"
		all = append(all, format.Place{Name: "cursor", Path: user + "globalStorage", Holds: stateName, Deletes: deletes},
			format.Place{Name: "cursor", Path: user + workspacesDir, Deletes: deletes})
	}
	return all
}

// Parse yields the records of one file.
func (cursor) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, where: place(in.Path, in.Top())}
		switch in.Role {
		case roleTranscript:
			p.lines()
		case rolePlain:
			p.plain()
		case roleMeta, roleWorkspace:
			p.document()
		case roleRows:
			p.rows()
		case roleChat:
			p.chat()
		}
		p.end()
	}
}

// Text gives the text of one part of an event.
func (cursor) Text(role string, raw []byte, _ int) (string, error) {
	if role == rolePlain {
		return plainText(string(raw)), nil
	}
	return format.TextOf(role, raw, func(v format.Value) string { return string(appendPiece(nil, role, v)) })
}

// The ranks of what an original says of a conversation.
const (
	rankPlain      = 1
	rankTranscript = 2
	rankRows       = 3
	rankKept       = 4 // of what a database keeps of it: its name
)

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	where   spot
	session string // native id of the run and its conversation
	rank    int
	shared  bool
	order   string                  // of the original among those of a shared conversation
	said    bool                    // a message was seen
	open    bool                    // there is a conversation, its messages are elsewhere
	kept    bool                    // the file is what a database keeps of it beside its messages
	is      transcript.Conversation // what the file says of it
	facts   transcript.Attributes
	started transcript.Time   // of the last message that states one, first of the conversation
	model   string            // that answers from here on
	calls   int               // and messages so far, for those without an id
	names   map[string]string // of tools, by call
	at      transcript.Origin // of whole
	whole   format.Value      // the line that values are cut from
	lend    format.Lender
}

// problem reports what could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Run, pr.Alone = p.session, !p.shared
	p.Emit(pr)
}

// speak makes the session one that counts: somebody says something.
func (p *parser) speak() {
	if !p.said {
		p.said = true
		p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Shared: p.shared, Order: p.order, Rank: p.rank, Child: p.is.Child})
	}
}

// end states what the whole file says of its session: of the run, and of the conversation where there is one.
func (p *parser) end() {
	if p.session == "" || p.Done() {
		return
	}
	c := p.is
	rank, group := p.rank, p.where.project
	if p.kept {
		rank = rankKept
	}
	if group == "" {
		group = slug(c.Project)
	}
	p.Emit(&transcript.Run{
		ID: p.session, Rank: rank, Group: group, Title: c.Title, Model: c.Model, Project: c.Project, Branch: c.Branch, Started: c.Started, Child: c.Child,
		Named: !p.said, Attributes: p.facts,
	})
	if p.said || p.open {
		c.ID, c.Run, c.Shared, c.Order = p.session, p.session, p.shared, p.order
		if p.said {
			c.Rank = p.rank
		}
		p.Emit(&c)
	}
}
