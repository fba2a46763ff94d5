package flowstudio

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// metaRank is the least Run.Rank of the files that describe a run; meta.json is the best evidence. Those that say when they
// were written rank by that, too, since an older copy of the run may lie elsewhere, in which it is still running.
var metaRank = map[string]int{roleMeta: 4, roleLegacy: 3, roleState: 1, roleSpec: 1}

// metadata reads one of the documents at the top of a run. run_state.json says how far the orchestrator got, not how the
// run ended (it stays "pending"), so its status is not the run's.
func (p *parser) metadata() {
	v, at, ok := p.document(false)
	if !ok {
		p.Emit(p.run(0, "1", transcript.Time{}))
		return
	}
	var r *transcript.Run
	var when transcript.Time
	switch p.in.Role {
	case roleState:
		when = v.First("timestamp", "updated_at").Time()
		r = p.run(metaRank[p.in.Role]+timestamp.RankAt(when), "3", transcript.Time{})
		r.Attributes = transcript.Attributes{}
		state := transcript.Attributes{}
		flatten(state, "", v, "run_id", "timestamp", "handoff_envelopes", "artifacts", "injected_node_specs")
		for k, a := range state {
			r.Attributes["state."+k] = a
		}
	case roleSpec:
		r = p.run(metaRank[p.in.Role], "3", transcript.Time{})
		r.Attributes = transcript.Attributes{}
		setSpec(r, v)
	default:
		r, when = p.meta(v)
	}
	p.Emit(r)
	kind := transcript.KindLifecycle
	if r.Error != "" {
		kind = transcript.KindError
	}
	row := p.uncounted(kind, p.in.Role, at, rowText(p.in.Role, v))
	row.Time = when
	p.Emit(row)
}

// meta reads meta.json, or the run.json of older runs, which has some of the same members at the top level.
func (p *parser) meta(v jsontext.Value) (*transcript.Run, transcript.Time) {
	created := v.Get("created_at").Time()
	r := p.run(metaRank[p.in.Role]+timestamp.RankAt(v.Get("updated_at").Time()), "1", created)
	r.Title = v.Get("title").Str()
	r.Status = v.Get("status").Str()
	r.Outcome = outcome(r.Status)
	r.Error = v.Get("error").Text()
	r.Started = v.Get("started_at").Time()
	if !r.Started.Valid {
		r.Started = created
	}
	r.Ended = v.First("completed_at", "ended_at", "finished_at").Time()
	r.Attributes = transcript.Attributes{}
	flatten(r.Attributes, "", v, "spec", "status", "title", "error", "started_at", "completed_at", "artifacts")
	if id, ok := r.Attributes["id"]; ok && id == p.place.run {
		delete(r.Attributes, "id")
	}
	spec := v.Get("spec")
	if !spec.IsObject() {
		spec = v
	}
	setSpec(r, spec)
	return r, created
}

// setSpec sets the attributes that say what a run was asked to do.
func setSpec(r *transcript.Run, spec jsontext.Value) {
	for _, key := range []string{"backend", "initiator", "profile_id", "no_human_mid_flow"} {
		if s := scalar(spec.Get(key)); s != nil {
			r.Attributes[key] = s
		}
	}
	params := transcript.Attributes{}
	flatten(params, "params.", spec.Get("params"))
	for k, a := range params {
		r.Attributes[k] = a
	}
	flows := spec.First("flow_keys", "flows")
	if list := joined(flows); list != "" {
		r.Attributes["flow_keys"] = list
		n := 0
		for range flows.Items() {
			n++
		}
		if n == 1 {
			r.Flow = list
		}
	}
}
