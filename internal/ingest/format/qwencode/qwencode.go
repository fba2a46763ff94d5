// Package qwencode reads the sessions of Alibaba's Qwen Code below ~/.qwen/projects: <project>/chats/<session>.jsonl (moved to
// chats/archive by Qwen Code), subagents in <project>/subagents/<session>/agent-<id>.jsonl with metadata in agent-<id>.meta.json, and the
// documents of versions before December 2025, ~/.qwen/tmp/<project>/chats/session-*.json, which have Gemini CLI's layout; and the plans and
// todos of sessions, ~/.qwen/plans/<session>.md and ~/.qwen/todos/<session>.json. It also reads what
// Qwen Code prints with --output-format stream-json or json, if somebody has saved it.
//
// Producer: files of version 0.21 were seen, of old versions none; checked in November 2026 against chatRecordingService.ts,
// sessionService.ts, agent-transcript.ts, storage.ts and todoWrite.ts of Qwen Code, printed output against BaseJsonOutputAdapter.ts and nonInteractiveHelpers.ts. Layout and counting: docs/formats/qwen-code.md.
//
// Identity: a session is a run with one conversation, identified by the sessionId of its lines, which a copy of the file keeps
// and a branch replaces. A subagent is a run of its own, a child of the session that started it. A branch keeps the uuid and
// the time of a line it copies: the line counts where it was first written. Lines with one uuid are pieces of one message; a
// line that is repeated byte for byte was written twice and counts once.
//
// Where readers of these files disagree: the prompt's token count includes the cached tokens, which ccusage does not subtract.
// Output is the count of the candidates. With most providers it includes the thoughts, whose count is sometimes an estimate; if the
// total counts them beside the candidates, as with Google's models, they are added. The requests in ui_telemetry lines are those of the
// answers and are not counted again. Nor are the totals in printed results: after a resume they include what was spent before
// (replayUiTelemetryFromConversation).
package qwencode

import (
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format. gemini is Gemini CLI's format: it reads files of old versions, and leaves them to this format by a
// weak claim.
func New(gemini format.Format) format.Format { return qwen{gemini} }

type qwen struct{ gemini format.Format }

var (
	_ format.Placed        = qwen{}
	_ format.UsageResolver = qwen{}
)

// Name returns "qwen-code".
func (qwen) Name() string { return "qwen-code" }

// Version counts changes of what Parse yields.
func (qwen) Version() int { return 9 }

// The roles of the files. Those of old versions are roleLegacy followed by Gemini CLI's role.
const (
	roleSession = "session"
	roleAgent   = "agent"
	roleMeta    = "meta"
	rolePlan    = "plan"
	roleTodos   = "todos"
	roleStream  = "stream" // saved output: a line for each message
	roleArray   = "array"  // saved output: an array of all messages
	roleLegacy  = "gemini-"
)

// Places returns where Qwen Code keeps its files.
func (qwen) Places() []format.Place {
	const orphans = "sessions whose directory was a temporary one, a day after it is gone"
	var all []format.Place
	for _, home := range []string{"~/.qwen", "$QWEN_HOME", "$QWEN_RUNTIME_DIR"} {
		all = append(all, format.Place{Name: "qwen-code", Path: home + "/projects", Deletes: orphans})
		all = append(all, format.Place{Name: "qwen-code"}.At(home+"/tmp", home+"/"+plansDir, home+"/"+todosDir)...)
	}
	return all
}

// Parse yields the records of one file.
func (q qwen) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	if role, old := strings.CutPrefix(in.Role, roleLegacy); old {
		in.Role = role
		return q.gemini.Parse(in)
	}
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, loc: locate(in.Path), lines: map[uint64]bool{}, copied: map[string]bool{}}
		switch in.Role {
		case roleSession, roleAgent:
			p.log()
		case roleMeta:
			p.meta()
		case rolePlan:
			p.plan()
		case roleTodos:
			p.todos()
		case roleStream, roleArray:
			p.output()
		}
	}
}

// Text returns the text of one part of an event.
func (q qwen) Text(role string, raw []byte, part int) (string, error) {
	if legacy, old := strings.CutPrefix(role, roleLegacy); old {
		return q.gemini.Text(legacy, raw, part)
	}
	if role == rolePlan {
		return format.LooseText(raw), nil
	}
	if role == roleStream || role == roleArray {
		return format.TextOf(role, raw, jsontext.Appended(appendPrinted))
	}
	return format.TextOf(role, raw, textOf)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink
	loc location

	session, run string // "" until the first line
	agent        string // id of the subagent, for its file
	facts        facts
	lines        map[uint64]bool // hashes of earlier lines
	copied       map[string]bool // sessions that lines were copied from
	prevID       string          // uuid of the previous line

	lend format.Lender // of the events of a line
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.run, pr)
}
