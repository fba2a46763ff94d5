// Package aiderdesk reads the tasks of AiderDesk, a desktop application around Aider and an agent of its own: .aider-desk/tasks/<task>/context.json,
// settings.json and todos.json in each project, and .aider-desk/sessions/<name>.json of versions before there were tasks.
//
// Producer: github.com/hotovo/aider-desk, src/main/task/context-manager.ts, agent/agent.ts (processStep), session/session-manager.ts, common/types.ts,
// common/utils.ts, the reports of its providers, and its page on tasks, of versions from 2025 to 0.87 (2026). Checked in December 2026 also against two
// readers: ctx (its page of providers), and the runtime adapter of a dashboard. Mapping and counting: docs/formats/aider-desk.md.
//
// Identity: a task is a run with one conversation, called like its directory; messages have UUIDs, which copies of a task keep. A name that is no UUID is
// the same in all projects: then the id of the first message names the run. A sub-agent's messages are in the result of the call that started it, and are
// a conversation of their own.
//
// Usage: what a step of the agent used stands at its answer and again at each of its results. A step is counted once.
//
// The database of the application (aider-desk.db) states the same requests with their times, under the id of an answer or of the last call, and old
// rows without the task: it is not read, since its rows cannot always be joined with the messages.
package aiderdesk

import (
	"cmp"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return aiderDesk{} }

type aiderDesk struct{}

var _ format.Resolver = aiderDesk{}

// Name returns "aider-desk".
func (aiderDesk) Name() string { return "aider-desk" }

// Version counts changes of what Parse yields.
func (aiderDesk) Version() int { return 1 }

// The roles of the files.
const (
	roleContext  = "context"  // messages
	roleSettings = "settings" // what the program notes about a task
	roleTodos    = "todos"    // a task's list of what is to be done
)

// The ranks of what files state about a run.
const (
	rankContext = iota
	rankSettings
)

// Parse yields the records of one file.
func (aiderDesk) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, task: taskOf(in.Path), tools: map[string]string{}}
		switch in.Role {
		case roleContext:
			p.context(in.Reader)
		case roleSettings:
			p.settings(in.Reader)
		case roleTodos:
			p.todos(in.Reader)
		}
	}
}

// Resolve sets the fields of a task's own conversation from what the program notes about the task.
func (aiderDesk) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Project = cmp.Or(f.Run.Project, c.Project)
		if !c.Child {
			c.Title = cmp.Or(f.Run.Title, c.Title)
		}
	}
}

// Text returns the text of one part of an event.
func (aiderDesk) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
