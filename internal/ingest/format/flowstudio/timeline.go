package flowstudio

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// maxHints bounds the number of hints that a hostile timeline can produce.
const maxHints = 10_000

// timeline reads events.jsonl: one uncounted row per line (tool and message kinds repeat the content of transcripts, cut),
// the steps as the orchestrator saw them, and the agent of each step id as hints.
func (p *parser) timeline() {
	started := false
	hinted := map[string]bool{}
	var ended transcript.Time
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		v := o.Value
		at := v.Get("ts").Time()
		kind := v.Get("kind").Str()
		if !started && at.Valid {
			started = true
			p.Emit(p.created(v, at))
		}
		if kind == "run_completed" && at.Valid {
			ended = at
		}
		row := p.uncounted(timelineKind(kind), kind, o.Origin, rowText(roleTimeline, v))
		row.Time, row.Seq = at, v.Get("seq").Count()
		row.Flow, row.Step, row.Agent = v.Get("flow_key").Str(), v.Get("step_id").Str(), v.Get("agent_key").Str()
		row.Role = v.Get("payload", "role").Str()
		p.Emit(row)
		p.timelineStep(row, v.Get("payload"))
		hint := row.Flow + "\t" + row.Step + "\t" + row.Agent
		if row.Step != "" && row.Agent != "" && !hinted[hint] && len(hinted) < maxHints {
			hinted[hint] = true
			p.Hint(row.Run, pairHint, hint, o.Origin)
		}
	}
	r := p.run(1, "2", transcript.Time{})
	r.Ended = ended
	p.Emit(r)
}

// created returns what the first line that has a time says about the run.
func (p *parser) created(v jsontext.Value, at transcript.Time) *transcript.Run {
	r := p.run(1, "2", at)
	r.Started = at
	r.Attributes = transcript.Attributes{}
	if v.Get("kind").Str() == "run_created" {
		setSpec(r, v.Get("payload"))
	}
	return r
}

func timelineKind(kind string) transcript.Kind {
	switch {
	case kind == "tool_start":
		return transcript.KindToolCall
	case kind == "tool_end":
		return transcript.KindToolResult
	case strings.HasSuffix(kind, "_message"):
		return transcript.KindMessage
	case kind == "log":
		return transcript.KindNotice
	case kind == "error", strings.HasSuffix(kind, "_error"), strings.HasSuffix(kind, "_failed"):
		return transcript.KindError
	}
	return transcript.KindLifecycle
}

// timelineStep yields the step that a line starts, ends or times.
func (p *parser) timelineStep(row *transcript.Event, payload jsontext.Value) {
	switch row.Type {
	case "step_start", "step_end", "step_timing", "step_error", "step_failed":
	default:
		return
	}
	if row.Step == "" {
		return
	}
	iteration := payload.Get("iteration").Count()
	s := &transcript.Step{
		Run: row.Run, Key: stepKey(row.Flow, row.Step, iteration.N), Name: row.Step, Kind: "step",
		Path: row.Flow + "/" + row.Step, Flow: row.Flow, Iteration: iteration,
		Status: payload.Get("status").Str(), Error: payload.Get("error").Text(),
		Started: payload.Get("started_at").Time(), Duration: millis(payload.Get("duration_ms")),
		Rank: 1, Origin: row.Origin,
	}
	s.Outcome = outcome(s.Status)
	if s.Outcome == "" && (s.Error != "" || timelineKind(row.Type) == transcript.KindError) {
		s.Outcome = transcript.Failed
	}
	if n := scalar(payload.Get("step_index")); n != nil {
		s.Attributes = transcript.Attributes{"step_index": n}
	}
	if row.Type == "step_start" {
		if !s.Started.Valid {
			s.Started = row.Time
		}
	} else {
		s.Ended = row.Time
	}
	p.Emit(s)
	if row.Agent != "" {
		// Older versions name the agent; then the line describes its execution, too.
		x := *s
		x.Key, x.Parent, x.Kind, x.Agent = executionKey(row.Flow, row.Step, row.Agent), s.Key, "execution", row.Agent
		x.Path += "/" + row.Agent
		p.Emit(&x)
	}
}

// stepKey returns the identity of one iteration of a step in its run.
func stepKey(flow, step string, iteration int64) string {
	if iteration > 1 {
		return flow + "/" + step + "#" + strconv.FormatInt(iteration, 10)
	}
	return flow + "/" + step
}

// executionKey returns the identity of an agent's execution under a step id.
func executionKey(flow, step, agent string) string { return flow + "/" + step + "/" + agent }
