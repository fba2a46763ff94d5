package claudecode

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// reader reads one transcript, of a session or of a sub-agent.
type reader struct {
	out   *format.Sink
	place place

	run, conversation string // "" until the file says whose it is
	session           string // that the file is of, or belongs to
	open              bool   // the conversation is told
	rows              bool   // there is something to keep the run for
	counted           bool   // something was said

	waiting []*transcript.Event // rows from before run was known
	seen    map[string]bool     // uuids
	calls   map[string]string   // names of tools by call id
	results map[string]bool     // call ids that were answered
	told    map[string]int64    // best rank by request
	agents  map[string]bool     // sub-agents that were linked
	foreign map[string]bool     // sessions that lines were copied from
	tasks   map[string]task     // by call id
	unnamed int                 // calls without an id
	replied int                 // results without one
	last    string              // session of the line before
	before  string              // uuid of the line before
	latest  string              // id of the event before
	facts   facts

	now    line          // the present one
	lend   format.Lender // of its events
	saying saying
	spent  transcript.Usage
}

func parseSession(in format.Input, out *format.Sink) {
	r := &reader{out: out, place: placeOf(in.Path), seen: map[string]bool{}, calls: map[string]string{}, results: map[string]bool{},
		told: map[string]int64{}, agents: map[string]bool{}, foreign: map[string]bool{}, tasks: map[string]task{}}
	if in.Role != roleAgent {
		r.place.agent = ""
	}
	r.identify()
	for o := range out.Each(format.Objects(in.Reader, "", r.problem)) {
		r.line(o)
	}
	r.end()
}

func (r *reader) problem(p *transcript.Problem) {
	p.Alone = true
	r.out.Problem(r.run, p)
}

// identify takes the identity of the file from its path where that is enough.
func (r *reader) identify() {
	switch {
	case r.place.agent != "" && r.place.session != "":
		r.is(r.place.session, "")
	case r.place.agent == "" && format.IsUUID(r.place.stem):
		r.is(r.place.stem, "")
	}
}

