// Package zed reads the agent threads of the editor Zed, the table threads of the database threads/threads.db in its data directory, and
// the text threads of its versions up to April 2026, conversations/<title> - <n>.zed.json.
// What other agents do in Zed's panel (Claude Code, Codex and others that it starts) they keep themselves.
//
// Producer: checked in November 2026 against the writers of the threads, from the first database of summer 2025 (payloads 0.1.0 and 0.2.0,
// and older ones without a version) to autumn 2026 (0.3.0, with sub-agents and compaction), the providers' token counts, and the last writer
// of text threads (0.4.0, which still read 0.1.0 to 0.3.0). Layout and counting: docs/formats/zed.md.
//
// Identity: a thread is a run with one conversation, identified by its UUID. A prompt is identified by its UUID; what follows a prompt, by
// the prompt and its place after it. Payload 0.2.0 numbers messages.
//
// Usage: a thread states the sum of all its requests, and for each prompt the last request that it caused. Versions between autumn 2025 and
// June 2026 did not add up the sum. So a last request counts for itself if the sum cannot include it.
package zed

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return zed{} }

type zed struct{}

var (
	_ format.Placed        = zed{}
	_ format.Splitter      = zed{}
	_ format.UsageResolver = zed{}
)

// Name returns "zed".
func (zed) Name() string { return "zed" }

// Version counts changes of what Parse yields.
func (zed) Version() int { return 4 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the row of one thread
	roleText     = "text" // a text thread
)

// Places returns where Zed keeps threads on Linux (also in a Flatpak), macOS and Windows, and where it kept text threads. All its release
// channels share the directories.
func (zed) Places() []format.Place {
	threads := format.Place{Name: "zed", Holds: databaseName, Deletes: "threads that are deleted, and messages behind one that is edited"}
	var all []format.Place
	dataDirs := []string{"~/.local/share/zed", "$XDG_DATA_HOME/zed", "~/.var/app/dev.zed.Zed/data/zed", "~/Library/Application Support/Zed", "~/AppData/Local/Zed", "$LOCALAPPDATA/Zed"}
	for _, dir := range dataDirs {
		all = append(all, threads.At(dir+"/"+threadsDir)...)
	}
	texts := format.Place{Name: "zed", Deletes: "text threads that are deleted"}
	for _, dir := range append(dataDirs, "~/.config/zed") { // macOS
		all = append(all, texts.At(dir+"/"+textThreadsDir)...)
	}
	return all
}

// Parse yields the records of one file.
func (zed) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}}
		switch in.Role {
		case roleText:
			p.textThread(in)
			return
		case roleRows:
		default:
			return // SQLite could not read the database; each scan reports that
		}
		problem := func(pr *transcript.Problem) {
			pr.Run = p.thread
			p.Emit(pr)
		}
		for o := range p.Each(jsontext.Objects(in.Reader, "", problem)) {
			p.at, p.base = o.Origin, o.Value
			p.row(o.Value)
		}
	}
}

// parser is one parse of the rows of threads, which are one line each.
type parser struct {
	format.Sink
	lend  format.Lender
	parts []transcript.Part

	at     transcript.Origin // of base
	base   jsontext.Value    // the line
	thread string            // id of the line's thread
	prompt string            // key of the last prompt
	steps  int               // messages since then
	seen   map[string]int    // occurrences of a message's id
	calls  map[string]string // names of tool calls, by id
}

// conversation is the id of the only conversation in a thread.
const conversation = "main"

// origin returns the place of a value in the line.
func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return jsontext.OriginIn(p.at, p.base, v)
}

// part returns the part for a value that has its own bytes in an event.
func (p *parser) part(event, v jsontext.Value) transcript.Part {
	text := p.lend.Text(func(dst []byte) []byte { return appendValue(dst, v) })
	return jsontext.PartIn(event, v, text)
}
