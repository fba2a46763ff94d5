package leslie

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// relations reads thread_relations.json or its .bak.
type relations struct {
	*format.Sink
	b        []byte
	doc      jsontext.Value
	rank     int
	emitted  map[edge]bool           // links that were yielded
	requests map[edge]jsontext.Value // the last operation that requested a reference
}

// edge identifies a link. from is the parent, or the thread that is referenced.
type edge struct{ kind, from, to string }

func parseRelations(in format.Input, b []byte, s *format.Sink) {
	doc, problem := document(b)
	if problem != nil {
		// The program falls back to the .bak, whose links count here too. Only the loss of the main file is a problem; a
		// bad .bak is kept as text.
		if in.Role == roleRelations {
			s.Emit(problem)
		} else {
			emitUnparsed(b, s)
		}
		return
	}
	r := relations{Sink: s, b: b, doc: doc, emitted: map[edge]bool{}, requests: map[edge]jsontext.Value{}}
	if in.Role == roleRelations {
		r.rank = 1
	}
	for op := range doc.Get("operations").Items() {
		if e, ok := referenceOf(op); ok {
			r.requests[e] = op
		}
	}
	// Rows are yielded in file order, whatever the order of the keys.
	for key, v := range doc.Fields() {
		switch key {
		case "threads":
			r.threads(v)
		case "operations":
			r.operations(v)
		}
	}
	r.references()
	r.uncountedLinks()
	for op := range doc.Get("operations").Items() {
		if e, ok := referenceOf(op); ok {
			r.link(e, origin(b, op), false, transcript.Time{})
		}
	}
}

// threads yields each thread as a named run with a row of its own, and the link to its parent.
func (r *relations) threads(all jsontext.Value) {
	for id, t := range all.Fields() {
		if !t.IsObject() {
			continue
		}
		status := t.Get("status").Str()
		run := namedRun(threadRun(id))
		run.Rank = r.rank + timestamp.RankAt(t.Get("updated_at").Time())
		run.Title, run.Agent, run.Status = t.Get("title").Str(), t.Get("executor").Str(), status
		run.Outcome, run.Started = threadOutcome(status), t.Get("created_at").Time()
		switch run.Outcome {
		case transcript.Succeeded, transcript.Failed, transcript.Cancelled:
			run.Ended = t.Get("updated_at").Time()
		}
		run.Attributes = scalars(t, "objective", "session_id", "storage_path", "parent_id")
		run.Attributes.Set("tags", jsontext.AllStrings(t.Get("tags")))
		if !r.Emit(run) || !r.Emit(row(run.ID, "thread", run.Started, origin(r.b, t), format.LooseText(t.Raw()))) {
			return
		}
		if parent := t.Get("parent_id").Str(); parent != "" {
			r.link(edge{"parent", parent, id}, origin(r.b, t), true, run.Started)
		}
	}
}

// references yields the links that count besides parents: those in references_to.
func (r *relations) references() {
	for id, rel := range r.doc.Get("relations").Fields() {
		for to := range rel.Get("references_to").Items() {
			if to.Str() != "" {
				r.link(edge{"reference", to.Str(), id}, origin(r.b, to), true, transcript.Time{})
			}
		}
	}
}

// uncountedLinks yields the links that only the other end states (children, referenced_by) and dependencies: kept, but not
// counted.
func (r *relations) uncountedLinks() {
	for id, rel := range r.doc.Get("relations").Fields() {
		for child := range rel.Get("children").Items() {
			r.link(edge{"parent", id, child.Str()}, origin(r.b, child), false, transcript.Time{})
		}
		for by := range rel.Get("referenced_by").Items() {
			r.link(edge{"reference", id, by.Str()}, origin(r.b, by), false, transcript.Time{})
		}
		for on := range rel.Get("depends_on").Items() {
			if !r.emitted[edge{"parent", on.Str(), id}] {
				r.link(edge{"depends", on.Str(), id}, origin(r.b, on), false, transcript.Time{})
			}
		}
	}
}

// operations yields a row for each operation.
func (r *relations) operations(all jsontext.Value) {
	for op := range all.Items() {
		run := ownerOf(op)
		kind, when := "operation "+op.Get("command").Str(), op.Get("timestamp").Time()
		if !r.Emit(run) || !r.Emit(row(run.ID, kind, when, origin(r.b, op), format.LooseText(op.Raw()))) {
			return
		}
	}
}

// link yields a link once. A reference carries what its operation states: frozen or live, and the scope.
func (r *relations) link(e edge, at transcript.Origin, counted bool, when transcript.Time) {
	if r.emitted[e] || e.from == "" || e.to == "" {
		return
	}
	r.emitted[e] = true
	l := &transcript.Link{
		Kind: e.kind, From: transcript.End{Type: "group", ID: e.from}, To: transcript.End{Type: "group", ID: e.to},
		Time: when, Origin: at, Uncounted: !counted,
	}
	if op, ok := r.requests[e]; ok {
		l.Time = op.Get("timestamp").Time()
		l.Attributes = scalars(op.Get("params"), "ref_id", "binding")
		l.Attributes.Set("scope", jsontext.AllStrings(op.Get("params", "scope")))
	}
	r.Emit(l)
}

// referenceOf returns the link that a reference operation requests: from the referenced thread to the one that references
// it.
func referenceOf(op jsontext.Value) (edge, bool) {
	if op.Get("command").Str() != "reference" {
		return edge{}, false
	}
	e := edge{"reference", op.Get("params", "to_id").Str(), op.Get("params", "from_id").Str()}
	return e, e.from != "" && e.to != ""
}

// ownerOf returns the run that an operation's row belongs to: the first thread that its parameters name, else the
// objective, else the workspace.
func ownerOf(op jsontext.Value) *transcript.Run {
	for _, key := range []string{"thread_id", "from_id", "source_id", "target_id"} {
		if id := op.Get("params", key).Str(); id != "" {
			return namedRun(threadRun(id))
		}
	}
	for _, key := range []string{"objective_id", "objective"} {
		if id := op.Get("params", key).Str(); id != "" {
			return namedRun(objectiveRun(id))
		}
	}
	return workspaceRun()
}

// threadOutcome maps the status of a thread to an Outcome.
func threadOutcome(status string) transcript.Outcome {
	switch status {
	case "":
		return ""
	case "active", "suspended", "waiting_human", "pending":
		return transcript.Running
	case "completed":
		return transcript.Succeeded
	case "cancelled":
		return transcript.Cancelled
	}
	return transcript.Other
}
