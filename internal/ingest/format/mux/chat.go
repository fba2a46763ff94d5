package mux

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Rows
	in   format.Input
	loc  location
	head transcript.Conversation // what is known of the workspace

	// of the current message
	id          string // "" if only its place identifies it
	isDuplicate bool   // this file already has it
	at          transcript.Time
	model       string
	n           int // events so far

	seen   map[string]bool // ids of messages
	linked map[string]bool // sub-agents that a link was yielded to
}

// end yields the end of the conversation, which each line may move.
func (p *parser) end() {
	if p.Begun && !p.Done() {
		p.emitHead()
	}
}

// emitHead yields what is known of the workspace. The model in the archive is not the last one.
func (p *parser) emitHead() {
	c := p.head
	c.ID, c.Run, c.Shared, c.Child = p.Session, p.Session, true, p.loc.parent != ""
	c.Order, c.Rank = "2", rankChat
	run := &transcript.Run{ID: p.Session, Child: c.Child, Rank: c.Rank, Title: c.Title, Model: c.Model, Agent: c.Agent, Started: c.Started, Ended: c.Ended}
	if p.in.Role == roleArchive {
		c.Order, c.Rank = "1", rankArchive
		run.Rank, run.Model = c.Rank, ""
	}
	p.Emit(run)
	p.Emit(&c)
}

// message yields the events of a message, and what its requests used.
func (p *parser) message(v jsontext.Value) {
	meta := v.Get("metadata")
	p.at, p.n = cmp.Or(meta.Get("timestamp").MilliTime(), v.Get("createdAt").TimeOrMilli()), 0
	p.id = v.Get("id").Str()
	p.isDuplicate = p.id != "" && p.seen[p.id]
	p.seen[p.id] = true
	format.Extend(&p.head.Started, &p.head.Ended, p.at)
	if !p.Begun {
		p.Begun = true
		p.emitHead()
	}
	role := v.Get("role").Word()
	_, p.model = splitModel(meta.Get("model").Str())
	if role == "assistant" {
		p.head.Model = cmp.Or(p.model, p.head.Model)
	}
	if p.loc.parent != "" {
		p.head.Agent = cmp.Or(meta.Get("agentId").Str(), p.head.Agent)
	}
	switch role {
	case "user", "system", "assistant":
		p.parts(v, role, kindOf(meta, role))
	default:
		p.row(v, transcript.KindUnknown)
	}
	if failure := meta.Get("error"); !failure.IsBlank() {
		p.emit(p.Event(transcript.KindError, "assistant", "error", failure), transcript.Uncounted)
	}
	if p.n == 0 {
		p.row(v, transcript.KindNotice)
	}
	p.usage(v, meta)
}

// kindOf returns the kind of what a message says: a part of the conversation, a summary of what was said before, or what the program itself told the model.
func kindOf(meta jsontext.Value, role string) transcript.Kind {
	more := meta.First("muxMetadata", "cmuxMetadata").Get("type")
	switch compacted := meta.Get("compacted"); {
	case role == "assistant" && (compacted.IsString() || compacted.Bool() == transcript.Yes || more.Is("compaction-summary")):
		return transcript.KindCompaction
	case role == "system", role == "user" && (meta.Get("synthetic").Bool() == transcript.Yes || more.Is("compaction-request")):
		return transcript.KindSystem
	}
	return transcript.KindMessage
}

// row yields the whole line as a row that does not count.
func (p *parser) row(v jsontext.Value, kind transcript.Kind) {
	p.emit(p.Event(kind, "", v.Get("role").Word(), v), transcript.Uncounted)
}

func (p *parser) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time = p.Session, p.Session, verdict, p.at
	switch {
	case verdict == transcript.Uncounted:
	case p.isDuplicate:
		e.Verdict = transcript.DuplicateOf
	case p.id != "":
		e.ID, e.Global = p.id, true
	}
	if e.Role == "assistant" {
		e.Model = p.model
	}
	p.n++
	p.Emit(e)
}

// document reads a file that is one object.
func (p *parser) document(read func(v jsontext.Value, at transcript.Origin)) {
	v, at := p.Document(p.in.Reader, p.SessionProblem)
	switch {
	case !v.Exists():
	case !v.IsObject():
		p.SessionProblem(&transcript.Problem{Kind: "not an object", Reason: "not what is noted about a workspace", Origin: at})
	default:
		p.Row = jsontext.Object{Origin: at, Value: v}
		read(v, at)
	}
}

// children yields links to sub-agents whose workspaces are gone.
func (p *parser) children(v jsontext.Value, _ transcript.Origin) {
	for id, child := range v.Get("artifactsByChildTaskId").Fields() {
		p.child(child.Get("parentWorkspaceId").Str(), id, "", child)
	}
}

// child yields the link from a workspace to one that it started, with the call that did it.
func (p *parser) child(parent, child, call string, stated jsontext.Value) {
	if parent == "" || child == "" || child == parent || p.linked[child] {
		return
	}
	p.linked[child] = true
	l := &transcript.Link{
		Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(child), Origin: jsontext.OriginIn(p.Row.Origin, p.Row.Value, stated),
	}
	l.Attributes.Set("call", call)
	p.Emit(l)
}

// meta yields what the program noted about a workspace until it had one list of them.
func (p *parser) meta(v jsontext.Value, at transcript.Origin) {
	run := &transcript.Run{
		ID: p.Session, Named: true, Rank: rankMeta, Project: v.Get("projectPath").Str(), Branch: v.Get("name").Str(), Started: v.Get("createdAt").Time(),
	}
	p.Emit(run)
	p.child(v.Get("parentWorkspaceId").Str(), p.Session, "", v)
	p.Uncounted(transcript.KindNotice, roleMeta, run.Started)
}
