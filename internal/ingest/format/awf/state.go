package awf

import (
	"cmp"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parseState reads an execution state: one document per run, replaced after every step.
func parseState(in format.Input, out *format.Sink) {
	doc, at := out.Document(in.Reader, func(p *transcript.Problem) { out.Emit(p) })
	if !doc.Exists() {
		return
	}
	// The file is named after its run, so the name stands in for a missing WorkflowID.
	run := cmp.Or(doc.Get("WorkflowID").Text(), strings.TrimSuffix(path.Base(in.Path), ".json"))
	s := &state{at: at.Offset, doc: doc, run: run, flow: doc.Get("WorkflowName").Str(), out: out}
	s.updateRank = timestamp.RankAt(doc.Get("UpdatedAt").Time())
	s.emitAll()
}

type state struct {
	at         int64 // where doc begins in the file
	doc        jsontext.Value
	run, flow  string
	updateRank int // orders the states of one run, since copies of the storage may hold older ones
	out        *format.Sink
}

func (s *state) origin(v jsontext.Value) transcript.Origin {
	return transcript.Origin{Offset: s.at + jsontext.OffsetIn(s.doc, v), Length: int64(v.Len())}
}

func (s *state) emitAll() {
	s.emitRun()
	for key, value := range s.doc.Fields() {
		switch key {
		case "Inputs":
			s.emitUncounted(value, transcript.KindNotice, "", key, "", s.doc.Get("StartedAt").Time())
		case "States":
			for name, step := range value.Fields() {
				s.emitStep(name, step)
			}
		}
		if s.out.Done() {
			return
		}
	}
}

func (s *state) emitRun() {
	doc := s.doc
	status := doc.Get("Status").Str()
	run := &transcript.Run{
		ID: s.run, Rank: rankState + s.updateRank, Group: s.flow, Flow: s.flow,
		Status: status, Outcome: outcome(status),
		Started: doc.Get("StartedAt").Time(), Ended: doc.Get("CompletedAt").Time(),
		Attributes: transcript.Attributes{},
	}
	if run.Outcome == transcript.Failed {
		run.Error = lastError(doc)
	}
	setCount(run.Attributes, "exit_code", doc.Get("ExitCode"))
	run.Attributes.Set("current_step", doc.Get("CurrentStep").Str())
	run.Attributes.Set("updated_at", doc.Get("UpdatedAt").Str())
	s.out.Emit(run)
	if parent := doc.Get("ParentRunID").Str(); parent != "" {
		l := parentLink(parent, s.run)
		l.Origin, l.Time = s.origin(doc.Get("ParentRunID")), run.Started
		s.out.Emit(l)
		if parent != s.run {
			s.out.Emit(&transcript.Run{ID: parent, Named: true})
		}
	}
}

// lastError returns the error of the step that failed last, since a state has no error of the run itself.
func lastError(doc jsontext.Value) string {
	text, last := "", int64(-1)
	for _, step := range doc.Get("States").Fields() {
		e := step.Get("Error").Str()
		if e == "" || outcome(step.Get("Status").Str()) != transcript.Failed {
			continue
		}
		at := max(step.Get("CompletedAt").Time().UnixMicro, step.Get("StartedAt").Time().UnixMicro, 0)
		if at >= last {
			text, last = e, at
		}
	}
	return text
}

// emitStep yields the last execution of a step: its row, its usage and its texts.
func (s *state) emitStep(key string, v jsontext.Value) {
	if !v.IsObject() {
		return
	}
	name := cmp.Or(v.Get("Name").Str(), key)
	status := v.Get("Status").Str()
	step := &transcript.Step{
		Run: s.run, Key: "state/" + key, Name: name, Flow: s.flow,
		Attempt: v.Get("Attempt").Count(), Status: status, Outcome: outcome(status), Error: v.Get("Error").Str(),
		Started: v.Get("StartedAt").Time(), Ended: v.Get("CompletedAt").Time(),
		Rank: rankStateStep + s.updateRank, Origin: s.origin(v), Attributes: transcript.Attributes{"source": "state"},
	}
	setCount(step.Attributes, "exit_code", v.Get("ExitCode"))
	step.Attributes.Set("session_id", v.Get("Conversation", "SessionID").Str())
	step.Attributes.Set("output_path", v.Get("OutputPath").Str())
	step.Attributes.Set("stderr_path", v.Get("StderrPath").Str())
	if v.Get("Truncated").Bool() == transcript.Yes {
		step.Attributes.Set("truncated", true)
	}
	if used := s.usage(step, v); used != nil {
		setCount(step.Attributes, "tokens_used", v.Get("TokensUsed"))
		setCount(step.Attributes, "tokens_input", v.Get("TokensInput"))
		setCount(step.Attributes, "tokens_output", v.Get("TokensOutput"))
		s.out.Emit(step)
		s.out.Emit(used)
	} else {
		s.out.Emit(step)
	}
	s.emitTexts(name, v)
}

// usage returns the tokens of a step as stored, or nil if it used none. A plain agent step has all its tokens, input and
// cache included, in TokensOutput; only conversation steps split them.
func (s *state) usage(step *transcript.Step, v jsontext.Value) *transcript.Usage {
	used, input, output := v.Get("TokensUsed").Count(), v.Get("TokensInput").Count(), v.Get("TokensOutput").Count()
	if used.N == 0 && input.N == 0 && output.N == 0 {
		return nil
	}
	u := &transcript.Usage{
		Run: s.run, Key: s.run + "/" + strings.TrimPrefix(step.Key, "state/") + "/" + v.Get("StartedAt").Text(),
		Rank: int64(s.updateRank), Time: step.Ended, Origin: step.Origin, Input: input, Output: output,
		Estimated: v.Get("TokensEstimated").Bool() == transcript.Yes,
		Flow:      s.flow, Step: step.Name, Status: step.Status, Outcome: step.Outcome,
		Attributes: transcript.Attributes{},
	}
	if !u.Time.Valid {
		u.Time = step.Started
	}
	u.Attributes.Set("session_id", v.Get("Conversation", "SessionID").Str())
	setCount(u.Attributes, "tokens_used", v.Get("TokensUsed"))
	setCount(u.Attributes, "attempt", v.Get("Attempt"))
	if input.N == 0 && output == used {
		u.Attributes["tokens_undivided"] = true
	}
	return u
}

// emitTexts yields what a step read and wrote as uncounted rows, in document order.
func (s *state) emitTexts(step string, v jsontext.Value) {
	at := v.Get("CompletedAt").Time()
	if !at.Valid {
		at = v.Get("StartedAt").Time()
	}
	for key, value := range v.Fields() {
		switch key {
		case "Output", "Stderr":
			s.emitUncounted(value, transcript.KindNotice, "", key, step, at)
		case "Error":
			s.emitUncounted(value, transcript.KindError, "", key, step, at)
		case "Conversation":
			for turn := range value.Get("Turns").Items() {
				s.emitUncounted(turn.Get("Content"), transcript.KindMessage, turn.Get("Role").Str(), "Turn", step, at)
			}
		}
	}
}

// emitUncounted yields one value as a row that is searchable but not counted.
func (s *state) emitUncounted(v jsontext.Value, kind transcript.Kind, role, native, step string, at transcript.Time) {
	text := jsontext.AllScalars(v)
	if text == "" {
		return
	}
	s.out.Emit(&transcript.Event{
		Run: s.run, Verdict: transcript.Uncounted, Kind: kind, Role: role, Type: native, Time: at,
		Origin: s.origin(v), Parts: []transcript.Part{{Text: text}}, Flow: s.flow, Step: step,
	})
}
