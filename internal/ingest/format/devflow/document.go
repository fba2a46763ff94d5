package devflow

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// read gives a whole document and the JSON object in it. When it is none, it says so, and that there is a run of
// this name all the same: of what kind is for its other documents to say.
func (p *parser) read(r io.Reader) (b []byte, doc format.Value, ok bool) {
	b, err := format.ReadAll(r, format.DocumentLimit)
	if err != nil && !format.IsContent(err) {
		p.Fail(err)
		return nil, doc, false
	}
	problem := &transcript.Problem{}
	if p.broken = err != nil; p.broken {
		problem.Kind, problem.Reason = contentKind(err), err.Error()
		problem.Origin.Inner = memberLayer(p.inner)
	} else {
		doc, err = format.ParseJSON(format.TrimBOM(b))
		var bad *format.SyntaxError
		problem.Origin = transcript.Origin{Inner: p.inner, Length: int64(len(b))}
		switch {
		case errors.As(err, &bad):
			problem.Kind, problem.Reason = "bad json", bad.Error()
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

// contentKind names what is wrong with a layer.
func contentKind(err error) string {
	var c *format.ContentError
	if errors.As(err, &c) {
		return "bad " + c.Layer
	}
	return "too large"
}

// runID is the run's id as the document states it, else its directory's name.
func (p *parser) runID(doc, meta format.Value) string {
	return cmp.Or(doc.Get("runId").Str(), meta.Get("runId").Str(), p.dir)
}

// tornID is the run's id where a document that is none still states it whole: its directory may have been renamed.
func (p *parser) tornID(b []byte) string {
	v := format.ParseStart(format.TrimBOM(b))
	for _, id := range []format.Value{v.Get("runId"), v.Get("metadata", "runId")} {
		if _, err := format.ParseJSON(id.Raw()); err == nil && id.Str() != "" {
			return id.Str()
		}
	}
	return p.dir
}

// noRun reports a document that belongs to no run that one could name.
func (p *parser) noRun(b []byte) {
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
	id := p.runID(doc, format.Value{})
	if id == "" {
		p.noRun(b)
		return
	}
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

// run is what metadata say of a run.
func (p *parser) run(id string, meta format.Value, rank int) *transcript.Run {
	status := meta.Get("status").Str()
	run := &transcript.Run{
		ID: id, Rank: rank, Flow: meta.Get("flowId").Str(), Status: status, Outcome: outcome(status),
		Error: meta.Get("error").Text(), Started: meta.Get("startedAt").Time(),
		Ended: meta.Get("endedAt").Time(), Attributes: transcript.Attributes{},
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

// metadataRows makes what a run was given, and why it failed, searchable: the ticket stands there.
func (p *parser) metadataRows(b []byte, run string, meta format.Value) []*transcript.Event {
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

// totals yields the usage that counts: one a run, whichever of its documents tells it best. A run that is still
// running has zeros there, which state nothing; and a cost of zero means that no caller set one.
func (p *parser) totals(b []byte, meta format.Value, run *transcript.Run) {
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
