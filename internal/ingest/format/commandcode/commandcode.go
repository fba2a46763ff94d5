// Package commandcode reads the sessions of Command Code (commandcode.ai): a file <session>.jsonl for each, and <session>.meta.json beside it, in a
// directory for the project below ~/.commandcode/projects.
//
// Producer: closed; its npm package command-code is one minified file. Checked in November 2026 against its page on sessions, four descriptions of that
// file (versions 0.40 of June to 1.73 of October 2026) and of real sessions (1,385 lines of version 2 of the layout; 180 sessions, and 1,294 lines, of
// version 3), and the readers of kenn-io/agentsview and junhoyeo/tokscale. Layout and counting: docs/formats/command-code.md.
//
// Identity: a session is a run with one conversation, called like its file. Version 3 only appends to it, and a fork or a clone copies entries with their
// ids, which may be the first 8 characters of a UUID: an id and its time identify an entry. Version 2 (until summer 2026) wrote the whole file anew with
// new ids: its lines are identified by their places.
//
// Where readers disagree: inputTokens is without the cache. Of three that read the program, one takes it for the whole prompt, as the program has it
// before it is stored; in real sessions there is more in the cache than in the input.
package commandcode

import (
	"cmp"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return commandCode{} }

type commandCode struct{}

var (
	_ format.Placed     = commandCode{}
	_ format.Resolver   = commandCode{}
	_ format.Withholder = commandCode{}
)

// Name returns "command-code".
func (commandCode) Name() string { return "command-code" }

// Version counts changes of what Parse yields.
func (commandCode) Version() int { return 2 }

// The roles of the files.
const (
	roleSession = "session" // <session>.jsonl
	roleMeta    = "meta"    // <session>.meta.json: what the program notes about it
)

// The ranks of what files state about a run.
const (
	rankSession = iota
	rankMeta
)

// Places returns where the program keeps its sessions, the same on every system.
func (commandCode) Places() []format.Place {
	return format.Place{Name: "command-code", Deletes: "a session that is deleted in /resume"}.At("~/" + homeName + "/" + projectsDir)
}

// Parse yields the records of one file.
func (commandCode) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, stem: sessionOf(in.Path), tools: map[string]string{}, seen: map[string]bool{}}
		switch in.Role {
		case roleSession:
			p.session(in.Reader)
		case roleMeta:
			p.meta(in.Reader)
		}
	}
}

// Resolve sets the fields of a conversation from what the program notes about its session.
func (commandCode) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title = cmp.Or(f.Run.Title, c.Title)
		c.Model = cmp.Or(c.Model, f.Run.Model)
		c.Project = cmp.Or(c.Project, f.Run.Project)
	}
}

// Text returns the text of one part of an event.
func (commandCode) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
