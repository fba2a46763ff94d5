// Package sweagent reads the trajectories of SWE-agent (<instance>.traj) and of mini-SWE-agent (<name>.traj.json).
//
// Producers: SWE-agent 0.2 to 1.1 and mini-SWE-agent 1.0 to 2.4, whose trajectory_format is "mini-swe-agent-1" and "-1.1"; checked in November
// 2026 against SWE-agent/SWE-agent (sweagent/agent/agents.py, models.py, types.py, several commits of 2024 and 2025, and the trajectories in
// its tests) and SWE-agent/mini-swe-agent (agents/default.py, agents/interactive.py, run/utils/save.py, run/benchmarks/swebench.py, models/*.py,
// docs/advanced/v2_migration.md, and trajectories beside them). Layout and counting: docs/formats/swe-agent.md.
//
// Identity: neither program gives an attempt an id, so a run is identified by a hash of how it began: the prompts and the first step or
// message, which is written with the first content of the file and never changes. Of SWE-agent's steps that includes the time that the command
// took, of mini's messages the time of the response. The attempts of a retry agent are conversations of one run.
//
// SWE-agent writes each step twice. Its history has the prompts, the demonstration and what the model was sent, and so it counts; its trajectory
// has what never came into the history: rejected answers (since 1.0), the output of the last command (before), output that was cut, reasoning.
// Those words are rows that do not count. The query of a step (messages before 1.1) repeats the history.
package sweagent

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"iter"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return sweagent{} }

type sweagent struct{}

var _ format.Placed = sweagent{}

// Name returns "swe-agent".
func (sweagent) Name() string { return "swe-agent" }

// Version counts changes of what Parse yields.
func (sweagent) Version() int { return 3 }

// The roles of the files.
const (
	roleFull = "trajectory" // of SWE-agent
	roleMini = "mini"       // of mini-SWE-agent
)

// Places returns the file in which mini keeps its last run. All other trajectories lie where the user has them written.
func (sweagent) Places() []format.Place {
	return format.Place{Name: "mini-swe-agent", Deletes: "the trajectory of each earlier run"}.At(
		"~/.config/mini-swe-agent/"+lastName, "~/Library/Application Support/mini-swe-agent/"+lastName,
		"~/AppData/Local/mini-swe-agent/mini-swe-agent/"+lastName, "$MSWEA_GLOBAL_CONFIG_DIR/"+lastName)
}

// Parse yields the records of one file.
func (sweagent) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, run: nameOf(in.Path), names: map[string]string{}}
		doc, at := p.Document(in.Reader, p.unread)
		if !doc.Exists() {
			return
		}
		p.start = at.Offset - doc.Offset()
		if in.Role == roleMini {
			p.mini(doc)
		} else {
			p.full(doc)
		}
	}
}

// Text returns the text of one part of an event.
func (sweagent) Text(role string, raw []byte, _ int) (string, error) {
	if len(raw) > 0 && raw[0] == '\\' { // no JSON value: a command within a string
		return commandText(raw), nil
	}
	return format.TextOf(role, raw, jsontext.Appended(appendText))
}

// unread reports a file that is no document: its run is not known, only what it is called.
func (p *parser) unread(pr *transcript.Problem) {
	p.Emit(&transcript.Run{ID: p.run, Local: true, Named: true})
	p.Problem(p.run, pr)
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in    format.Input
	lend  format.Lender
	start int64 // of the document in the file

	run, conversation string
	model             string // as configured
	at                transcript.Time
	open              string            // the call without an id whose result is the next message
	calls             int               // without an id so far
	names             map[string]string // of the tools of calls, by id
	answered          bool              // the model has said something
}

// attempt is what a document, or an element of attempts, states of one try at the task.
type attempt struct {
	value, history, trajectory, info jsontext.Value
	anchor                           string
}

// origin returns the place of a value.
func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return transcript.Origin{Offset: p.start + v.Offset(), Length: int64(v.Len())}
}

// event returns an event for a value. It is valid until the next one.
func (p *parser) event(v jsontext.Value, id string, kind transcript.Kind, role string) *transcript.Event {
	p.lend.Reset()
	e := p.lend.Event(transcript.Event{Conversation: p.conversation, Run: p.run, ID: id, Kind: kind, Role: role, Time: p.at, Origin: p.origin(v)})
	e.Parts[0] = p.lend.Part(v, v, appendText)
	return e
}

// row yields a value that does not count, unless it has no words.
func (p *parser) row(v jsontext.Value, id string, kind transcript.Kind) {
	if !v.Exists() {
		return
	}
	e := p.event(v, id, kind, "")
	if e.Verdict = transcript.Uncounted; e.Parts[0].Text != "" {
		p.Emit(e)
	}
}

// emptyRow is row for a message without words, which keeps its place in the conversation.
func (p *parser) emptyRow(v jsontext.Value, id string, kind transcript.Kind) {
	e := p.event(v, id, kind, "")
	e.Verdict = transcript.Uncounted
	p.Emit(e)
}

// nextCall returns an id for a call without one, whose result is the next message.
func (p *parser) nextCall() string {
	p.calls++
	p.open = "#" + strconv.Itoa(p.calls)
	return p.open
}

// anchor collects how a run began.
type anchor struct{ hash.Hash }

func newAnchor() anchor { return anchor{sha256.New()} }

// add adds the texts and numbers of values, which do not depend on how the document is written.
func (a anchor) add(values ...jsontext.Value) {
	for _, v := range values {
		a.Write([]byte(jsontext.AllScalars(v)))
		a.Write([]byte{0})
	}
}

func (a anchor) String() string { return hex.EncodeToString(a.Sum(nil)[:8]) }
