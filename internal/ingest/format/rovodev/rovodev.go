// Package rovodev reads the sessions of Rovo Dev, Atlassian's agent for the terminal (acli rovodev, rovo), in ~/.rovodev/sessions
// and ~/.rovo/sessions: <session>/session_context.json with the messages, and <session>/metadata.json with what is noted about
// them.
//
// Producer: closed. Checked in December 2026 against Atlassian's documentation of sessions, settings and the server; the client
// of its open source extension for VS Code; the source of Pydantic AI, whose messages they are; and the readers of Harbor, ctx,
// Orca, cmux and a converter to traces, which states the figures of a real session. Layout and counting:
// docs/formats/rovo-dev.md.
//
// Identity: a session is a run with one conversation, called like its directory. The id in the document is not taken for it where
// there is a directory: a fork begins as a copy. Messages have no ids: their parts are identified by their times, which have
// microseconds, the id of the response, and the id of the call.
//
// Usage: each response states its own, and the session their sum, which counts only where no response does. The input includes
// what was read from and written to the cache: Pydantic AI adds them up, and in the real session they are all of it but 45
// tokens. Harbor's reader, and one derived from it, take them as apart from each other.
package rovodev

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return rovoDev{} }

type rovoDev struct{}

var (
	_ format.Placed        = rovoDev{}
	_ format.UsageResolver = rovoDev{}
	_ format.Withholder    = rovoDev{}
)

// Name returns "rovodev".
func (rovoDev) Name() string { return "rovodev" }

// Version counts changes of what Parse yields.
func (rovoDev) Version() int { return 1 }

// The roles of the files.
const (
	roleContext  = "context"  // session_context.json
	roleMetadata = "metadata" // metadata.json
)

// The ranks of what files state about a run.
const (
	rankContext = iota
	rankMetadata
	rankMoved // metadata.json in the newer of the homes, to which sessions were copied
)

// Places returns where the program keeps its sessions, the same on every system. It has copied them from the first to the second.
func (rovoDev) Places() []format.Place {
	sessions := format.Place{
		Name: "rovodev", Deletes: "sessions that are deleted, messages that are cleared, and results of tools that are pruned",
	}
	return sessions.At("~/.rovodev/"+sessionsName, "~/"+newHome+"/"+sessionsName)
}

// Parse yields the records of one file.
func (rovoDev) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{tools: map[string]string{}, seen: map[string]int{}}
		p.Rows = format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}
		p.Session = directoryOf(in.Path)
		switch in.Role {
		case roleContext:
			p.context(in)
		case roleMetadata:
			p.metadata(in)
		}
	}
}

// Resolve sets the fields of a conversation from what is noted about its session, and decides whether the sum of a session
// counts.
func (rovoDev) Resolve(f *transcript.Family) {
	format.InheritRun(f)
	resolveUsage(f)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (rovoDev) ResolvesUsage() {}

// Text returns the text of one part of an event.
func (rovoDev) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
