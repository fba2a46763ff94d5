package claudecode

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// reader reads the transcript of a session or of a sub-agent.
type reader struct {
	out   *format.Sink
	place place

	run, conversation string // "" until the file's identity is known
	session           string // session that the file is of, or belongs to
	opened            bool   // the conversation was yielded
	hasRows           bool   // there is a row, so the run is yielded
	counted           bool   // there is a message
	spent             bool   // there is usage of Qoder's

	waitingRows      []*transcript.Event // rows read before run was known
	seen             map[string]bool     // uuids
	calls            map[string]string   // tool names by call id
	results          map[string]bool     // answered call ids
	bestRank         map[string]int64    // highest rank yielded by request
	fork             forkHead
	linkedAgents     map[string]bool // linked sub-agents, and plans
	copiedSessions   map[string]bool // sessions that lines were copied from
	tasks            map[string]task // by call id
	callsWithoutID   int             // number of calls without an id
	resultsWithoutID int             // number of results without an id
	lastSession      string          // session of the previous line
	lastUUID         string          // uuid of the previous line
	lastEvent        string          // id of the previous event
	facts            facts
	stream           *stream // nil for transcripts

	cur      line          // current line, reused
	lend     format.Lender // allocates the events of the current line
	msg      messageReader
	usageBuf transcript.Usage
}

func newReader(out *format.Sink) *reader {
	return &reader{out: out, seen: map[string]bool{}, calls: map[string]string{}, results: map[string]bool{},
		bestRank: map[string]int64{}, linkedAgents: map[string]bool{}, copiedSessions: map[string]bool{}, tasks: map[string]task{}}
}

func parseSession(in format.Input, out *format.Sink) {
	r := newReader(out)
	r.place = placeOf(in.Path)
	if in.Role != roleAgent {
		r.place.agent = ""
	}
	r.identify()
	for o := range out.Each(jsontext.Objects(in.Reader, "", r.problem)) {
		r.line(o)
	}
	r.finish()
}

func (r *reader) problem(p *transcript.Problem) {
	p.Alone = true
	r.out.Problem(r.run, p)
}

// forkHead is what a fork, a sub-agent that goes on from its parent's conversation, begins with: the answer that started it, under
// another uuid, and a placeholder for the result of each call in that. Both are the parent's.
type forkHead struct {
	inside bool            // after the fork-context-ref, before the first line of type user
	calls  map[string]bool // calls in the answer
}

// identify sets the identity of the file from its path where that is sufficient.
func (r *reader) identify() {
	switch {
	case r.place.agent != "" && r.place.session != "":
		r.setIdentity(r.place.session, "")
	case r.place.agent == "" && format.IsUUID(r.place.stem):
		r.setIdentity(r.place.stem, "")
	}
}

// setIdentity sets the run and conversation of the file, and yields the rows that waited for them. session is "" if no line
// named one; then first, the uuid of the first line that has one, distinguishes files of the same name.
func (r *reader) setIdentity(session, first string) {
	if session == "" && r.place.agent != "" {
		session = r.place.maybeSession
	}
	r.session = session
	switch stem := r.place.stem; {
	case r.place.agent != "" && session != "":
		r.run, r.conversation = agentRun(session, r.place.agent), r.place.agent
	case session == stem, session == "" && first == "":
		r.run, r.conversation = stem, stem
	default:
		r.run = stem + "@" + newest(first, session)
		r.conversation = r.run
	}
	for _, e := range r.waitingRows {
		e.Run = r.run
		r.out.Emit(e)
	}
	r.waitingRows = nil
	r.out.Settle(r.run)
}

// agentRun returns the id of a sub-agent's run. The agent's own id is short and only unique in its session.
func agentRun(session, agent string) string { return session + "/" + agent }

