// Package gptme reads the chats of gptme: ~/.local/share/gptme/logs/<chat>/ with the log (conversation.jsonl), its branches
// (branches/<name>.jsonl), what is left of it after a compaction (views/<name>.jsonl), settings (config.toml) and, for a sub-agent, what it was
// started with (subagent-meta.json).
//
// Producer: gptme 0.1 to 0.35; checked in December 2026 against gptme/gptme (message.py, logmanager/, config/chat.py, codeblock.py, tools/base.py,
// tools/subagent/, llm/) and a reader of its logs (kenn-io/agentsview). Layout and counting: docs/formats/gptme.md.
//
// Identity: a chat is a run; its id is the name of its directory. Messages have no ids: they are identified by time, role and content, which
// branches and forks, copies of the whole log, keep. Which chat is the fork is not recorded; the program gives a chat a name that begins with the
// day, users give forks theirs. Requests are identified by time and model alone, because a compaction shortens answers.
//
// Calls are text in answers: @tool(id): {...}, or code blocks and elements named after a tool. gptme runs what it finds there, with the same
// rules. Which of its tools were on is not recorded: the names of those that it brings are known here, and in a chat with calls of the first form
// code blocks are not run.
//
// Usage: input_tokens excludes the cache, whatever the provider. gptme computes the cost from prices of its own.
package gptme

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return gptme{} }

type gptme struct{}

var _ format.Placed = gptme{}

// Name returns "gptme".
func (gptme) Name() string { return "gptme" }

// Version counts changes of what Parse yields.
func (gptme) Version() int { return 2 }

// The roles of the files.
const (
	roleLog      = "log"
	roleBranch   = "branch"
	roleView     = "view"
	roleConfig   = "config"
	roleSubagent = "subagent"
)

// Places returns where the program keeps its chats.
func (gptme) Places() []format.Place {
	return format.Place{Name: "gptme"}.At("~/.local/share/gptme/logs", "$XDG_DATA_HOME/gptme/logs", "~/Library/Application Support/gptme/logs",
		"~/AppData/Local/gptme/gptme/logs", "$GPTME_LOGS_HOME")
}

// Parse yields the records of one file.
func (gptme) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, role: in.Role, path: in.Path, chat: locate(in.Path).chat}
		switch in.Role {
		case roleLog, roleBranch, roleView:
			p.log(in.Reader)
		case roleConfig:
			p.config(in.Reader)
		case roleSubagent:
			p.subagent(in.Reader)
		}
	}
}

// Text returns the text of one part of an event.
func (gptme) Text(role string, raw []byte, part int) (string, error) {
	switch {
	case role == roleConfig:
		return format.LooseText(raw), nil
	case role == roleSubagent, part > 0:
		return format.TextOf("a "+role, raw, jsontext.AllStrings)
	}
	if v, err := jsontext.Parse(raw); err == nil && v.Get("role").Exists() {
		return contentOf(v), nil
	}
	return pieceText(raw), nil
}
