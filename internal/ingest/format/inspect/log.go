package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// evaluation is what a log states about the whole of it.
type evaluation struct {
	id  string // eval_id or, of earlier versions, run and task
	run transcript.Run
	// more is known of each of its samples
	solver, dataset string
	failure         *transcript.Event // the error that ended it, for search
}

// maxHeld bounds the memory for sums and metrics, which wait until all samples are read.
const maxHeld = 10_000

// zip reads a .eval. What can be read of one that is torn counts.
func (p *parser) zip(r io.Reader) {
	p.eval.run.Status, p.eval.run.Outcome = "started", transcript.Running // the file that says more is written last
	torn := false                                                         // the last file could not be read: where the zip ends in it, that is known
	for file, err := range layer.ZipFiles(r) {
		if err != nil {
			if !torn || !layer.IsContent(err) {
				p.unreadable("", err)
			}
			return
		}
		p.inner, torn = file.Inner, false
		switch place := placeOf(file.Name); place {
		case placeHeader, placeSample:
			b, err := format.ReadAll(file.Reader, format.DocumentLimit)
			if torn = err != nil; torn {
				p.unreadable(file.Name, err)
			} else {
				p.member(place, b)
			}
		case placeChunked:
			p.samples++
			p.problem("split sample", "it is in several files, of version 3 of the log, which is not read", transcript.Origin{})
		}
		if p.Done() {
			return
		}
	}
}

// unreadable reports a zip, or a file in it, that cannot be read. Its layer may be what is broken: the place is the zip.
func (p *parser) unreadable(file string, err error) {
	if !layer.IsContent(err) {
		p.Fail(err)
		return
	}
	kind, reason := "bad zip", err.Error()
	if errors.Is(err, layer.ErrTooLarge) {
		kind = "too large"
	}
	if file != "" {
		reason = fmt.Sprintf("%.100q in it: %s", file, reason)
	}
	p.inner = ""
	p.problem(kind, reason, transcript.Origin{})
}

// member reads one document of a .eval.
func (p *parser) member(place string, b []byte) {
	v, err := jsontext.ParseNaN(b)
	switch {
	case err != nil:
		p.problem("bad json", err.Error(), transcript.Origin{Length: int64(len(b))})
	case place == placeSample:
		p.sample(v)
	default:
		for key, f := range v.Fields() {
			p.fact(key, f)
		}
	}
}

// document reads a .json, one sample at a time.
func (p *parser) document(r io.Reader) {
	cut := func(pr *transcript.Problem) {
		p.problem(pr.Kind, pr.Reason, pr.Origin)
		p.spent = true // by samples that are not there yet
	}
	for m, err := range jsontext.Members(r, "samples", cut) {
		if err != nil {
			p.Fail(err)
			return
		}
		p.base = 0
		switch {
		case m.Bytes == nil:
			p.problem("element too long", fmt.Sprintf("%d bytes, more than %d", m.Origin.Length, jsontext.MaxLine), m.Origin)
		case m.Item, isFact(m.Key):
			v, err := jsontext.ParseNaN(m.Bytes)
			p.base = m.Origin.Offset
			switch {
			case err != nil:
				p.base = 0
				p.problem("bad json", err.Error(), m.Origin)
			case m.Item:
				p.sample(v)
			default:
				p.fact(m.Key, v)
			}
		}
		if p.Done() {
			return
		}
	}
}

func isFact(key string) bool {
	return key == "status" || key == "eval" || key == "results" || key == "stats" || key == "error"
}

// fact reads one member of the log's header.
func (p *parser) fact(key string, v jsontext.Value) {
	run := &p.eval.run
	switch key {
	case "status":
		run.Status, run.Outcome = v.Word(), outcomeOf(v.Word())
	case "eval":
		p.spec(v)
	case "error":
		run.Error = v.Get("message").Str()
		p.failure(v)
	case "stats":
		run.Started, run.Ended = cmp.Or(v.Get("started_at").Time(), run.Started), v.Get("completed_at").Time()
		for model, u := range v.Get("model_usage").Fields() {
			if u := p.tokens(u, p.eval.id, model, run.Ended, "stats/"+p.eval.id+"/"+model); u != nil {
				u.Attributes.Set("total", true)
				p.hold(u)
			}
		}
	case "results":
		p.metrics(v)
	}
}

