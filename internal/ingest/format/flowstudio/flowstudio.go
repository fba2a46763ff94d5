// Package flowstudio reads the run directories of Flow Studio: swarm/runs/<run_id> and swarm/examples/<name>
// with transcripts (five line shapes, by engine mode), step and prompt receipts, run metadata, the events.jsonl
// timeline and what the agents left behind. Layout and traps are described in docs/formats/flow-studio.md;
// checked against the program's writers in November 2026.
//
// What it promises: a run is a run directory, a conversation one llm file, an event one line of it. Tokens that
// count come from step receipts alone, cost from total_cost_usd of result lines alone; whatever else states
// usage is listed with its verdict. Everything beside transcripts (timeline, receipts, hand-overs, products) is
// searchable as uncounted rows. Which step and agent wrote a transcript is only known across files: Resolve.
package flowstudio

import (
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return flowStudio{} }

type flowStudio struct{}

var _ format.UsageResolver = flowStudio{}

// Name returns "flow-studio".
func (flowStudio) Name() string { return "flow-studio" }

// Version counts changes of what Parse yields.
func (flowStudio) Version() int { return 5 }

// The roles of the files of a run.
const (
	roleTranscript = "transcript"     // <flow>/llm/*.jsonl
	roleReceipt    = "receipt"        // <flow>/receipts/*.json
	rolePrompt     = "prompt-receipt" // <flow>/receipts/prompt_receipt_*.json
	roleTimeline   = "timeline"       // events.jsonl
	roleMeta       = "meta"           // meta.json
	roleLegacy     = "legacy-meta"    // run.json
	roleState      = "state"          // run_state.json
	roleSpec       = "spec"           // spec.json
	roleProduct    = "product"        // text that agents or the program left in the run
	roleLines      = "product-lines"  // the same, one document a line
	roleLeftover   = "leftover"       // of a write that was interrupted: at the top of a run it is all that some runs have
)

// Parse yields the records of one file of a run.
func (flowStudio) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, place: placeOf(in.Path, in.Root)}
		switch in.Role {
		case roleTranscript:
			p.transcript()
		case roleReceipt, rolePrompt:
			p.receipt()
		case roleTimeline:
			p.timeline()
		case roleMeta, roleLegacy, roleState, roleSpec:
			p.metadata()
		case roleProduct:
			p.product()
		case roleLines:
			p.productLines()
		case roleLeftover:
			p.Emit(p.run(0, "3", transcript.Time{}))
		}
	}
}

// Text gives the text of one part of an event.
func (flowStudio) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleProduct, roleLines:
		return looseText(raw), nil
	}
	v, err := format.ParseJSON(format.TrimBOM(raw))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", role, err)
	}
	switch {
	case role != roleTranscript:
		return rowText(role, v), nil
	case part > 0 && !isLine(v):
		return blockText(v), nil
	}
	e := readEntry(v)
	if part < 0 || part >= len(e.parts) {
		return "", fmt.Errorf("read %s: no part %d", role, part)
	}
	return e.parts[part].Text, nil
}

// parser is one parse of one file.
type parser struct {
	in    format.Input
	place place
	format.Sink
}

// problem reports what could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Run = p.place.run
	p.Emit(pr)
}

// run begins what this file says of its run. at is when the run was there by this file's evidence, weighed by
// order: "1" the run's own record, "2" its timeline, "3" a file of one step.
func (p *parser) run(rank int, order string, at transcript.Time) *transcript.Run {
	r := &transcript.Run{ID: p.place.run, Local: p.place.local, Rank: rank, Named: p.place.aside}
	if r.Local && at.Valid {
		r.Anchor = order + " " + stamp(at)
	}
	return r
}

// aside makes an uncounted row that belongs to the run.
func (p *parser) aside(kind transcript.Kind, typ string, at transcript.Origin, text string) *transcript.Event {
	return &transcript.Event{
		Run: p.place.run, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Origin: at,
		Flow: p.place.flow, Parts: []transcript.Part{{Text: text}},
	}
}
