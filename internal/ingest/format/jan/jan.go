// Package jan reads the threads of Jan, a desktop program to chat with models on the user's own machine and of providers:
// threads/<id>/messages.jsonl with the messages, and thread.json with what is noted about them.
//
// Producer: checked in December 2026 against janhq/jan: the types of the core (threadEntity.ts, messageEntity.ts), the commands
// that write the files (src-tauri/src/core/threads), what the program makes of messages (web-app/src/lib: messages.ts,
// message-branching.ts, custom-chat-transport.ts; the service of threads), and the extension of versions before Tauri; and
// four programs that read threads. Layout and counting: docs/formats/jan.md.
//
// Identity: a thread is a run with one conversation, called like its directory, which is its id. A message has an id, that stays
// when the file is rewritten, and what is in it a number.
//
// Usage: an answer states what the last request for it used. Its time in milliseconds tells it from others: an answer that was
// edited by hand is a message of its own, and repeats it. Which model answered is not stated: it is taken to be that of the
// thread, and has no price.
package jan

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return jan{} }

type jan struct{}

var (
	_ format.Placed        = jan{}
	_ format.UsageResolver = jan{}
	_ format.Withholder    = jan{}
)

// Name returns "jan".
func (jan) Name() string { return "jan" }

// Version counts changes of what Parse yields.
func (jan) Version() int { return 1 }

// The roles of the files.
const (
	roleMessages = "messages" // messages.jsonl
	roleThread   = "thread"   // thread.json
)

// The ranks of what files state about a run.
const (
	rankMessages = iota
	rankThread
)

// Places returns where the program keeps threads: now, by its variables, and until 2024.
func (jan) Places() []format.Place {
	threads := format.Place{Name: "jan", Deletes: "threads and messages that are deleted"}
	all := threads.At("$JAN_DATA_FOLDER/"+threadsName, "~/"+earlyData+"/"+threadsName)
	for _, home := range append([]string{"~/.local/share", "$XDG_DATA_HOME", "$JAN_DATA_ROOT"}, format.ConfigHomes...) {
		all = append(all, threads.At(home+"/Jan/data/"+threadsName)...)
	}
	return all
}

// Parse yields the records of one file.
func (jan) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.Session = directoryOf(in.Path)
		switch in.Role {
		case roleMessages:
			p.messages(in)
		case roleThread:
			p.thread(in)
		}
	}
}

// Resolve sets the fields of a conversation, and the model of its usage, from what is noted about its thread.
func (jan) Resolve(f *transcript.Family) {
	format.InheritRun(f)
	for _, u := range f.Usage {
		if u.Model == "" {
			u.Model = f.Run.Model
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (jan) ResolvesUsage() {}

// Text returns the text of one part of an event.
func (jan) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
