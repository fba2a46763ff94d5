// Package atif reads trajectories in the Agent Trajectory Interchange Format, and the trials of Harbor.
//
// The format is Harbor's RFC 0001, ATIF-v1.0 (October 2025) to v1.8 (audio). Harbor (laude-institute/harbor, later
// harbor-framework/harbor, which runs Terminal-Bench) and many other programs write it. It was read on 2026-11-30 in: the RFC at v1.4
// (OpenAgentsInc/openagents, docs/atif/0001-trajectory-format.md), its changes to v1.7 (pull request 1486) and, in copies of Harbor, the
// writers src/harbor/agents/terminus_2/terminus_2.py (JackGuan99/harbor) and src/harbor/agents/installed/claude_code.py
// (JinnanDuan/bitfun-harbor), and src/harbor/models/trial/{result,paths}.py (UniPat-AI/harbor_multiturn). All versions add optional members
// to the first, so they are read alike. docs/formats/atif.md says how they become records.
//
// A trajectory is a conversation, each of its steps some events. A trial of Harbor is a run, recognised by its directory: nothing in a
// trajectory names the trial. Any other trajectory belongs to the run of its session.
//
// Where sources disagree: prompt_tokens includes what was read from a cache (since v1.2 the RFC says so) and, in what Harbor converts, what
// was written to one (metrics.extra); if the sum of both is larger, it does not include the latter.
package atif

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return atif{} }

type atif struct{}

var _ format.UsageResolver = atif{}

// Name returns "atif".
func (atif) Name() string { return "atif" }

// Version counts changes of what Parse yields.
func (atif) Version() int { return 4 }

// The kinds of files.
const (
	roleTrajectory = "trajectory" // one document
	roleList       = "list"       // an array of them
	roleLines      = "lines"      // one on each line
	roleResult     = "result"     // what Harbor says of a trial when it is over
	roleConfig     = "config"     // what a trial was told to do
	roleVerifier   = "verifier"   // text that a trial or its verifier printed
)

// Parse yields the records of one file.
func (atif) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, place: placeOf(in.Path), seen: map[uint64]bool{}}
		switch in.Role {
		case roleResult, roleConfig:
			p.trialFile()
		case roleVerifier:
			p.printed()
		default:
			p.trajectories()
			p.Settle(p.trial)
		}
	}
}

// Text returns the text of one part of an event.
func (atif) Text(role string, raw []byte, _ int) (string, error) {
	switch role {
	case roleVerifier:
		return format.LooseText(raw), nil
	case roleResult:
		return format.TextOf("a result", raw, jsontext.Appended(appendResult))
	}
	return format.TextOf("a piece of a step", jsontext.WithoutNaN(raw), jsontext.Appended(appendPiece))
}

// parser parses one file.
type parser struct {
	format.Sink
	in format.Input
	place
	lend format.Lender

	at    transcript.Origin // of the document
	doc   jsontext.Value
	cut   bool            // the document is not valid to its end
	seen  map[uint64]bool // checksums of the ids of steps
	calls int             // calls without an id
}

// problem yields a problem. In a document it waits for the run; a list has several.
func (p *parser) problem(pr *transcript.Problem) {
	if pr.Run = p.trial; p.in.Role != roleTrajectory {
		p.Emit(pr)
		return
	}
	p.Problem(p.trial, pr)
}

func (p *parser) origin(v jsontext.Value) transcript.Origin { return jsontext.OriginIn(p.at, p.doc, v) }

// trajectories yields the records of all trajectories in a file.
func (p *parser) trajectories() {
	switch p.in.Role {
	case roleLines:
		p.each(jsontext.Objects(jsontext.ReaderWithoutNaN(p.in.Reader), "", p.problem))
	case roleList:
		p.each(jsontext.Elements(jsontext.ReaderWithoutNaN(p.in.Reader), p.problem))
	default:
		if p.document(); p.doc.Exists() {
			p.trajectory(nil, p.doc, "", false)
		}
	}
}

func (p *parser) each(objects iter.Seq2[jsontext.Object, error]) {
	for o := range p.Each(objects) {
		p.at, p.doc = o.Origin, o.Value
		p.trajectory(nil, o.Value, "", false)
	}
}

// document reads the file as one document. Of one that is cut off it reads what precedes that.
func (p *parser) document() {
	file, err := format.ReadAll(p.in.Reader, format.DocumentLimit)
	whole := transcript.Origin{Length: int64(len(file))}
	switch {
	case layer.IsContent(err):
		p.problem(&transcript.Problem{Kind: "too large", Reason: err.Error()})
		return
	case err != nil:
		p.Fail(err)
		return
	}
	body := jsontext.TrimBOM(file)
	p.doc, err = jsontext.ParseNaN(body)
	if err != nil {
		p.problem(&transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: whole})
		p.doc, p.cut = jsontext.ParseStart(body), true
	}
	if p.doc.Exists() {
		p.at = transcript.Origin{Offset: p.doc.OffsetIn(file), Length: int64(p.doc.Len())}
	}
}
