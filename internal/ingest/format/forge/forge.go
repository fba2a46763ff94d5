// Package forge reads the conversations of ForgeCode (Antinomy's agent, earlier Tailcall's): the database .forge.db in its home directory.
//
// Producer: checked in November 2026 against antinomyhq/forge (crates forge_domain: context, conversation, message; forge_repo and forge_infra: the
// records of conversations and the migrations from September 2025 to February 2026; forge_app: orchestrator, compaction and what providers
// report), and two readers of the database. Layout and counting: docs/formats/forge.md.
//
// Identity: a conversation is a run with one conversation, identified by its UUID. Its row is written anew with every message, and messages
// have no ids: an event is identified by when its conversation was created, which a clone of it keeps, and by a hash of what it says.
//
// Usage: each answer states its request. When the program shortens a conversation, it replaces answers by a summary that states their sum, and
// sets the prompts of the answers that stay to 0, which is then unknown. The sum counts if the archive does not have all requests that are in it.
// Readers disagree on cached_tokens; they are part of the prompt, as the program's own conversions have it (of Bedrock they are not).
package forge

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return forge{} }

type forge struct{}

var (
	_ format.Placed        = forge{}
	_ format.Splitter      = forge{}
	_ format.UsageResolver = forge{}
	_ format.Withholder    = forge{}
)

// Name returns "forge".
func (forge) Name() string { return "forge" }

// Version counts changes of what Parse yields.
func (forge) Version() int { return 3 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the row of one conversation
)

// Places returns the databases in the program's home directory: ~/forge if it is there, as in early versions, else ~/.forge.
func (forge) Places() []format.Place {
	place := format.Place{Name: "forge", Deletes: "conversations that are deleted, and messages that a summary replaces"}
	return place.At("~/.forge/"+databaseName, "~/forge/"+databaseName, "$FORGE_CONFIG/"+databaseName)
}

// Parse yields the records of one file.
func (forge) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
	}
}

// parser is one parse of the rows of conversations, which are one line each.
type parser struct {
	format.Rows
	origin string         // of the conversation and its clones
	home   bool           // the conversation is not a clone, as far as its row shows
	seen   map[string]int // occurrences of a message
}

// conversation is the id of the only conversation in a run.
const conversation = "main"
