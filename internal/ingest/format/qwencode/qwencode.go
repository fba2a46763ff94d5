// Package qwencode reads the sessions of Alibaba's Qwen Code below ~/.qwen/projects: <project>/chats/<session>.jsonl (moved to
// chats/archive by the program), subagents in <project>/subagents/<session>/agent-<id>.jsonl with a note agent-<id>.meta.json, and the
// documents of versions before December 2025, ~/.qwen/tmp/<project>/chats/session-*.json, which are Gemini CLI's. Files of version 0.21
// were seen, of old ones none; checked in November 2026 against chatRecordingService.ts, sessionService.ts and agent-transcript.ts of
// the program. Layout and counting: docs/formats/qwen-code.md.
//
// What it promises: a run and a conversation are a session, known by the sessionId of its lines, which a copy of the file keeps
// and a branch replaces. A subagent is a run of its own, a child of the session that started it. The uuid of a line is the same in a
// branch: what a branch copied counts where it was written. Lines with one uuid are one message, told in pieces; a line that
// stands again, byte for byte, was written twice and counts once.
//
// Where readers of these files disagree: the prompt's tokens have the cached ones in them, which ccusage does not subtract.
// Output is what the candidates took. Thoughts are inside of it with most providers, and sometimes an estimate; where they are
// said to be outside they are kept as an attribute and not added. What ui_telemetry lines say of requests is said of the same
// requests by the answers, and not counted.
package qwencode

import (
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format. gemini is the one of Gemini CLI: it reads what old versions wrote, and leaves such files to this
// format by a weak claim.
func New(gemini format.Format) format.Format { return qwen{gemini} }

type qwen struct{ gemini format.Format }

var (
	_ format.Placed        = qwen{}
	_ format.UsageResolver = qwen{}
)

// Name returns "qwen-code".
func (qwen) Name() string { return "qwen-code" }

// Version counts changes of what Parse yields.
func (qwen) Version() int { return 4 }

// The roles of the files. Those of old versions are Gemini CLI's, behind rolePast.
const (
	roleSession = "session"
	roleAgent   = "agent"
	roleMeta    = "meta"
	rolePast    = "gemini-"
)

// Places says where the program keeps its files.
func (qwen) Places() []format.Place {
	var all []format.Place
	for _, home := range []string{"~/.qwen", "$QWEN_HOME", "$QWEN_RUNTIME_DIR"} {
		for _, dir := range []string{"/projects", "/tmp"} {
			all = append(all, format.Place{Name: "qwen-code", Path: home + dir})
		}
	}
	return all
}

// Parse yields the records of one file.
func (q qwen) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	if role, old := strings.CutPrefix(in.Role, rolePast); old {
		in.Role = role
		return q.gemini.Parse(in)
	}
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, place: placeOf(in.Path), lines: map[uint64]bool{}, copied: map[string]bool{}}
		switch in.Role {
		case roleSession, roleAgent:
			p.log()
		case roleMeta:
			p.meta()
		}
	}
}

// Text gives the text of one part of an event.
func (q qwen) Text(role string, raw []byte, part int) (string, error) {
	if past, old := strings.CutPrefix(role, rolePast); old {
		return q.gemini.Text(past, raw, part)
	}
	return format.TextOf(role, raw, textOf)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink
	place place

	session, run string // "" until the first line
	agent        string // of a subagent's file
	facts        facts
	lines        map[uint64]bool // that stood before, by their sum
	copied       map[string]bool // sessions that lines were copied from
	before       string          // uuid of the line before

	lend format.Lender // of the events of a line
}

// problem reports what could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.run, pr)
}
