// Package cursor reads the conversations of Cursor, both the editor and the command line agent: transcripts in
// ~/.cursor/projects/<slug>/agent-transcripts (JSON lines, or plain text of older versions), the conversations in the editor's
// database globalStorage/state.vscdb, and those of the command line in ~/.cursor/chats/<hash>/<session>/store.db, or, if another editor
// runs it (the Agent Client Protocol), in ~/.cursor/acp-sessions/<session>/store.db. It also reads what the
// command line prints with --output-format stream-json or json, if somebody has saved it.
//
// Producer: editor 0.43 to 3.13, composers of version 1 to 17, command line 2025 to 2026.09. Cursor publishes no layout; checked in
// November 2026 against some dozen readers of these files. The printed lines are documented (cursor.com/docs/cli/reference/output-format),
// except thinking, fragments and usage, which were checked against outputs of 2026.02 to 2026.08. Layout and counting: docs/formats/cursor.md.
//
// Identity: a composer or session is a run with one conversation, identified by its id, which is the name of its transcript and part
// of the keys of its rows. Both databases hold credentials: only the rows of conversations are read from them, without encryption keys,
// and the files are never kept.
//
// If a conversation is in a database and in a transcript, the database counts: a transcript has no tool results, models or
// tokens, its times are those of prompts alone, and its reasoning is cut. The transcript counts only if the database has lost messages, so
// that the transcript has more events. Where readers disagree: messages that the composer's list no longer names were sent and
// answered, and count; most readers follow the list alone. The tokens of a message are what Cursor wrote, rarely more than 0, and
// an estimate: it is unknown whether they include cached tokens. Those at the end of printed output are of one turn, and exclude cached ones:
// a turn that resumes a session of thousands of tokens states a hundred, and one of two requests with a warm cache states 4.
package cursor

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
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
func (cursor) Version() int { return 11 }

// The roles of the files.
const (
	roleTranscript = "transcript" // JSON lines
	rolePlain      = "plain"      // a transcript as plain text
	roleMeta       = "meta"       // meta.json of a command line session
	roleWorkspace  = "workspace"  // workspace.json of a folder that was open in the editor
	roleState      = "state"      // state.vscdb
	roleStore      = "store"      // store.db
	roleRows       = "rows"       // rows of one composer, from state.vscdb
	roleChat       = "chat"       // rows of store.db
	rolePlan       = "plan"       // what plan mode has written
	roleStream     = "stream"     // saved output of the command line program
)

// Places returns where Cursor keeps its files on Linux, macOS and Windows.
func (cursor) Places() []format.Place {
	const deletes = "conversations that are deleted; new versions of the editor have emptied old ones"
	var all []format.Place
	for _, dir := range []string{"~/.cursor", "$CURSOR_CONFIG_DIR", "$XDG_CONFIG_HOME/cursor"} {
		all = append(all, format.Place{Name: "cursor", Path: dir + "/projects"}, format.Place{Name: "cursor", Path: dir + "/chats"},
			format.Place{Name: "cursor", Path: dir + "/" + acpDir}, format.Place{Name: "cursor", Path: dir + "/" + plansDir})
	}
	all = append(all, format.Place{Name: "cursor", Path: "$CURSOR_DATA_DIR/projects"})
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
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, loc: locate(in.Path, in.Top())}
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
		case rolePlan:
			p.plan()
		case roleStream:
			p.stream()
		}
		p.finish()
	}
}

// Text returns the text of one part of an event.
func (cursor) Text(role string, raw []byte, _ int) (string, error) {
	switch role {
	case rolePlain:
		return plainText(string(raw)), nil
	case rolePlan:
		return format.LooseText(raw), nil
	case roleStream:
		return streamText(raw)
	}
	return format.TextOf(role, raw, func(v jsontext.Value) string { return string(appendValue(nil, role, v)) })
}

// The ranks of originals of a conversation.
const (
	rankStream     = 0
	rankPlain      = 1
	rankTranscript = 2
	rankRows       = 3
	rankMetadata   = 4 // metadata in a database: the conversation's name
)

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	loc               location
	session           string // native id of the run and its conversation
	rank              int
	shared            bool
	order             string                  // of the original among those of a shared conversation
	hasMessages       bool                    // a message was seen
	messagesElsewhere bool                    // the conversation exists, its messages are in another original
	isMetadata        bool                    // the original has metadata from a database, not messages
	isGuess           bool                    // later lines may determine how the first ones are read
	conv              transcript.Conversation // what the file states about it
	facts             transcript.Attributes
	started           transcript.Time   // of the last message that states a time; before any, of the conversation
	at                transcript.Time   // of the line, in saved output
	model             string            // the model that answers from here on
	calls             int               // calls and messages without an id so far
	toolNames         map[string]string // by call id
	baseOrigin        transcript.Origin // of base
	base              jsontext.Value    // the line whose bytes values are located in
	lend              format.Lender
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Run, pr.Alone = p.session, !p.shared
	p.Emit(pr)
}

// emitConversation yields the conversation before its first message.
func (p *parser) emitConversation() {
	if !p.hasMessages {
		p.hasMessages = true
		p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Shared: p.shared, Order: p.order, Rank: p.rank, Child: p.conv.Child})
	}
}

// finish yields the run with all that the file states about its session, and the conversation if there is one.
func (p *parser) finish() {
	if p.session == "" || p.Done() {
		return
	}
	c := p.conv
	rank, group := p.rank, p.loc.project
	if p.isMetadata {
		rank = rankMetadata
	}
	if group == "" {
		group = slug(c.Project)
	}
	p.Emit(&transcript.Run{
		ID: p.session, Rank: rank, Group: group, Title: c.Title, Model: c.Model, Project: c.Project, Branch: c.Branch, Started: c.Started, Child: c.Child,
		Named: !p.hasMessages, Guess: p.isGuess, Attributes: p.facts,
	})
	if p.hasMessages || p.messagesElsewhere {
		c.ID, c.Run, c.Shared, c.Order = p.session, p.session, p.shared, p.order
		if p.hasMessages {
			c.Rank = p.rank
		}
		p.Emit(&c)
	}
}