// is settles whose the file is, and hands on the rows that waited for it. session is "" when no line named one; then first,
// the uuid of the first line that has one, tells files of one name apart.
func (r *reader) is(session, first string) {
	if session == "" && r.place.agent != "" {
		session = r.place.above
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
	for _, e := range r.waiting {
		e.Run = r.run
		r.out.Emit(e)
	}
	r.waiting = nil
	r.out.Settle(r.run)
}

// agentRun is the id of a sub-agent's run. Its own id is short and only means something in its session.
func agentRun(session, agent string) string { return session + "/" + agent }

func (r *reader) line(o format.Object) {
	r.lend.Reset()
	l := &r.now
	l.read(o, r.last)
	r.last = l.session
	if r.run == "" && (l.session != "" || l.opens()) {
		r.is(l.session, l.uuid)
	}
	if r.run != "" {
		r.belongs(l)
	}
	if l.opens() {
		r.begin(l)
	}
	r.facts.take(l)
	if r.place.agent != "" && l.by.IsString() {
		r.facts.agent = again(r.facts.agent, l.by)
	}
	r.rows = true
	again := l.uuid != "" && r.seen[l.uuid]
	switch {
	case l.said():
		m := readMessage(l.message)
		r.usage(l, m)
		r.say(l, m, again)
	case l.kind == "system":
		r.system(l, again)
	default:
		r.aside(l, again)
	}
	if l.uuid != "" && l.kind != "" {
		r.seen[l.uuid], r.before = true, l.uuid
	}
}

// begin tells the conversation when its first line is there.
func (r *reader) begin(l *line) {
	r.counted = r.counted || l.said()
	if r.open {
		return
	}
	r.open = true
	child := r.place.agent != ""
	r.out.Emit(&transcript.Conversation{ID: r.conversation, Run: r.run, Started: l.now, Child: child})
}

// end tells what only the whole file says of the run. Several files of one run are one session in several places.
func (r *reader) end() {
	guess := r.run == ""
	if guess && len(r.waiting) > 0 {
		r.is("", "")
	}
	r.out.Settle(r.run)
	if !r.rows {
		return
	}
	f := &r.facts
	child := r.place.agent != ""
	title := f.title(r.seen)
	run := &transcript.Run{
		ID: r.run, Named: !r.counted, Child: child, Title: title, Project: f.project, Branch: f.branch, Version: f.version,
		Model: f.model, Agent: f.named(), Started: f.first, Ended: f.last, Guess: guess,
	}
	r.out.Emit(run)
	if !r.open {
		return
	}
	r.out.Emit(&transcript.Conversation{
		ID: r.conversation, Run: r.run, Child: child, Title: title, Project: f.project, Branch: f.branch, Version: f.version,
		Model: f.model, Agent: f.named(), Started: f.first, Ended: f.last, Silent: !r.counted,
	})
}

// home says that a line was first written to this file, as far as it tells: a session that is sent to the background is copied
// into a new one, and all of its lines say that they are that one's.
func (r *reader) home(l *line) bool {
	return l.session != "" && l.session == r.session && !l.forked.Exists() && !l.background
}

// event begins an event of a line, of one part.
func (r *reader) event(l *line, again bool) *transcript.Event {
	e := r.lend.Event(transcript.Event{Conversation: r.conversation, Run: r.run, Type: l.kind, Time: l.now, Origin: l.origin})
	switch {
	case again:
		e.Verdict = transcript.DuplicateOf
	case l.uuid != "":
		e.ID, e.Global, e.Home = l.uuid, true, r.home(l)
	}
	if l.sidechain && r.place.agent == "" {
		e.Attributes.Set("sidechain", true)
	}
	r.branch(l, e)
	return e
}

// branch keeps the parent of a line that does not follow the one before: history was rewound, or calls ran side by side.
func (r *reader) branch(l *line, e *transcript.Event) {
	if parent := l.parent; parent.IsString() && !parent.Is(r.before) {
		e.Attributes.Set("parent", parent.Str())
	}
	if l.logical.IsString() {
		e.Attributes.Set("logical_parent", l.logical.Str())
	}
}

// uncounted turns an event into a row that is only searched. Before the conversation begins it is one of the run.
func (r *reader) uncounted(e *transcript.Event) {
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	if r.facts.version != "" {
		e.Attributes.Set("version", r.facts.version)
	}
	if r.open {
		e.Run = ""
	} else {
		e.Conversation = ""
	}
	if r.run == "" {
		r.waiting = append(r.waiting, transcript.Keep(e).(*transcript.Event))
		return
	}
	r.out.Emit(e)
}

// system gives a line that the program says. Every such line is an event.
func (r *reader) system(l *line, again bool) {
	e := r.event(l, again)
	e.Kind, e.Role = transcript.KindSystem, "system"
	subtype := l.subtype.Str()
	e.Attributes.Set("subtype", subtype)
	if subtype == "compact_boundary" {
		e.Kind = transcript.KindCompaction
	}
	e.Parts[0].Text = r.text(l.raw)
	r.give(e)
}

// give hands on an event that counts, unless it is a copy.
func (r *reader) give(e *transcript.Event) {
	if e.ID != "" {
		r.latest = e.ID
	}
	r.out.Emit(e)
}

// aside gives a line that is no event: it is found, and counted by type and version.
func (r *reader) aside(l *line, again bool) {
	e := r.event(l, again)
	e.Kind, e.Role = asideKinds[l.kind], ""
	if e.Kind == "" {
		e.Kind = transcript.KindUnknown
	}
	e.Parts[0].Text = ""
	switch l.kind {
	case "progress":
		e.Attributes.Set("subtype", l.data.Get("type").Str())
		r.progress(l)
	case "attachment":
		r.attached(l, e)
	case "continued-in":
		r.continued(l)
	}
	if e.Parts[0].Length == 0 {
		e.Parts[0].Text = r.text(l.raw)
	}
	r.uncounted(e)
}

// attached gives what the program put before the model beside a prompt. What it made of that (rendered) are the same words.
func (r *reader) attached(l *line, e *transcript.Event) {
	subtype, said := l.attachment.Get("type").Str(), l.attachment
	e.Attributes.Set("subtype", subtype)
	switch subtype {
	case "queued_command":
		said = said.Get("prompt")
		e.Kind, e.Role = transcript.KindSystem, "system"
		if l.queued() {
			e.Kind, e.Role, e.Retold = transcript.KindMessage, "user", said.Str()
		}
	case "prompt_snapshot": // with the descriptions of all tools, in each session again
		said = said.Get("systemPrompt")
	}
	if said.Exists() {
		e.Parts[0] = transcript.Part{Text: r.text(said), Offset: format.OffsetIn(l.raw, said), Length: int64(said.Len())}
	}
}

// asideKinds are what lines are that are no events, by type.
var asideKinds = kinds(map[transcript.Kind][]string{
	transcript.KindNotice: {"progress", "attachment", "queue-operation", "summary", "ai-title", "custom-title", "agent-name", "last-prompt", "tag",
		"task-summary", "content-replacement"},
	transcript.KindCompaction: {"marble-origami-commit", "marble-origami-snapshot", "marble-origami-reset"},
	transcript.KindLifecycle: {"file-history-snapshot", "file-history-delta", "mode", "permission-mode", "pr-link", "worktree-state", "bridge-session",
		"agent-setting", "agent-color", "atis-latch", "isolation-latch", "memory-mode", "dev-mods", "cost-state", "relocated", "continued-in",
		"fork-context-ref", "frame-link", "artifact-comment-monitor", "artifact-autoreact-ledger", "history-suppression", "attribution-snapshot",
		"speculation-accept", "ended-by-model", "observer-ref", "api-request", "api-request-shape", "api-request-blob"},
})

func kinds(of map[transcript.Kind][]string) map[string]transcript.Kind {
	all := map[string]transcript.Kind{}
	for kind, names := range of {
		for _, name := range names {
			all[name] = kind
		}
	}
	return all
}
