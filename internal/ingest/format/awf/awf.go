// Package awf reads the files that AWF (an agent workflow runner) keeps about its runs: ExchangeEvent transcripts,
// execution states, the audit log and the history database.
//
// Producer: AWF, seen as of mid-2026 (audit schema_version 1); checked on 2026-11-20 against files written by the program
// and against its writers. The layout is described in docs/formats/awf.md. Where the program's own documents and its code
// differ, this package follows the code:
//
//   - The file name of a transcript is not the run: `awf run` makes one UUID for the file and another for the run_id of its
//     lines. A resumed run writes a second file under the old run_id, with seq from 1 again. So the run comes from the
//     lines, and a conversation is one (file, run_id): its id is the run_id and the time of the first event, which a mirror
//     (--debug-transcript-mirror) repeats and a resumed run does not. Each event counts once, in whichever files it stands.
//   - run.started and run.completed are never written. A run starts and ends with its first and last event; its status is
//     that of the state, else of the audit log. The history keeps the failed row of a run that was resumed later, so its
//     status becomes attributes and not the run's status.
//   - The path of message events is the workflow's name, that of tool events is empty. Both belong to the agent step that
//     is open, if exactly one is.
//   - The second text block of a user message is the system prompt. Nothing marks it, so this is a guess, and the event
//     says so (system_prompt_guess).
//   - A call may be reported by the router (tool.call) and by the agent (tool_use); equal ids within a run are one call and
//     the router's report counts. A call without id counts by itself.
//   - Only states have tokens, keyed by step name: a later iteration of a step replaces the earlier one.
package awf

import (
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The roles of AWF's files.
const (
	roleTranscript = "transcript"
	roleState      = "state"
	roleAudit      = "audit"
	roleHistory    = "history"
)

// Ranks of the kinds of files as evidence about a run; see transcript.Run.Rank.
const (
	rankTranscript = 1
	rankHistory    = 2
	rankAudit      = 3
	rankState      = 4

	rankStateStep = 2 // a step in a state, against rankTranscript
)

// New returns the format.
func New() format.Format { return awf{} }

type awf struct{}

var (
	_ format.Format   = awf{}
	_ format.Exporter = awf{}
	_ format.Placed   = awf{}
)

func (awf) Name() string { return "awf" }

func (awf) Version() int { return 7 }

func (awf) Places() []format.Place {
	place := format.Place{Name: "awf", Deletes: "transcripts and states are never deleted; old rows of history.db may be purged"}
	return place.At("~/.local/share/awf", "$XDG_DATA_HOME/awf")
}

// Parse yields the records of one original. The package comment says how each kind of file is read.
func (awf) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := &format.Sink{Yield: yield}
		switch in.Role {
		case roleTranscript:
			parseTranscript(in, out)
		case roleState:
			parseState(in, out)
		case roleAudit:
			parseAudit(in, out)
		case roleHistory:
			parseHistory(in, out)
		}
	}
}

// Text decodes one part of an event, or an uncounted row, from its own bytes.
func (awf) Text(role string, raw []byte, part int) (string, error) {
	v, err := jsontext.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("read awf %s: %w", role, err)
	}
	switch role {
	case roleTranscript:
		return transcriptText(v, part), nil
	case roleAudit:
		return auditText(v), nil
	case roleHistory:
		return v.Get("error_message").Str(), nil
	}
	return jsontext.AllScalars(v), nil
}

// outcome maps the status words of states, audit log and history to an Outcome.
func outcome(status string) transcript.Outcome {
	switch status {
	case "":
		return ""
	case "pending", "running":
		return transcript.Running
	case "completed", "success":
		return transcript.Succeeded
	case "failed", "failure":
		return transcript.Failed
	case "cancelled", "canceled":
		return transcript.Cancelled
	}
	return transcript.Other
}

// parentLink returns the link from a run to one that it called.
func parentLink(parent, child string) *transcript.Link {
	return &transcript.Link{
		Kind: "parent",
		From: transcript.RunEnd(parent),
		To:   transcript.RunEnd(child),
	}
}

// setCount sets a numeric attribute if the original states a number.
func setCount(a transcript.Attributes, key string, v jsontext.Value) {
	if n, ok := v.Int(); ok {
		a[key] = n
	}
}
