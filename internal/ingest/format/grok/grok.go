// Package grok reads the sessions of Grok Build, the coding agent of xAI: a directory for each below ~/.grok/sessions/<directory>, with
// updates.jsonl, chat_history.jsonl, summary.json, and meta.json of each subagent.
//
// Producer: checked in November 2026 against its source (xai-org/grok-build in copies of July to October 2026: notification.rs,
// persistence.rs, storage/jsonl, copy.rs, usage_file.rs, chat-state/usage.rs, sampling-types/conversation.rs, acp_session_impl/updates.rs),
// its user guide (17-sessions.md), lines of versions 0.2 to 1.0.41 quoted by other programs, and a published comparison of its files
// with "grok usage". Layout and counting: docs/formats/grok.md.
//
// Identity: a session is a run with one conversation. Lines of updates.jsonl are only appended; a fork copies them with their ids and
// times, except that of the envelope. An id is unique together with its time: it is a session and a number.
//
// Tokens are those of a turn, in its last line. They include subagents that ended within the turn: see Resolve. Readers disagree here; the
// source (record_subagent_usage) and the comparison decide.
//
// Not to be confused with grok-cli of superagent-ai, which keeps ~/.grok/grok.db.
package grok

import (
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return grok{} }

type grok struct{}

var (
	_ format.Placed        = grok{}
	_ format.UsageResolver = grok{}
)

// Name returns "grok".
func (grok) Name() string { return "grok" }

// Version counts changes of what Parse yields.
func (grok) Version() int { return 2 }

// The roles of the files.
const (
	roleUpdates  = "updates"  // updates.jsonl: all that was said and done
	roleHistory  = "history"  // chat_history.jsonl: what the model is sent
	roleBeside   = "beside"   // btw_history.jsonl: questions in passing
	roleSummary  = "summary"  // summary.json
	roleSubagent = "subagent" // subagents/<id>/meta.json
)

// Places returns where the program keeps its sessions, the same on every system.
func (grok) Places() []format.Place {
	return format.Place{Name: "grok"}.At("~/.grok/sessions", "$GROK_HOME/sessions")
}

// Parse yields the records of one file.
func (grok) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, run: sessionOf(in.Path), toolNames: map[string]string{}}
		switch in.Role {
		case roleUpdates:
			p.updates()
		case roleHistory:
			p.history()
		case roleBeside:
			p.beside()
		case roleSummary:
			p.summary()
		case roleSubagent:
			p.subagent()
		}
	}
}

// Text returns the text of one part of an event.
func (grok) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleUpdates {
		return updateText(raw)
	}
	return format.TextOf(role, raw, jsontext.Appended(appendText))
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in  format.Input
	run string

	started   bool              // the run was yielded
	hasTitle  bool              // from a prompt
	model     string            // that answers from here on
	toolNames map[string]string // by call id
	calls     int               // calls without an id so far
	open      []string          // of these, those that have no result yet
	lend      format.Lender     // of the events of a line
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = p.in.Role == roleUpdates || p.in.Role == roleHistory
	p.Problem(p.run, pr)
}

// The ranks of originals: summary.json outranks the updates, and these outrank the history, which has only what is left after a compaction.
const (
	rankHistory = 0
	rankUpdates = 1
	rankSummary = 2
)

// conversationBeside is the conversation of questions in passing.
const conversationBeside = "btw"

// emitRun yields fields of the run and its conversation alike.
func (p *parser) emitRun(c transcript.Conversation) {
	if c.Rank = rankUpdates; p.in.Role == roleHistory {
		c.Rank = rankHistory
	}
	if c.Run = p.run; p.in.Role == roleBeside {
		c.ID = conversationBeside
	}
	p.Emit(&transcript.Run{ID: p.run, Rank: c.Rank, Title: c.Title, Model: c.Model})
	p.Emit(&c)
}

// setTitleFrom sets the title from the first prompt.
func (p *parser) setTitleFrom(prompt string) {
	if p.hasTitle {
		return
	}
	if title := format.Title(strings.TrimPrefix(prompt, "<user_query>")); title != "" {
		p.hasTitle = true
		p.emitRun(transcript.Conversation{Title: strings.Clone(title)})
	}
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"target_file", "file_path", "path", "target_notebook"}
