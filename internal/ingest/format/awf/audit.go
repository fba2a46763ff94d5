package awf

import (
	"cmp"
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// audit gathers what the log says of each run. What the last line says replaces what earlier ones said (a run that
// failed and was resumed has no error in the end), so a run is told in full when the log is read.
type audit struct {
	out   *format.Sink
	file  string // name of the log
	last  string // run of the line before
	runs  map[string]*transcript.Run
	order []*transcript.Run
}

// parseAudit reads the audit log: two lines for each execution, and two more for each time it was resumed.
func parseAudit(in format.Input, out *format.Sink) {
	a := &audit{out: out, file: path.Base(in.Path), runs: map[string]*transcript.Run{}}
	for o := range out.Each(format.Objects(in.Reader, "", func(p *transcript.Problem) { out.Emit(p) })) {
		a.line(o)
	}
	for _, run := range a.order {
		out.Emit(run)
	}
}

func (a *audit) line(o format.Object) {
	v := o.Value
	id := v.Get("execution_id").Text()
	if id != "" {
		a.take(a.run(id), v)
	} else {
		// A line of a kind that is not known yet. It parses, so it is no problem, and is found beside its neighbour.
		id = cmp.Or(a.last, a.file)
		a.run(id)
	}
	a.last = id
	a.out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: v.Get("event").Text(),
		Time: v.Get("timestamp").Time(), Origin: o.Origin, Flow: v.Get("workflow_name").Str(),
		Parts: []transcript.Part{{Text: auditText(v)}},
	})
}

// run finds a run. The log alone does not make it one that counts.
func (a *audit) run(id string) *transcript.Run {
	run := a.runs[id]
	if run == nil {
		run = &transcript.Run{ID: id, Rank: rankAudit, Named: true, Attributes: transcript.Attributes{}}
		a.runs[id] = run
		a.order = append(a.order, run)
		a.out.Emit(&transcript.Run{ID: id, Rank: rankAudit, Named: true})
	}
	return run
}

// take has a run say what a line says of it.
func (a *audit) take(run *transcript.Run, v format.Value) {
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

// auditText is every string of a line but its type, id and time.
func auditText(v format.Value) string {
	var text []byte
	for key, value := range v.Fields() {
		switch key {
		case "event", "execution_id", "timestamp":
		default:
			text = format.AppendStrings(text, value)
		}
	}
	return string(text)
}
