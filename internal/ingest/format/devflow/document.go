package devflow

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// read returns a whole document and the JSON object in it. If it is none, read yields a problem, and the run all the same:
// what kind of run it is, its other documents say.
func (p *parser) read(r io.Reader) (b []byte, doc jsontext.Value, ok bool) {
	b, err := format.ReadAll(r, format.DocumentLimit)
	if err != nil && !layer.IsContent(err) {
		p.Fail(err)
		return nil, doc, false
	}
	problem := &transcript.Problem{}
	if p.broken = err != nil; p.broken {
		problem.Kind, problem.Reason = contentKind(err), err.Error()
		problem.Origin.Inner = memberLayer(p.inner)
	} else {
		doc, err = jsontext.Parse(jsontext.TrimBOM(b))
		problem.Origin = transcript.Origin{Inner: p.inner, Length: int64(len(b))}
		switch {
		case err != nil:
			problem.Kind, problem.Reason = "bad json", err.Error()
		case !doc.IsObject():
			problem.Kind, problem.Reason = "not an object", "a JSON value of another type"
		default:
			return b, doc, true
		}
	}
	problem.Run = p.tornID(b)
	if problem.Run == "" || p.Emit(&transcript.Run{ID: problem.Run}) {
		p.Emit(problem)
	}
	return nil, doc, false
}

// contentKind returns the problem kind for an error of a layer.
func contentKind(err error) string {
	if c, ok := errors.AsType[*layer.ContentError](err); ok {
		return "bad " + c.Layer
	}
	return "too large"
}

// runID returns the run's id as the document states it, else its directory's name.
func (p *parser) runID(doc, meta jsontext.Value) string {
	return cmp.Or(doc.Get("runId").Str(), meta.Get("runId").Str(), p.dir)
}

// tornID returns the run's id from a document that is not valid JSON but still contains the whole id: its directory may
// have been renamed. Else it returns the directory's name.
func (p *parser) tornID(b []byte) string {
	v := jsontext.ParseStart(jsontext.TrimBOM(b))
	for _, id := range []jsontext.Value{v.Get("runId"), v.Get("metadata", "runId")} {
		if _, err := jsontext.Parse(id.Raw()); err == nil && id.Str() != "" {
			return id.Str()
		}
	}
	return p.dir
}

// emitNoRun yields the problem of a document without a run id.
func (p *parser) emitNoRun(b []byte) {
	p.Emit(&transcript.Problem{
		Kind: "no run id", Reason: "neither a runId nor a directory of its own",
		Origin: transcript.Origin{Inner: p.inner, Length: int64(len(b))},
	})
}

// metadata parses a metadata.json.
func (p *parser) metadata(r io.Reader) {
	b, doc, ok := p.read(r)
	if !ok {
		return
	}
	id := p.runID(doc, jsontext.Value{})
	if id == "" {
		p.emitNoRun(b)
		return
	}
	p.ended = doc.Get("endedAt").Time()
	run := p.run(id, doc, p.metadataRank())
	if !p.Emit(run) {
		return
	}
	rows := p.metadataRows(b, id, doc)
	slices.SortStableFunc(rows, byOffset)
	for _, row := range rows {
		if !p.Emit(row) {
			return
		}
	}
	p.totals(b, doc, run)
}

func byOffset(a, b *transcript.Event) int { return cmp.Compare(a.Origin.Offset, b.Origin.Offset) }

// run returns the Run that metadata describe.
func (p *parser) run(id string, meta jsontext.Value, rank int) *transcript.Run {
	status := meta.Get("status").Str()
	run := &transcript.Run{
		ID: id, Rank: rank, Flow: meta.Get("flowId").Str(), Status: status, Outcome: outcome(status),
		Error: meta.Get("error").Text(), Started: meta.Get("startedAt").Time(),
		Ended: p.ended, Attributes: transcript.Attributes{},
	}
	run.Attributes.Set("node_id", meta.Get("nodeId").Str())
	if n := meta.Get("turnCount").Count(); n.Known {
		run.Attributes["turn_count"] = n.N
	}
	if p.archived {
		run.Attributes["archived"] = true
	}
	return run
}

func outcome(status string) transcript.Outcome {
	switch status {
	case "":
		return ""
	case "running":
		return transcript.Running
	case "completed":
		return transcript.Succeeded
	case "failed":
		return transcript.Failed
	case "canceled", "cancelled":
		return transcript.Cancelled
	}
	return transcript.Other
}

// metadataRows returns rows for the input and the error of a run, so that a ticket in the input is found.
func (p *parser) metadataRows(b []byte, run string, meta jsontext.Value) []*transcript.Event {
	var rows []*transcript.Event
	for _, m := range []struct {
		key  string
		kind transcript.Kind
	}{{"input", transcript.KindNotice}, {"error", transcript.KindError}} {
		v := meta.Get(m.key)
		if v.IsNull() {
			continue
		}
		text := partText(v.Raw(), 0)
		if text == "" {
			continue
		}
		rows = append(rows, &transcript.Event{
			Run: run, Verdict: transcript.Uncounted, Kind: m.kind, Type: m.key,
			Time: meta.Get("startedAt").Time(), Origin: p.origin(b, v), Parts: []transcript.Part{{Text: text}},
		})
	}
	return rows
}

// totals yields the usage that counts: one per run, from the document with the highest rank. A run that is still running
// has zeros there, which mean nothing; a cost of zero means that no caller set one.
func (p *parser) totals(b []byte, meta jsontext.Value, run *transcript.Run) {
	u := &transcript.Usage{
		Run: run.ID, Key: run.ID, Rank: int64(run.Rank), Time: run.Ended, Origin: p.origin(b, meta),
		Input: meta.Get("totalTokensIn").Count(), Output: meta.Get("totalTokensOut").Count(),
		Flow: run.Flow, Step: meta.Get("nodeId").Str(), Status: run.Status, Outcome: run.Outcome,
	}
	if cost := meta.Get("totalCost").NanoUSD(); cost.Known && cost.N != 0 {
		u.Cost, u.CostSource = cost, "totalCost"
	}
	if !u.Time.Valid {
		u.Time = run.Started
	}
	nothing := u.Input.N == 0 && u.Output.N == 0 && !u.Cost.Known
	if nothing && (run.Outcome == transcript.Running || !u.Input.Known && !u.Output.Known) {
		return
	}
	p.Emit(u)
}
