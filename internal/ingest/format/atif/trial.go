package atif

import (
	"cmp"
	"errors"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// trialFile reads config.json or result.json of a trial.
func (p *parser) trialFile() {
	v, at := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.Problem(p.trial, pr) })
	p.doc, p.at = v, at
	if name := v.Get("trial_name").Str(); name != "" && len(name) <= maxID {
		p.trial = name
	}
	switch {
	case !v.Exists():
		p.Settle(p.trial)
		return
	case p.trial == "":
		p.Emit(&transcript.Problem{Kind: "no trial", Reason: "the document names no trial", Origin: at})
		return
	}
	config, named := v.Get("config"), p.trial
	if p.in.Role == roleConfig {
		config = v
	}
	if !trialName.MatchString(named) { // given by a user, who may give it again
		named += "@" + short(cmp.Or(v.Get("id").Str(), config.Get("job_id").Str()))
	}
	r := &transcript.Run{
		ID: named, Rank: rankConfig, Named: true, Agent: config.Get("agent", "name").Str(), Model: config.Get("agent", "model_name").Str(),
	}
	if dir := config.Get("trials_dir").Str(); dir != "" {
		r.Group = path.Base(strings.ReplaceAll(dir, `\`, "/"))
	}
	if p.in.Role == roleResult {
		p.trialResult(r, v)
		return
	}
	p.Emit(r)
}

// trialResult yields what Harbor says of a trial when it is over.
func (p *parser) trialResult(r *transcript.Run, v jsontext.Value) {
	info, failure := v.Get("agent_info"), v.Get("exception_info")
	r.Rank, r.Named = rankResult, false
	r.Title, r.Flow = format.Title(v.Get("task_name").Str()), v.Get("source").Str()
	r.Agent, r.Version = cmp.Or(info.Get("name").Str(), r.Agent), info.Get("version").Str()
	r.Model = cmp.Or(info.Get("model_info", "name").Str(), r.Model)
	r.Started, r.Ended = v.Get("started_at").Time(), v.Get("finished_at").Time()
	r.Status, r.Error = failure.Get("exception_type").Str(), failure.Get("exception_message").Str()
	r.Outcome = outcomeOf(v)
	rewards(&r.Attributes, v.Get("verifier_result"))
	p.Emit(r)
	receipt := &transcript.Receipt{
		Run: r.ID, Key: short(cmp.Or(v.Get("id").Str(), "trial")), Kind: "trial", Flow: r.Flow, Agent: r.Agent, Provider: info.Get("model_info", "provider").Str(),
		Model: r.Model, Status: r.Status, Outcome: r.Outcome, Error: r.Error, Started: r.Started, Ended: r.Ended, Origin: p.at,
	}
	rewards(&receipt.Attributes, v.Get("verifier_result"))
	receipt.Attributes.Set("task", v.Get("task_name").Str())
	receipt.Attributes.Set("task_checksum", v.Get("task_checksum").Str())
	p.Emit(receipt)
	p.trialUsage(v, receipt, "")
	for _, phase := range []string{"environment_setup", "agent_setup", "agent_execution", "verifier"} {
		if t := v.Get(phase); t.IsObject() {
			p.Emit(&transcript.Step{
				Run: r.ID, Key: phase, Name: phase, Kind: "phase", Started: t.Get("started_at").Time(), Ended: t.Get("finished_at").Time(), Origin: p.origin(t),
			})
		}
	}
	for s := range v.Get("step_results").Items() {
		p.trialStep(v, s, receipt)
	}
	e := transcript.Event{Run: r.ID, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: "result", Time: r.Ended, Origin: p.at}
	if r.Status != "" {
		e.Kind = transcript.KindError
	}
	e.Parts = []transcript.Part{{Text: jsontext.Build(func(b []byte) []byte { return appendResult(b, v) })}}
	p.Emit(&e)
}

// trialStep yields one step of a trial that has several.
func (p *parser) trialStep(v, s jsontext.Value, receipt *transcript.Receipt) {
	name := s.Get("step_name").Str()
	if name == "" || len(name) > maxID {
		return
	}
	failure := s.Get("exception_info")
	step := &transcript.Step{
		Run: receipt.Run, Key: "step " + name, Name: name, Kind: "step", Agent: receipt.Agent, Status: failure.Get("exception_type").Str(),
		Error: failure.Get("exception_message").Str(), Outcome: outcomeOf(s), Started: s.Get("started_at").Time(), Ended: s.Get("finished_at").Time(), Origin: p.origin(s),
	}
	rewards(&step.Attributes, s.Get("verifier_result"))
	p.Emit(step)
	if !v.Get("agent_result").IsObject() {
		p.trialUsage(s, receipt, name)
	}
}

// trialUsage yields the sums of a trial or of one of its steps.
func (p *parser) trialUsage(v jsontext.Value, receipt *transcript.Receipt, step string) {
	m := v.Get("agent_result")
	u := tokens(m, "n_input_tokens", "n_output_tokens", "n_cache_tokens", "cost_usd")
	if u == nil || isZero(u) {
		return
	}
	u.Run, u.Key, u.Receipt, u.Step = receipt.Run, "trial "+receipt.Run+"/"+receipt.Key+"/"+step, receipt.Key, step
	u.Time, u.Model, u.Provider, u.Agent, u.Origin = receipt.Ended, receipt.Model, receipt.Provider, receipt.Agent, p.origin(m)
	u.Attributes.Set("of", ofTrial)
	if native[receipt.Agent] || !trialName.MatchString(receipt.Run) { // trajectories of such a trial are other runs
		u.Attributes.Set("of", ofOther)
		u.Verdict = transcript.DerivedTotal
	}
	p.Emit(u)
}

// outcomeOf returns how a trial ended: as its verifier says, else as an exception does.
func outcomeOf(v jsontext.Value) transcript.Outcome {
	reward, ok := rewardOf(v.Get("verifier_result", "rewards"))
	failure := v.Get("exception_info", "exception_type")
	switch {
	case ok && reward >= 1:
		return transcript.Succeeded
	case ok && reward > 0:
		return transcript.Other
	case ok:
		return transcript.Failed
	case failure.Is("CancelledError"):
		return transcript.Cancelled
	case failure.IsString():
		return transcript.Failed
	case v.Get("started_at").IsString() && v.Get("finished_at").IsNull():
		return transcript.Running
	}
	return ""
}

// rewardOf returns the reward of that name, or the only one.
func rewardOf(all jsontext.Value) (reward float64, ok bool) {
	if reward, ok = all.Get("reward").Float(); ok {
		return reward, true
	}
	n := 0
	for _, v := range all.Fields() {
		n++
		reward, ok = v.Float()
	}
	return reward, ok && n == 1
}

func rewards(a *transcript.Attributes, verifier jsontext.Value) {
	for name, v := range verifier.Get("rewards").Fields() {
		if name != "reward" {
			name = "reward." + short(name)
		}
		if n, ok := v.Int(); ok {
			a.Set(name, n)
		} else if f, ok := v.Float(); ok {
			a.Set(name, f)
		}
	}
}

// maxPrinted is the longest text, in bytes, that is searched.
const maxPrinted = 4 << 20

// printed reads a text of a trial, as one uncounted row.
func (p *parser) printed() {
	p.Emit(&transcript.Run{ID: p.trial, Named: true})
	raw, err := format.ReadAll(p.in.Reader, maxPrinted)
	switch {
	case errors.Is(err, layer.ErrTooLarge):
		return
	case err != nil:
		p.Fail(err)
		return
	}
	if text := format.LooseText(raw); text != "" {
		p.Emit(&transcript.Event{
			Run: p.trial, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: path.Base(p.in.Path), Step: p.step,
			Origin: transcript.Origin{Length: int64(len(raw))}, Parts: []transcript.Part{{Text: text}},
		})
	}
}
