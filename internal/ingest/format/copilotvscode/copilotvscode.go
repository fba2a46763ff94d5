// Package copilotvscode reads the chats of VS Code and its variants, with GitHub Copilot or any other chat participant:
// User/workspaceStorage/<hash>/chatSessions/<session>.json (one document, rewritten with every change; until version 1.108) and
// <session>.jsonl (since 1.109 a log of changes to that document); the same in globalStorage/emptyWindowChatSessions for windows without a
// folder; the transcripts and debug logs that the Copilot Chat extension keeps beside them; and exports of a chat under any name (a document
// without the session's id).
//
// Producers, checked on 2026-11-23: fifteen public exports of March 2025 to September 2026 (no real log was at hand); the public source of
// VS Code (the newest: chatModel.ts and chatService.ts at 00817b7f, chatSessionStore.ts and objectMutationLog.ts at 047238f9,
// annotations.ts at acf29079, chatSessionOperationLog.ts at 03d43368, chatForkActions.ts at 052b484e; parts of 2025's) and of the extension
// (conversation.ts at 2e5f7a6a, sessionTranscriptService.ts at d1a6fa48, chatDebugFileLoggerService.ts at 091f25f4); and several other
// readers of these files, some with samples of versions up to 1.140. Layout and counting: docs/formats/copilot-vscode.md.
//
// Identity: a session is a run with one conversation, identified by its sessionId. The log outranks a document that a migration left beside
// it, and both outrank a transcript. An export is a run identified by its first request; what the session has as well counts there.
// A prompt and each text, reasoning and call of an answer are events, identified by the request and the index of their first part in the
// answer, calls by their own id. What a change removes from a log is retracted; what it removes from a document is in the earlier version.
//
// Where readers of these files disagree: the call shown in the answer (toolInvocationSerialized) is the call, even if toolCallRounds of the
// result repeat it with its arguments, because old versions gave the two different ids and a cancelled turn has no
// result. According to the source, promptTokens is the prompt of the turn's last request alone and completionTokens the output of all its
// requests: both are recorded once per turn, as an estimate if there was more than one request. If modelTotals has the sums of a turn, these
// count; if a debug log has all requests of a turn, those count. thinking.tokens of a round is included in the output and not added. Of the
// kinds of changes, 3 deletes and 2 pushes, after truncating the array at its index.
package copilotvscode

import (
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format. cli is Copilot CLI's format, which reads the extension's transcripts.
func New(cli format.Format) format.Format { return vscode{cli} }

type vscode struct{ cli format.Format }

var (
	_ format.Placed        = vscode{}
	_ format.UsageResolver = vscode{}
)

// Name returns "copilot-vscode".
func (vscode) Name() string { return "copilot-vscode" }

// Version counts changes of what Parse yields.
func (vscode) Version() int { return 7 }

// The roles of the files. Those of transcripts are roleTranscript followed by Copilot CLI's role.
const (
	roleDocument   = "session"
	roleLog        = "session-log"
	roleTranscript = "transcript-"
	roleDebug      = "debug-log"
	roleWorkspace  = "workspace"       // workspace.json: the folder that was open
	roleChildLog   = "debug-log-aside" // debug log of a subagent or a title request
)

// The ranks of a session's files. A transcript has Copilot CLI's rank, which is lower.
const (
	rankDocument = 3
	rankLog      = 4
)

// Parse yields the records of one file.
func (f vscode) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	if role, ok := strings.CutPrefix(in.Role, roleTranscript); ok {
		in.Role = role
		return f.cli.Parse(in)
	}
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, rank: rankDocument, agentNames: map[string]string{}}
		switch in.Role {
		case roleLog:
			p.rank = rankLog
			p.log()
		case roleDocument:
			p.document()
		case roleWorkspace:
			p.workspace()
			return
		default:
			p.debug()
			return
		}
		p.finish()
	}
}

