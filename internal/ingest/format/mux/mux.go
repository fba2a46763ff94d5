// Package mux reads the workspaces of Mux, Coder's desktop program for agents (coder/mux, since autumn 2026 coder/xum): a directory for each below
// ~/.mux/sessions or ~/.xum/sessions, with chat.jsonl, chat-archive.jsonl and what sub-agents said whose workspaces are gone.
//
// Producer: checked in November 2026 against its source, of November 2025 to October 2026 (historyService.ts, sessionUsageService.ts,
// subagentTranscriptArtifacts.ts, displayUsage.ts, usageHelpers.ts, the schemas of messages, tools and usage, paths.ts). Layout and counting:
// docs/formats/mux.md.
//
// Identity: a workspace is a run with one conversation, called like its directory. Messages have ids of their time and nine random characters; a fork of a
// workspace copies them. The program writes chat.jsonl anew at the end of each answer, moves what is before a compaction to the archive, and cuts off what
// follows a prompt that is edited: messages are joined by their ids.
//
// Usage: a message states the sum of the requests of an answer. inputTokens includes the cache; of Anthropic's models it did not until the end of 2025,
// which shows where the cache has more. session-usage.json has sums of the same requests, and of those of sub-agents.
package mux

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return mux{} }

type mux struct{}

var (
	_ format.Placed     = mux{}
	_ format.Resolver   = mux{}
	_ format.Withholder = mux{}
)

// Name returns "mux".
func (mux) Name() string { return "mux" }

// Version counts changes of what Parse yields.
func (mux) Version() int { return 2 }

// The roles of the files.
const (
	roleChat     = "chat"     // chat.jsonl: since the last compaction
	roleArchive  = "archive"  // chat-archive.jsonl: before it
	roleHeadless = "headless" // headless-usage.jsonl: requests without a message
	roleChildren = "children" // subagent-transcripts.json: who started the sub-agents
	roleMeta     = "meta"     // metadata.json
)

// The ranks of what files state about a run: of two first prompts, the archive's is the first.
const (
	rankNamed = iota
	rankChat
	rankArchive
	rankMeta
)

// Places returns where the program keeps its workspaces, the same on every system, under its old and its new name.
func (mux) Places() []format.Place {
	place := format.Place{Name: "mux", Deletes: "a workspace that is deleted, and what follows a prompt that is edited"}
	return place.At("~/.mux/"+sessionsDir, "~/.xum/"+sessionsDir, "$MUX_ROOT/"+sessionsDir, "$XUM_ROOT/"+sessionsDir)
}

// Parse yields the records of one file.
func (mux) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{
			Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendText}, in: in, loc: locate(in.Path), seen: map[string]bool{}, linked: map[string]bool{},
		}
		p.Session = p.loc.workspace
		switch in.Role {
		case roleChat, roleArchive:
			p.EachRow(in.Reader, p.message)
			p.end()
		case roleHeadless:
			p.EachRow(in.Reader, p.headless)
		case roleChildren:
			p.document(p.children)
		case roleMeta:
			p.document(p.meta)
		}
	}
}

// Resolve sets the fields of a conversation that another file states.
func (mux) Resolve(f *transcript.Family) { format.InheritRun(f) }