func (r *reader) line(o jsontext.Object) {
	r.lend.Reset()
	l := &r.cur
	l.read(o, r.lastSession)
	if r.stream != nil {
		l.readStream(r.session)
		r.stream.name = cmp.Or(r.stream.name, l.uuid)
		r.date(l)
		if l.uuid == "" && l.isMessage() { // older versions; the ids in it make the line unique
			l.uuid = hashOf(l.raw)
		}
	}
	r.lastSession = l.session
	if r.run == "" && (l.session != "" || l.startsConversation()) {
		r.setIdentity(l.session, l.uuid)
	}
	if r.run != "" {
		r.linkParent(l)
	}
	if l.startsConversation() {
		r.begin(l)
	}
	r.facts.add(l)
	if r.place.agent != "" && l.attribution.IsString() {
		r.facts.agent = reuse(r.facts.agent, l.attribution)
	}
	r.hasRows = true
	repeated := l.uuid != "" && r.seen[l.uuid]
	switch {
	case l.kind == "fork-context-ref" && r.place.agent != "":
		r.fork = forkHead{inside: true, calls: map[string]bool{}}
	case l.kind == "user":
		r.fork.inside = false
	}
	switch {
	case l.isMessage():
		m := readMessage(l.message)
		r.usage(l, m)
		r.message(l, m, repeated)
	case l.isSystem():
		r.system(l, repeated)
	case l.isResult():
		r.result(l, repeated)
	default:
		r.emitOther(l, repeated)
	}
	if l.uuid != "" && l.kind != "" {
		r.seen[l.uuid], r.lastUUID = true, l.uuid
	}
}

// begin yields the conversation at its first line.
func (r *reader) begin(l *line) {
	r.counted = r.counted || l.isMessage() || l.isResult() && r.isAnswer(l)
	if r.opened {
		return
	}
	r.opened = true
	if r.stream != nil {
		r.nameStream(l)
	}
	child := r.place.agent != ""
	r.out.Emit(&transcript.Conversation{ID: r.conversation, Run: r.run, Started: l.now, Child: child})
}

// finish yields the records that need the whole file. Several files of one run are one session in several places.
func (r *reader) finish() {
	guess := r.run == ""
	if guess && len(r.waitingRows) > 0 {
		r.setIdentity("", "")
	}
	r.out.Settle(r.run)
	if !r.hasRows {
		return
	}
	f := &r.facts
	child := r.place.agent != ""
	title := f.title(r.seen)
	run := &transcript.Run{
		ID: r.run, Named: !r.counted, Child: child, Title: title, Project: f.project, Branch: f.branch, Version: f.version,
		Model: f.model, Agent: f.agentName(), Started: f.first, Ended: f.last, Guess: guess,
	}
	conversation := &transcript.Conversation{
		ID: r.conversation, Run: r.run, Child: child, Title: title, Project: f.project, Branch: f.branch, Version: f.version,
		Model: f.model, Agent: f.agentName(), Started: f.first, Ended: f.last, Silent: !r.counted,
	}
	if s := r.stream; s != nil {
		run.Rank, run.Status, run.Outcome, run.Guess = transcript.RankHistory, s.status, s.outcome, r.session == ""
		conversation.Status = s.status
	}
	r.out.Emit(run)
	if r.opened {
		r.out.Emit(conversation)
	}
}

// isHome reports whether a line was first written to this file, as far as it shows. A session that is sent to the
// background is copied into a new one, and all lines of the copy claim to be that one's.
func (r *reader) isHome(l *line) bool {
	return l.session != "" && l.session == r.session && r.stream == nil && !l.forkedFrom.Exists() && !l.background
}

// event returns an event of a line, with one part.
func (r *reader) event(l *line, repeated bool) *transcript.Event {
	e := r.lend.Event(transcript.Event{Conversation: r.conversation, Run: r.run, Type: l.kind, Time: l.now, Origin: l.origin})
	switch {
	case repeated:
		e.Verdict = transcript.DuplicateOf
	case l.uuid != "":
		e.ID, e.Global, e.Home = l.uuid, true, r.isHome(l)
	}
	if l.sidechain && r.place.agent == "" {
		e.Attributes.Set("sidechain", true)
	}
	r.branch(l, e)
	return e
}

// branch sets the parent of a line that does not follow the previous one: the user rewound the conversation, or calls ran
// in parallel.
func (r *reader) branch(l *line, e *transcript.Event) {
	if parent := l.parent; parent.IsString() && !parent.Is(r.lastUUID) {
		e.Attributes.Set("parent", parent.Str())
	}
	if l.logicalParent.IsString() {
		e.Attributes.Set("logical_parent", l.logicalParent.Str())
	}
}