// failure keeps the error that ended the evaluation.
func (p *parser) failure(v jsontext.Value) {
	if text := jsontext.Build(func(b []byte) []byte { return appendText(b, v) }); text != "" {
		p.eval.failure = &transcript.Event{
			Verdict: transcript.Uncounted, Kind: transcript.KindError, Role: "system", Type: "error", Origin: p.origin(v), Parts: []transcript.Part{{Text: text}},
		}
	}
}

func (p *parser) hold(r transcript.Record) {
	switch {
	case len(p.held) < maxHeld:
		p.held = append(p.held, r)
	case !p.overflow:
		p.overflow = true
		p.problem("too many results", fmt.Sprintf("more than %d sums and metrics", maxHeld), transcript.Origin{})
	}
}

func outcomeOf(status string) transcript.Outcome {
	switch status {
	case "started":
		return transcript.Running
	case "success":
		return transcript.Succeeded
	case "cancelled":
		return transcript.Cancelled
	case "error":
		return transcript.Failed
	case "":
		return ""
	}
	return transcript.Other
}

// spec reads what was asked for: task, model and the ids.
func (p *parser) spec(v jsontext.Value) {
	e := &p.eval
	e.id = idIn(v.Get("eval_id"))
	if run := idIn(v.Get("run_id")); e.id == "" && run != "" {
		e.id = run + "/" + idIn(v.Get("task_id"))
	}
	e.solver, e.dataset = v.Get("solver").Str(), v.Get("dataset", "name").Str()
	run := &e.run
	run.ID, run.Group, run.Project, run.Title, run.Agent = e.id, e.id, v.Get("task").Str(), v.Get("task").Str(), e.solver
	_, run.Model = modelOf(v.Get("model").Str())
	run.Version, run.Started = v.Get("packages", "inspect_ai").Str(), v.Get("created").Time()
	run.Attributes = nil
	for _, key := range []string{"run_id", "eval_set_id", "task_id", "task_file"} {
		run.Attributes.Set(key, v.Get(key).Str())
	}
	run.Attributes.Set("dataset", e.dataset)
	run.Attributes.Set("commit", v.Get("revision", "commit").Str())
}

// metrics holds the receipts of the results.
func (p *parser) metrics(v jsontext.Value) {
	for score := range v.Get("scores").Items() {
		p.metricsOf(score.Get("name").Str(), score.Get("reducer").Str(), score.Get("metrics"))
	}
	p.metricsOf(v.Get("scorer", "name").Str(), "", v.Get("metrics")) // 2024
}

func (p *parser) metricsOf(name, reducer string, metrics jsontext.Value) {
	if len(name)+len(reducer) > maxID {
		return
	}
	for metric, m := range metrics.Fields() {
		r := &transcript.Receipt{Run: p.eval.id, Key: "metric/" + name + "/" + reducer + "/" + metric, Kind: "metric", Step: name, Origin: p.origin(m)}
		r.Attributes.Set("metric", metric)
		if f, ok := m.Get("value").Float(); ok {
			r.Attributes.Set("value", f)
		}
		p.hold(r)
	}
}

// finish yields the evaluation. Without samples it is a run itself, and what it spent counts.
func (p *parser) finish() {
	p.inner = ""
	if p.Done() || p.eval.id == "" {
		p.Settle("")
		return
	}
	p.eval.run.Named = p.samples > 0
	p.Emit(&p.eval.run)
	for _, r := range p.held {
		switch r := r.(type) {
		case *transcript.Usage:
			r.Run, r.Conversation = p.eval.id, ""
			if p.spent {
				r.Verdict = transcript.DerivedTotal
			}
		case *transcript.Receipt:
			r.Run = p.eval.id
		}
		if !p.Emit(r) {
			return
		}
	}
	if e := p.eval.failure; e != nil {
		e.Run = p.eval.id
		p.Emit(e)
	}
	p.Settle(p.eval.id)
}
