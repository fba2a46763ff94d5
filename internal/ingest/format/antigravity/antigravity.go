// Package antigravity reads the conversations of Google's Antigravity: the editor (~/.gemini/antigravity, ~/.gemini/antigravity-ide), the CLI agy
// (~/.gemini/antigravity-cli) and its server for other editors (~/.gemini/antigravity-acp). Of each there may be a log,
// brain/<conversation>/.system_generated/logs/transcript.jsonl, the same with nothing cut in transcript_full.jsonl, and overview.txt of earlier
// versions, one step per line; and, since June 2026, the database conversations/<conversation>.db, whose rows are protobuf messages.
//
// Producer: its source is closed, and the layout is not described. Checked in November 2026 against what readers say of real files.
// Logs: kenn-io/agentsview (internal/parser/antigravity_brain_transcript.go, autumn 2026), session-bench (antigravity_live.py, which names every member
// of the files of agy 1.2.16, October 2026), AgentSessions (plan of its JSONL migration, agy 1.0.12, June 2026), two that prefer the full
// transcript to the other, and one that reads overview.txt. Databases: six programs that took names and numbers of the fields from the descriptors
// in the binaries (agy 1.0.16 to 1.3.1, agy_acp_server 1.1.1, the editor's language server of September 2026), among them ccusage's adapter, and
// one that compared 5,434 requests. Mapping and counting: docs/formats/antigravity.md.
//
// Earlier conversations, conversations/<id>.pb, are encrypted, and are not read.
//
// Identity: a conversation is a run; its id is the name of its directory and its database. A step is identified by its number in it, what it
// holds by its place in the step. A request is identified by the id of its response, which a fork copies.
//
// Usage: a database states the tokens of each request twice: with the request, which has the model, and with the step that it gave, which has the
// time. Steps have some more, of calls in the background. input_tokens excludes cache_read_tokens (it is often less), output_tokens
// includes thinking_output_tokens (in all of 5,434). Logs of agy since autumn 2026 repeat the tokens.
package antigravity

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return antigravity{} }

type antigravity struct{}

var (
	_ format.Placed        = antigravity{}
	_ format.Splitter      = antigravity{}
	_ format.UsageResolver = antigravity{}
)

// Name returns "antigravity".
func (antigravity) Name() string { return "antigravity" }

// Version counts changes of what Parse yields.
func (antigravity) Version() int { return 4 }

// The roles of the files.
const (
	roleFull     = "full"     // transcript_full.jsonl
	roleShort    = "short"    // transcript.jsonl: long inputs and outputs are cut
	roleOverview = "overview" // overview.txt of earlier versions
	roleDatabase = "database"
	roleSteps    = "steps"    // in a database
	roleRequests = "requests" // in a database
	roleMeta     = "meta"     // <conversation>.meta beside a database: its directory
)

// ranks say which file of a conversation counts, and which states its run best.
var ranks = map[string]int{roleMeta: -1, roleSteps: -1, roleOverview: 0, roleShort: 1, roleFull: 2}

// Places returns where the programs keep their conversations, the same on every system.
func (antigravity) Places() []format.Place {
	place := format.Place{Name: "antigravity", Deletes: "conversations that are deleted"}
	var all []format.Place
	for _, program := range []string{"antigravity", "antigravity-cli", "antigravity-ide", "antigravity-acp"} {
		all = append(all, place.At("~/.gemini/"+program+"/"+brainDir, "~/.gemini/"+program+"/"+conversationsDir)...)
	}
	return all
}

// Parse yields the records of one file.
func (antigravity) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, run: locate(in.Path).conversation}
		switch in.Role {
		case roleFull, roleShort, roleOverview, roleSteps:
			p.transcript()
		case roleRequests:
			p.requests()
		case roleMeta:
			p.meta()
		}
	}
}

// Text returns the text of one part of an event.
func (antigravity) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
