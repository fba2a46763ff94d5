// Package copilotvscode reads the chats of VS Code and its siblings, of GitHub Copilot and of whatever else answers there:
// User/workspaceStorage/<hash>/chatSessions/<session>.json (one document, rewritten with every change; until version 1.108) and
// <session>.jsonl (since 1.109 a log of changes to that document), the same in globalStorage/emptyWindowChatSessions of windows without a
// directory, the transcripts and debug logs that the extension keeps beside them, and exports of a chat under any name (a document without
// what the session is called). What is said here was checked on 2026-11-23 against fifteen public exports of March 2025 to September 2026 (no real
// log was at hand), against the public source of the program (the newest: chatModel.ts and chatService.ts at 00817b7f, chatSessionStore.ts and
// objectMutationLog.ts at 047238f9, annotations.ts at acf29079, chatSessionOperationLog.ts at 03d43368, chatForkActions.ts at 052b484e; parts of 2025's) and of the extension
// (conversation.ts at 2e5f7a6a, sessionTranscriptService.ts at d1a6fa48, chatDebugFileLoggerService.ts at 091f25f4), and against several
// readers of such files, some with samples of versions up to 1.140. Layout and counting: docs/formats/copilot-vscode.md.
//
// What it promises: a run and a conversation are a session, known by its sessionId; the log counts before a document that a migration
// left beside it, and both before a transcript. An export is a run called after its first request; what the session has as well counts there.
// A prompt and each text, thought and call of the answer are events, known by the request and the place of their first part in
// its answer, calls by their own id. What a change takes out of a log is taken back; what it takes out of a document is in the earlier version.
//
// Where readers of these files disagree: what is shown of a call (toolInvocationSerialized) is the call, also where the rounds of the
// result tell it once more with its arguments, since old versions gave the two different ids, and a turn that was stopped has no
// result. promptTokens is the prompt of the turn's last request alone, completionTokens the output of all of them, as the source says: both
// are recorded once for a turn, and as an estimate where there was more than one request; where modelTotals has the sums of a turn these
// count, and where a debug log has all requests of one those. thinking.tokens of a round are inside of the output and not added. Of the kinds of changes 3 deletes and 2 pushes, behind what it cuts off.
package copilotvscode

import (
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format. cli is the one of Copilot CLI, whose lines the transcripts of the extension have.
func New(cli format.Format) format.Format { return vscode{cli} }

type vscode struct{ cli format.Format }

var (
	_ format.Placed        = vscode{}
	_ format.UsageResolver = vscode{}
)

// Name returns "copilot-vscode".
func (vscode) Name() string { return "copilot-vscode" }

// Version counts changes of what Parse yields.
func (vscode) Version() int { return 4 }

// The roles of the files. Those of transcripts are Copilot CLI's, behind roleTranscript.
const (
	roleDocument   = "session"
	roleLog        = "session-log"
	roleTranscript = "transcript-"
	roleDebug      = "debug-log"
	roleWorkspace  = "workspace"       // which directory was open
	roleAside      = "debug-log-aside" // of what a session started
)

// The ranks of what files say of a session; what a transcript says has that of Copilot CLI, which is lower.
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
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, rank: rankDocument, names: map[string]string{}}
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
		p.end()
	}
}

// Text gives the text of one part of an event.
func (f vscode) Text(role string, raw []byte, part int) (string, error) {
	if role, ok := strings.CutPrefix(role, roleTranscript); ok {
		return f.cli.Text(role, raw, part)
	}
	if role == roleDebug || role == roleAside {
		return format.TextOf("a line of a debug log", raw, func(v format.Value) string { return debugText(role, v) })
	}
	return textOf(raw, part)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session  string // native id; "" until a line tells it
	exported bool
	first    string // the request that an export of the session is called after
	rank     int
	created  int64                   // of the session, milliseconds since 1970
	is       transcript.Conversation // what the file says of it
	named    bool                    // is.Title is no prompt
	said     bool                    // somebody asked something
	facts    transcript.Attributes
	names    map[string]string // of agents, by the call that started one

	turns  []*turn           // as a log has them now
	whole  format.Value      // the document, request or change that values are cut from
	at     transcript.Origin // of whole
	told   bool              // the line has an event
	seen   *[]string         // where ids of events are collected
	quiet  bool              // events are only collected, not yielded
	pushed bool              // values are parts of an answer that a line pushes, in their order
}

// problem reports what could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.session, pr)
}

// name makes the session the one that is stated, or that the file is called after.
func (p *parser) name(id string) {
	if p.session != "" {
		return
	}
	if p.session = id; id == "" {
		p.session = sessionOf(p.in.Path)
	}
	p.Settle(p.session)
}

// end states what the whole file says of its session: of the run, and of the conversation where there is one.
func (p *parser) end() {
	if p.session == "" {
		p.name("")
		return // nothing in it but problems
	}
	if p.Done() {
		return
	}
	c, hash := p.is, workspaceOf(p.in.Path)
	if hash != "" {
		p.facts.Set("workspace", hash)
	}
	started := format.UnixMilli(p.created)
	p.Emit(&transcript.Run{
		ID: p.session, Rank: p.rank, Group: hash, Title: c.Title, Model: c.Model, Project: c.Project, Branch: c.Branch, Started: started,
		Named: !p.said, Attributes: p.facts,
	})
	if p.said {
		c.ID, c.Run, c.Rank, c.Started = p.session, p.session, p.rank, started
		p.Emit(&c)
	}
}

// speak makes the session one that counts.
func (p *parser) speak() {
	if !p.said {
		p.said = true
		p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Rank: p.rank})
	}
}

// frame makes v, which is a part of whole, what values are cut from.
func (p *parser) frame(v format.Value) { p.at, p.whole = p.place(v), v }

// place is that of a value.
func (p *parser) place(v format.Value) transcript.Origin {
	at := p.at
	at.Offset += format.OffsetIn(p.whole, v)
	at.Length = int64(v.Len())
	return at
}

// cut gives the place of an event that is some values, and its parts. In a log all events of a change stand where that does, since they
// are told in another order than it has; in a document a value stands by itself.
func (p *parser) cut(values ...format.Value) (transcript.Origin, []transcript.Part) {
	at, whole := p.at, p.whole
	if p.in.Role == roleDocument && len(values) == 1 {
		at, whole = p.place(values[0]), values[0]
	}
	parts := make([]transcript.Part, 0, len(values))
	for _, v := range values {
		parts = append(parts, transcript.Part{Text: p.text(v), Offset: format.OffsetIn(whole, v), Length: int64(v.Len())})
	}
	return at, parts
}

func (p *parser) text(v format.Value) string {
	if p.in.Role == roleDebug || p.in.Role == roleAside {
		return debugText(p.in.Role, v)
	}
	return pieceText(v)
}

// row yields what the file says of the session and is no event: its place is its identity.
func (p *parser) row(kind transcript.Kind, typ string, at transcript.Time, v format.Value) {
	origin, parts := p.cut(v)
	p.Emit(&transcript.Event{Run: p.session, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Time: at, Origin: origin, Parts: parts})
}
