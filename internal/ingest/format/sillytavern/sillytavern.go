// Package sillytavern reads the chats of SillyTavern, with one character or with a group of them: chats/<character>/<name>.jsonl and
// group chats/<name>.jsonl.
//
// Producer: checked in December 2026 against the endpoints that read, write, back up and import chats, the scripts that make messages, swipes,
// branches and checkpoints and that save the calls of tools, and the program's own reading of times; and against three readers of the files.
// Layout and counting: docs/formats/sillytavern.md.
//
// Identity: no chat has an id, for a branch, a checkpoint and a backup copy the one in newer ones. A chat is a run that is named after the time and
// the text of its first message, which all of them share, with one conversation; those that go on differently are conversations of their own. A
// message is identified by its time, its text and how often it was said before.
//
// Usage: none but the number of tokens in a message's own text, which the program counts itself if it is set to. That of an answer is what its
// request gave.
package sillytavern

import (
	"cmp"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return sillyTavern{} }

type sillyTavern struct{}

var (
	_ format.Placed     = sillyTavern{}
	_ format.Resolver   = sillyTavern{}
	_ format.Withholder = sillyTavern{}
)

// Name returns "sillytavern".
func (sillyTavern) Name() string { return "sillytavern" }

// Version counts changes of what Parse yields.
func (sillyTavern) Version() int { return 1 }

// The roles of the files.
const (
	roleChat   = "chat"
	roleBackup = "backup" // an earlier state of a chat
)

// Places returns the directories of chats of the only user, of newer and older versions, where the documentation has the program installed.
func (sillyTavern) Places() []format.Place {
	place := format.Place{Name: "sillytavern", Deletes: "chats, messages and swipes that are deleted"}
	return place.At("~/SillyTavern/data/default-user/chats", "~/SillyTavern/data/default-user/group chats", "~/SillyTavern/public/chats",
		"~/SillyTavern/public/group chats", "~/SillyTavern-Launcher/SillyTavern/data/default-user/chats",
		"~/SillyTavern-Launcher/SillyTavern/data/default-user/group chats")
}

// Parse yields the records of one file.
func (sillyTavern) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{role: in.Role, said: map[string]int{}, Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		problem := func(problem *transcript.Problem) { p.Problem(p.Session, problem) }
		for o := range p.Each(jsontext.Objects(in.Reader, "", problem)) {
			p.Row = o
			p.Lend.Reset()
			p.line(o.Value)
		}
		p.end()
	}
}

// parser is one parse of one file.
type parser struct {
	format.Rows
	role   string
	header jsontext.Object // the first line, if it is no message, until the first message
	said   map[string]int  // how often a message was said
	calls  int             // without an id, so far
	model  string          // of the answers, if all have the same
	models int             // that differ from the one before
}

// conversation is the id of a chat in its run.
const conversation = "main"

// end yields what is only known at the end of the file: the model, if all answers have the same.
func (p *parser) end() {
	switch {
	case p.Done():
	case p.Begun && p.models == 1:
		p.Emit(&transcript.Run{ID: p.Session, Model: p.model})
	case !p.Begun:
		p.Settle("")
		p.emitHeader()
	}
}

// backup is the attribute of an earlier state of a chat. That is not told by its events: the latest backup has the bytes of the chat.
const backup = "backup"

// Resolve sets the fields of a conversation from what is known of its run. Backups count if there is nothing else, and of them the one with the most events.
func (sillyTavern) Resolve(f *transcript.Family) {
	var best *transcript.FamilyConversation
	for _, c := range f.Conversations {
		c.Title, c.Model = f.Run.Title, f.Run.Model
		if best == nil || isBetter(c, best) {
			best = c
		}
	}
	for _, c := range f.Conversations {
		if c != best && c.Attributes[backup] != nil {
			c.Verdict = transcript.DerivedTotal
		}
	}
}

func isBetter(c, than *transcript.FamilyConversation) bool {
	if one, other := c.Attributes[backup] != nil, than.Attributes[backup] != nil; one != other {
		return other
	}
	return cmp.Or(cmp.Compare(c.Events, than.Events), cmp.Compare(c.Path, than.Path)) > 0
}
