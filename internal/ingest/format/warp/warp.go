// Package warp reads the agent conversations of the terminal Warp, in the database warp.sqlite in its state directory: the tables
// agent_conversations (what is stated of a conversation, with its sums of tokens and credits), agent_tasks (its messages, as protobuf, one task for the
// conversation and one for each sub-agent) and ai_queries (prompts, for the history at the prompt).
//
// Producer: checked in December 2026 against Warp's source: its schema and migrations, its code that saves, restores and forks conversations
// (summer to autumn 2026), its tests of places, and the published definitions of its messages (warp.multi_agent.v1, several states up to autumn 2026), which keep the
// numbers of fields; and against what other readers say of conversation_data. No real database was seen. Layout and counting: docs/formats/warp.md.
//
// The database also holds commands, variables of servers and of the environment, and Warp Drive: only rows of conversations leave it.
//
// Identity: a conversation is a run; it is identified by its UUID. A task without a parent is its main conversation, any other one is a sub-agent's.
// A message is identified by its id, which a fork of the conversation keeps, while its tasks get other ids. ai_queries repeats prompts without naming
// the message: one with the text of a message is a copy.
//
// Usage: the server sends the sums of a conversation with each answer. Only those of later versions tell the classes of tokens apart, and
// the cost in cents. Credits are no money. A fork begins with the sums of the conversation that it was forked from, so its own are no usage.
package warp

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return warp{} }

type warp struct{}

var (
	_ format.Placed     = warp{}
	_ format.Splitter   = warp{}
	_ format.Withholder = warp{}
)

// Name returns "warp".
func (warp) Name() string { return "warp" }

// Version counts changes of what Parse yields.
func (warp) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // of one conversation
)

// Places returns where Warp keeps its database on macOS, Linux and Windows, for its stable release, its preview, and its open-source build. Its text
// interface has one of its own, which is found in that directory, and otherwise alone.
func (warp) Places() []format.Place {
	place := format.Place{
		Name: "warp", Holds: databaseName, Deletes: "the oldest conversations beyond the newest 200, prompts beyond 10,000, and conversations that are deleted",
	}
	const mac = "Library/Application Support/"
	var dirs []string
	for _, app := range []string{"dev.warp.Warp-Stable", "dev.warp.Warp-Preview", "dev.warp.WarpOss"} {
		dirs = append(dirs, "~/Library/Group Containers/2BBY89MBSN.dev.warp/"+mac+app, "~/"+mac+app)
	}
	for _, app := range []string{"warp-terminal", "warp-terminal-preview", "warp-oss"} {
		dirs = append(dirs, "~/.local/state/"+app, "$XDG_STATE_HOME/"+app)
	}
	for _, app := range []string{"Warp", "WarpPreview", "WarpOss"} {
		dirs = append(dirs, "~/AppData/Local/warp/"+app+"/data", "$LOCALAPPDATA/warp/"+app+"/data")
	}
	all := place.At(dirs...)
	for _, dir := range dirs {
		all = append(all, place.At(dir+"/"+interfaceDir)...)
	}
	return all
}

// Parse yields the records of one file.
func (warp) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
		p.end()
	}
}
