package flowstudio

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// receipt reads one file of receipts/.
func (p *parser) receipt() {
	// A prompt receipt is not a step receipt, and nothing is counted from it, so a broken one is not a problem.
	v, at, ok := p.document(p.in.Role == rolePrompt)
	if !ok {
		p.Emit(p.run(0, "3", transcript.Time{}))
		return
	}
	if p.in.Role == rolePrompt || !v.Get("prompt_hash").IsNull() && v.Get("tokens").IsNull() {
		p.promptReceipt(v, at)
		return
	}
	p.stepReceipt(v, at)
}

// promptReceipt yields the hashes of a compiled prompt.
func (p *parser) promptReceipt(v jsontext.Value, at transcript.Origin) {
	step := v.Get("step_id").Str()
	if step == "" {
		step = strings.TrimPrefix(strings.TrimSuffix(p.place.name, ".json"), "prompt_receipt_")
	}
	when := v.Get("compiled_at").Time()
	p.Emit(p.run(0, "3", when))
	r := &transcript.Receipt{
		Run: p.place.run, Key: p.place.flow + "/prompt/" + step, Kind: "prompt",
		Flow: p.place.flow, Step: step, Started: when, Ended: when, Origin: at, Attributes: transcript.Attributes{},
	}
	flatten(r.Attributes, "", v, "step_id", "compiled_at")
	p.Emit(r)
	row := p.uncounted(transcript.KindLifecycle, "prompt_receipt", at, rowText(p.in.Role, v))
	row.Step, row.Time = step, when
	p.Emit(row)
}

// receiptFields are the members that have a field or a row of their own, so they do not become attributes.
var receiptFields = []string{
	"engine", "mode", "provider", "model", "step_id", "flow_key", "agent_key", "started_at", "completed_at",
	"duration_ms", "status", "error", "tool_calls", "telemetry",
}

// receiptKey returns the identity of a receipt in its run. A receipt rewritten for its routing is the same one; a retry
// that overwrites the file starts at another time and is another. dir is the directory of the flow.
func receiptKey(dir, step, agent, started string) string {
	return dir + receiptSuffix(step, agent) + started
}

func receiptSuffix(step, agent string) string { return "/" + step + "/" + agent + "@" }

// stepReceipt yields a step receipt with its usage, its steps and its text.
func (p *parser) stepReceipt(v jsontext.Value, at transcript.Origin) {
	r := &transcript.Receipt{
		Run: p.place.run, Kind: "step",
		Flow: v.Get("flow_key").Str(), Step: v.Get("step_id").Str(), Agent: v.Get("agent_key").Str(),
		Engine: v.Get("engine").Str(), Provider: v.Get("provider").Str(), Model: v.Get("model").Str(),
		Mode: v.Get("mode").Str(), Status: v.Get("status").Str(), Error: v.Get("error").Text(),
		Started: v.Get("started_at").Time(), Ended: v.Get("completed_at").Time(),
		Duration: millis(v.Get("duration_ms")), ToolCalls: v.Get("tool_calls").Count(),
		Origin: at, Attributes: transcript.Attributes{},
	}
	r.Outcome = outcome(r.Status)
	if r.Flow == "" {
		r.Flow = p.place.flow
	}
	if r.Step == "" && r.Agent == "" {
		r.Step, r.Agent, _ = strings.Cut(strings.TrimSuffix(p.place.name, ".json"), "-")
	}
	r.Stub = r.Mode == "stub" || strings.Contains(r.Engine, "stub") || strings.HasSuffix(r.Model, "-stub")
	r.Key = receiptKey(p.place.flow, r.Step, r.Agent, stamp(r.Started))
	if p.place.name != r.Step+"-"+r.Agent+".json" {
		r.Key += "/" + p.place.name // another receipt of the same step and agent is not a rewrite of the first
	}
	if file := baseName(v.Get("transcript_path").Str()); file != "" {
		r.Transcript, r.Conversation = file, p.place.conversation(file)
	}
	without := receiptFields
	if v.Get("run_id").Str() == p.place.run {
		without = append(without[:len(without):len(without)], "run_id")
	}
	flatten(r.Attributes, "", v, without...)

	run := p.run(2, "3", r.Started)
	run.Stub, run.Asked = r.Stub, !r.Stub && v.Get("tokens", "prompt").Count().N+v.Get("tokens", "completion").Count().N > 0
	p.Emit(run)
	p.Emit(r)
	p.receiptUsage(v, r)
	p.receiptSteps(r)
	row := p.uncounted(transcript.KindLifecycle, "receipt", at, rowText(p.in.Role, v))
	if r.Error != "" {
		row.Kind = transcript.KindError
	}
	row.Flow, row.Step, row.Agent, row.Model, row.Time = r.Flow, r.Step, r.Agent, r.Model, r.Ended
	p.Emit(row)
}

