// Package codebuddy reads the sessions of Tencent's agents CodeBuddy Code (~/.codebuddy/projects) and WorkBuddy (~/.workbuddy/projects,
// ~/.workbuddy-ai/projects, ~/.workbuddy-ent/projects): a file <session>.jsonl for each in a directory for the project, and <session>/subagents/agent-<id>.jsonl.
//
// Producer: its source is closed, and the layout is not described. The directories are those of Claude Code, the lines are the items of the
// OpenAI Agents SDK for JavaScript. Checked in November 2026 against what readers say of real files: CHATS-lab/VibeLens
// (ingest/parsers/codebuddy.py and its page, "exhaustive key-path enumeration", May 2026), kenn-io/agentsview (internal/parser/workbuddy.go,
// July 2026), getagentseal/codeburn (docs/providers/workbuddy.md, August 2026), OpenUsage's WorkBuddyUsageScanner.swift and a token board that
// enumerated all members of 4,445 lines (both September 2026); and CodeBuddy's own page of settings (cleanupPeriodDays). Mapping and counting:
// docs/formats/codebuddy.md.
//
// The editor and the plugin (CodeBuddyExtension) have a file for each message: so say three readers of real files that do not know each other (WayLog,
// a viewer of chats, and a token board with fixtures, all September 2026).
//
// Identity: a session is a run with one conversation. Its file is called by its id; lines of another session in it were copied, by a fork.
// A sub-agent's lines have a session id of their own.
//
// Where readers disagree: prompt_tokens includes what was read from the cache (hits and misses add up to it; VibeLens and codeburn take it for
// uncached). A request is a messageId: mostly one of its lines states the tokens, and a session that replays another one has them again.
// Whether a call failed is not known: all statuses seen are "completed", also of failed commands.
package codebuddy

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return codebuddy{} }

type codebuddy struct{}

var (
	_ format.Placed        = codebuddy{}
	_ format.UsageResolver = codebuddy{}
	_ format.Withholder    = codebuddy{}
)

// Name returns "codebuddy".
func (codebuddy) Name() string { return "codebuddy" }

// Version counts changes of what Parse yields.
func (codebuddy) Version() int { return 3 }

// The roles of the files.
const (
	roleSession = "session" // <session>.jsonl
	roleAgent   = "agent"   // subagents/agent-<id>.jsonl

	// of the editor and the plugin
	roleMessage  = "message"  // messages/<id>.json
	roleRequests = "requests" // a session's index.json
	roleList     = "list"     // a workspace's index.json
)

// Places returns where the programs keep their sessions, the same on every system.
func (codebuddy) Places() []format.Place {
	code := format.Place{Name: "codebuddy", Deletes: "transcripts older than cleanupPeriodDays (30 days unless set)"}
	work := format.Place{Name: "workbuddy"}
	all := append(code.At("~/.codebuddy/"+projectsDir, "$CODEBUDDY_CONFIG_DIR/"+projectsDir), work.At(
		"~/.workbuddy/"+projectsDir, "~/.workbuddy-ai/"+projectsDir, "~/.workbuddy-ent/"+projectsDir, "$WORKBUDDY_CONFIG_DIR/"+projectsDir)...)
	return append(all, extensionPlaces()...)
}

// Parse yields the records of one file.
func (codebuddy) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, loc: locate(in.Path), names: map[string]string{}, seen: map[string]bool{}}
		switch in.Role {
		case roleSession, roleAgent:
			p.session()
		case roleMessage, roleRequests, roleList:
			p.filedRecords()
		}
	}
}

// Text returns the text of one part of an event.
func (codebuddy) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleMessage {
		return filedText(raw)
	}
	return format.TextOf(role, raw, textOf)
}
