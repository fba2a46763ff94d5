package awf

import (
	"cmp"
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// audit accumulates what the log says about each run. The last line about a run replaces what earlier ones said (a run that
// failed and was resumed has no error in the end), so the full Run is yielded at the end of the log.
type audit struct {
	out   *format.Sink
	file  string // name of the log
	last  string // run of the previous line
	runs  map[string]*transcript.Run
	order []*transcript.Run
}

// parseAudit reads the audit log: two lines per execution, and two more each time it is resumed.
func parseAudit(in format.Input, out *format.Sink) {
	a := &audit{out: out, file: path.Base(in.Path), runs: map[string]*transcript.Run{}}
	for o := range out.Each(jsontext.Objects(in.Reader, "", func(p *transcript.Problem) { out.Emit(p) })) {
		a.line(o)
	}
	for _, run := range a.order {
		out.Emit(run)
	}
}

func (a *audit) line(o jsontext.Object) {
	v := o.Value
	id := v.Get("execution_id").Text()
	if id != "" {
		a.update(a.findRun(id), v)
	} else {
		// A line of an unknown kind. It is valid JSON, so it is not a problem; it becomes a row of the previous line's run.
		id = cmp.Or(a.last, a.file)
		a.findRun(id)
	}
	a.last = id
	a.out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: v.Get("event").Text(),
		Time: v.Get("timestamp").Time(), Origin: o.Origin, Flow: v.Get("workflow_name").Str(),
		Parts: []transcript.Part{{Text: auditText(v)}},
	})
}

// findRun returns the record of a run. The log alone does not make it a run that counts, so it is Named.
func (a *audit) findRun(id string) *transcript.Run {
	run := a.runs[id]
	if run == nil {
		run = &transcript.Run{ID: id, Rank: rankAudit, Named: true, Attributes: transcript.Attributes{}}
		a.runs[id] = run
		a.order = append(a.order, run)
		a.out.Emit(&transcript.Run{ID: id, Rank: rankAudit, Named: true})
	}
	return run
}

// update sets the fields of a run that a line states.
func (a *audit) update(run *transcript.Run, v jsontext.Value) {
	if flow := v.Get("workflow_name").Str(); flow != "" {
		run.Group, run.Flow = flow, flow
	}
	run.Attributes.Set("user", v.Get("user").Str())
	switch v.Get("event").Str() {
	case "workflow.started":
		if !run.Started.Valid {
			run.Started = v.Get("timestamp").Time()
		}
	case "workflow.completed":
		run.Ended = v.Get("timestamp").Time()
		run.Status = v.Get("status").Str()
		run.Outcome = outcome(run.Status)
		run.Error = v.Get("error").Text()
		setCount(run.Attributes, "audit_exit_code", v.Get("exit_code"))
		setCount(run.Attributes, "audit_duration_ms", v.Get("duration_ms"))
	}
}

// auditText returns every string of a line except its type, id and time.
func auditText(v jsontext.Value) string {
	var text []byte
	for key, value := range v.Fields() {
		switch key {
		case "event", "execution_id", "timestamp":
		default:
			text = jsontext.AppendStrings(text, value)
		}
	}
	return string(text)
}