// receiptUsage yields the tokens of the step, which count, and those of the session mode's other phases, which cost extra
// and are in no total.
func (p *parser) receiptUsage(v jsontext.Value, r *transcript.Receipt) {
	base := transcript.Usage{
		Run: r.Run, Conversation: r.Conversation, Time: r.Ended, Origin: r.Origin,
		Provider: r.Provider, Model: r.Model, Agent: r.Agent, Engine: engineWord(r.Engine), Flow: r.Flow, Step: r.Step,
		Status: r.Status, Outcome: r.Outcome, Receipt: r.Key,
	}
	if !base.Time.Valid {
		base.Time = r.Started
	}
	if r.Stub {
		base.Attributes = transcript.Attributes{"stub": true}
	}
	key := r.Run + "/" + r.Key
	u := base
	u.Key = key
	u.Input, u.Output = v.Get("tokens", "prompt").Count(), v.Get("tokens", "completion").Count()
	if u.Input.Known || u.Output.Known {
		p.Emit(&u)
	}
	for phase, t := range v.Get("telemetry").Fields() {
		u := base
		u.Key, u.Verdict = key+"/"+phase, transcript.OutsideReceipt
		u.Input, u.Output = t.Get("prompt_tokens").Count(), t.Get("completion_tokens").Count()
		if phase == "work" || !u.Input.Known && !u.Output.Known {
			continue
		}
		if m := t.Get("model").Str(); m != "" {
			u.Model = m
		}
		if end := t.Get("end_time").Time(); end.Valid {
			u.Time = end
		}
		u.Attributes = transcript.Attributes{"phase": phase}
		p.Emit(&u)
	}
}

// receiptSteps yields the step as the orchestrator numbers it and, below it, its execution by an agent. Timeline events
// know the former, receipts the latter, and one step may have several executions.
func (p *parser) receiptSteps(r *transcript.Receipt) {
	parent := stepKey(r.Flow, r.Step, 1)
	p.Emit(&transcript.Step{
		Run: r.Run, Key: parent, Name: r.Step, Kind: "step", Flow: r.Flow, Path: r.Flow + "/" + r.Step, Origin: r.Origin,
	})
	p.Emit(&transcript.Step{
		Run: r.Run, Conversation: r.Conversation, Key: executionKey(r.Flow, r.Step, r.Agent), Parent: parent,
		Name: r.Step, Kind: "execution", Path: r.Flow + "/" + r.Step + "/" + r.Agent,
		Flow: r.Flow, Agent: r.Agent, Engine: engineWord(r.Engine), Model: r.Model,
		Iteration: iterationOf(r), Status: r.Status, Outcome: r.Outcome, Error: r.Error,
		Started: r.Started, Ended: r.Ended, Duration: r.Duration, Rank: 2, Origin: r.Origin,
	})
}

func iterationOf(r *transcript.Receipt) transcript.Count {
	if n, ok := r.Attributes["routing.loop_iteration"].(int64); ok {
		return transcript.Known(n)
	}
	return transcript.Count{}
}
