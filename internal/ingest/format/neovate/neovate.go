// Package neovate reads the sessions of Neovate Code, a coding agent for the terminal: a file <session>.jsonl for each, in a directory for the project
// below ~/.neovate/projects, and agent-<id>.jsonl for its sub-agents; and the prompts and directories in ~/.neovate/data.json.
//
// Producer: github.com/neovateai/neovate-code, src/session.ts, jsonl.ts, message.ts, history.ts, loop.ts, project.ts, agent/executor.ts, compact.ts,
// paths.ts, globalData.ts and docs/designs, of 0.1 to what 0.28 grew from (2025 to February 2026). Checked in December 2026 also against three readers:
// the importer of ctx (its notes on 0.28.5), a yearly review of sessions (Neovate Code Wrapped), and the plugin by which AO resumes sessions. Mapping and
// counting: docs/formats/neovate.md.
//
// Identity: a session is a run with one conversation, called by the first 8 digits of a UUID. A message has a UUID of its own, which for an answer is
// that of its request. Messages form a tree: going back adds a branch to the same file.
//
// The program adds lines, and writes the whole file anew when the session's settings change, which are its first line.
//
// Where sources disagree: the program's types allow a cache in the usage of an answer, but no version of the loop that was read writes one. The tokens
// of the prompt are those that the AI SDK reports, which included the cache for most providers, and for all since its version 6.
package neovate

import (
	"cmp"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return neovate{} }

type neovate struct{}

var (
	_ format.Placed     = neovate{}
	_ format.Resolver   = neovate{}
	_ format.Withholder = neovate{}
)

// Name returns "neovate".
func (neovate) Name() string { return "neovate" }

// Version counts changes of what Parse yields.
func (neovate) Version() int { return 1 }

// The roles of the files.
const (
	roleSession = "session" // <session>.jsonl and agent-<id>.jsonl
	roleData    = "data"    // data.json: directories, with what was typed there
)

// Places returns where the program keeps its sessions and what was typed, the same on every system.
func (neovate) Places() []format.Place {
	return format.Place{Name: "neovate"}.At("~/"+homeName+"/"+projectsDir, "~/"+homeName+"/"+dataName)
}

// Parse yields the records of one file.
func (neovate) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := newParser(in.Path, yield)
		switch in.Role {
		case roleSession:
			p.session(in.Reader)
		case roleData:
			p.data(in.Reader)
		}
	}
}

// Resolve sets what the sessions that started a sub-agent state about it.
func (neovate) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Agent = cmp.Or(c.Agent, f.Run.Agent)
		c.Child = c.Child || f.Run.Child
	}
}

// Text returns the text of one part of an event.
func (neovate) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
