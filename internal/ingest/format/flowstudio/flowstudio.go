// Package flowstudio reads the run directories of Flow Studio: swarm/runs/<run_id> and swarm/examples/<name>, with
// transcripts (five line shapes, by engine mode), step and prompt receipts, run metadata, the events.jsonl timeline, and
// the files that the agents produced.
//
// Producer: Flow Studio; checked in November 2026 against the code that writes these files and a sample that the program
// wrote itself. docs/formats/flow-studio.md describes the layout and its traps. Decided where sources disagree:
//
//   - The orchestrator mislabels transcripts, and ids may contain hyphens, so a file name is the weakest evidence of a
//     transcript's step and agent. Receipts come first, then the timeline; only Resolve sees all files.
//   - In cli mode a receipt states a default model, and Gemini's just "gemini": the transcript's model wins.
//   - run_state.json says how far the orchestrator got, not how the run ended: its status is not the run's.
//
// A run is a run directory, a conversation one file of llm/, an event one line of it. Counted tokens come from step
// receipts alone, counted cost from total_cost_usd of result lines alone; any other usage that a file states is listed with
// its verdict. Everything else (timeline, receipts, handoffs, products) becomes uncounted rows, which are searchable.
package flowstudio

import (
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return flowStudio{} }

type flowStudio struct{}

var _ format.UsageResolver = flowStudio{}

// Name returns "flow-studio".
func (flowStudio) Name() string { return "flow-studio" }

// Version counts changes of what Parse yields.
func (flowStudio) Version() int { return 8 }

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
	roleLines      = "product-lines"  // the same, with one document per line
	roleLeftover   = "leftover"       // left by an interrupted write; at the top of a run it may be the only file
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

// Text returns the text of one part of an event.
func (flowStudio) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleProduct, roleLines:
		return looseText(raw), nil
	}
	v, err := jsontext.Parse(jsontext.TrimBOM(raw))
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

// parser parses one file.
type parser struct {
	in    format.Input
	place place
	format.Sink
}

// problem yields a problem of the file's run.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Run = p.place.run
	p.Emit(pr)
}

// run returns a Run record with the identity fields set. at is a time at which the run existed according to this file.
// order ranks that evidence for the anchor: "1" the run's own record, "2" its timeline, "3" a file of one step.
func (p *parser) run(rank int, order string, at transcript.Time) *transcript.Run {
	r := &transcript.Run{ID: p.place.run, Local: p.place.local, Rank: rank, Named: p.place.excluded}
	if r.Local && at.Valid {
		r.Anchor = order + " " + stamp(at)
	}
	return r
}

// uncounted returns an uncounted row that belongs to the run.
func (p *parser) uncounted(kind transcript.Kind, typ string, at transcript.Origin, text string) *transcript.Event {
	return &transcript.Event{
		Run: p.place.run, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Origin: at,
		Flow: p.place.flow, Parts: []transcript.Part{{Text: text}},
	}
}