// emitUncounted yields an event as a row that is only searchable. Before the conversation begins, the row belongs to the
// run.
func (r *reader) emitUncounted(e *transcript.Event) {
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	if r.facts.version != "" {
		e.Attributes.Set("version", r.facts.version)
	}
	if r.opened {
		e.Run = ""
	} else {
		e.Conversation = ""
	}
	if r.run == "" {
		r.waitingRows = append(r.waitingRows, transcript.Clone(e).(*transcript.Event))
		return
	}
	r.out.Emit(e)
}

// system yields the event of a line that the program wrote. Every such line is an event.
func (r *reader) system(l *line, repeated bool) {
	e := r.event(l, repeated)
	e.Kind, e.Role = transcript.KindSystem, "system"
	subtype := l.subtype.Str()
	e.Attributes.Set("subtype", subtype)
	if subtype == "compact_boundary" {
		e.Kind = transcript.KindCompaction
	}
	e.Parts[0].Text = r.text(l.raw)
	r.emit(e)
}

// emit yields an event that counts unless it is a copy.
func (r *reader) emit(e *transcript.Event) {
	if e.ID != "" {
		r.lastEvent = e.ID
	}
	r.out.Emit(e)
}

// emitOther yields a line that is not an event: it is searchable, and counted by type and version.
func (r *reader) emitOther(l *line, repeated bool) {
	e := r.event(l, repeated)
	e.Kind, e.Role = otherKind(l.kind), ""
	e.Parts[0].Text = ""
	switch l.kind {
	case "system":
		e.Attributes.Set("subtype", l.subtype.Str())
		if r.stream != nil && l.subtype.Is("init") {
			r.stream.sums.began = l.origin.Offset
		}
	case "stream_event":
		if r.stream != nil {
			r.partial(l)
		}
	case "progress":
		e.Attributes.Set("subtype", l.data.Get("type").Str())
		r.linkProgress(l)
	case "attachment":
		r.attachment(l, e)
	case "continued-in":
		r.linkContinuation(l)
	}
	if e.Parts[0].Length == 0 {
		e.Parts[0].Text = r.text(l.raw)
	}
	r.emitUncounted(e)
}

// attachment fills in the text of what the program added for the model to a prompt. Its rendered form has the same words.
func (r *reader) attachment(l *line, e *transcript.Event) {
	subtype, content := l.attachment.Get("type").Str(), l.attachment
	e.Attributes.Set("subtype", subtype)
	r.linkPlan(l, content.Get("planFilePath"))
	switch subtype {
	case "queued_command":
		content = content.Get("prompt")
		e.Kind, e.Role = transcript.KindSystem, "system"
		if l.typedInQueue() {
			e.Kind, e.Role, e.Retold = transcript.KindMessage, "user", content.Str()
		}
	case "prompt_snapshot": // it also has the descriptions of all tools, in each session again
		content = content.Get("systemPrompt")
	}
	if content.Exists() {
		e.Parts[0] = jsontext.PartIn(l.raw, content, r.text(content))
	}
}

// otherKind returns the kind of a type of lines that are not events.
func otherKind(typ string) transcript.Kind {
	switch typ {
	case "progress", "attachment", "queue-operation", "summary", "ai-title", "custom-title", "agent-name", "last-prompt", "tag",
		"task-summary", "content-replacement", "system", "stream_event", "rate_limit_event", "tool_progress", "tool_use_summary",
		"prompt_suggestion", "auth_status":
		return transcript.KindNotice
	case "marble-origami-commit", "marble-origami-snapshot", "marble-origami-reset":
		return transcript.KindCompaction
	case "file-history-snapshot", "file-history-delta", "mode", "permission-mode", "pr-link", "worktree-state", "bridge-session",
		"agent-setting", "agent-color", "atis-latch", "isolation-latch", "memory-mode", "dev-mods", "cost-state", "relocated", "continued-in",
		"fork-context-ref", "frame-link", "artifact-comment-monitor", "artifact-autoreact-ledger", "history-suppression", "attribution-snapshot",
		"speculation-accept", "ended-by-model", "observer-ref", "api-request", "api-request-shape", "api-request-blob",
		"control_request", "control_response", "control_cancel_request", "command_lifecycle", "keep_alive":
		return transcript.KindLifecycle
	}
	return transcript.KindUnknown
}