// Text returns the text of one part of an event.
func (f vscode) Text(role string, raw []byte, part int) (string, error) {
	if role, ok := strings.CutPrefix(role, roleTranscript); ok {
		return f.cli.Text(role, raw, part)
	}
	if role == roleDebug || role == roleChildLog {
		return format.TextOf("a line of a debug log", raw, func(v jsontext.Value) string { return debugText(role, v) })
	}
	return textOf(raw, part)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session         string // native id; "" until a line states it
	exported        bool
	firstRequest    string // an export of the session is identified by this request
	rank            int
	created         int64                   // creation of the session, milliseconds since 1970
	conv            transcript.Conversation // what the file states about it
	hasTitle        bool                    // conv.Title is a stated title, not the first prompt
	hasConversation bool                    // the conversation was emitted, with its first event
	facts           transcript.Attributes
	agentNames      map[string]string // names of subagents, by the call that started one

	turns      []*turn           // the current state of a log
	base       jsontext.Value    // the document, request or change whose bytes values are located in
	baseOrigin transcript.Origin // of base
	emitted    bool              // the line has an event
	collected  *[]string         // where ids of events are collected
	dryRun     bool              // events are only collected, not yielded
	pushed     bool              // values are parts of an answer that a line pushes, in their order
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.session, pr)
}

// setSession sets the session to id, or to the one in the file's name if id is "". Only the first call has an effect.
func (p *parser) setSession(id string) {
	if p.session != "" {
		return
	}
	if p.session = id; id == "" {
		p.session = format.Stem(p.in.Path)
	}
	p.Settle(p.session)
}

// finish yields the run with all that the file states about its session, and the conversation if there is one.
func (p *parser) finish() {
	if p.session == "" {
		p.setSession("")
		return // the file has nothing but problems
	}
	if p.Done() {
		return
	}
	c, hash := p.conv, workspaceOf(p.in.Path)
	if hash != "" {
		p.facts.Set("workspace", hash)
	}
	started := timestamp.UnixMilli(p.created)
	p.Emit(&transcript.Run{
		ID: p.session, Rank: p.rank, Group: hash, Title: c.Title, Model: c.Model, Project: c.Project, Branch: c.Branch, Started: started,
		Named: !p.hasConversation, Attributes: p.facts,
	})
	if p.hasConversation {
		c.ID, c.Run, c.Rank, c.Started = p.session, p.session, p.rank, started
		p.Emit(&c)
	}
}

// emitConversation yields the conversation before its first event.
func (p *parser) emitConversation() {
	if !p.hasConversation {
		p.hasConversation = true
		p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Rank: p.rank})
	}
}

// setBase makes v, which is a part of base, the new base.
func (p *parser) setBase(v jsontext.Value) { p.baseOrigin, p.base = p.origin(v), v }

// origin returns the place of a value in base.
func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return jsontext.OriginIn(p.baseOrigin, p.base, v)
}

// locate returns the place of an event made of some values, and its parts. In a log all events of a change have the place of the change, since
// they are yielded in another order than the change has them; in a document a single value has its own place.
func (p *parser) locate(values ...jsontext.Value) (transcript.Origin, []transcript.Part) {
	at, whole := p.baseOrigin, p.base
	if p.in.Role == roleDocument && len(values) == 1 {
		at, whole = p.origin(values[0]), values[0]
	}
	parts := make([]transcript.Part, 0, len(values))
	for i, v := range values {
		parts = append(parts, jsontext.PartIn(whole, v, p.text(v, i)))
	}
	return at, parts
}

func (p *parser) text(v jsontext.Value, part int) string {
	if p.in.Role == roleDebug || p.in.Role == roleChildLog {
		return debugText(p.in.Role, v)
	}
	return valueText(v, part)
}

// sessionRow yields an uncounted row for session data that is not an event. Its place is its identity.
func (p *parser) sessionRow(kind transcript.Kind, typ string, at transcript.Time, v jsontext.Value) {
	origin, parts := p.locate(v)
	p.Emit(&transcript.Event{Run: p.session, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Time: at, Origin: origin, Parts: parts})
}
