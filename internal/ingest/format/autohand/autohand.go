// Package autohand reads the sessions of Autohand Code: a directory sessions/<session> for each in ~/.autohand, or where a program that uses its SDK
// has them, with the messages and what the program knows of the session.
//
// Producer: checked in December 2026 against autohandai/code-cli (src/session, src/core/agent, src/import; versions 0.5 to 0.9), its desktop program
// Commander, which reads them, and two readers of others. Layout and counting: docs/formats/autohand.md.
//
// Identity: a session is a run with one conversation; its id is a UUID and the time of its creation, and names the directory. Messages have no ids: they
// are known by their lines, which a fork repeats as they are.
//
// Usage: only sums of a session are stored. A fork begins with those of the session that it is from, so of both the greater counts.
package autohand

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return autohand{} }

type autohand struct{}

var (
	_ format.Placed        = autohand{}
	_ format.UsageResolver = autohand{}
	_ format.Withholder    = autohand{}
)

// Name returns "autohand".
func (autohand) Name() string { return "autohand" }

// Version counts changes of what Parse yields.
func (autohand) Version() int { return 1 }

// The roles of the files.
const (
	roleConversation = "conversation"
	roleMetadata     = "metadata"
)

// Places returns where the program keeps its sessions, the same on every system.
func (autohand) Places() []format.Place {
	return format.Place{Name: "autohand"}.At("~/"+homeName+"/"+sessionsName, "$AUTOHAND_HOME/"+sessionsName)
}

// Parse yields the records of one file.
func (autohand) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.Session = sessionOf(in.Path)
		p.created = createdAt(p.Session)
		switch in.Role {
		case roleConversation:
			p.EachRow(in.Reader, p.message)
		case roleMetadata:
			p.metadata(in.Reader)
		}
	}
}

// parser is one parse of a file of a session.
type parser struct {
	format.Rows

	created transcript.Time // of the session
}

// Text returns the text of one part of an event.
func (autohand) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
