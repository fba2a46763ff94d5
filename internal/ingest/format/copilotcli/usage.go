package copilotcli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// modelTotals are the totals of one model in a shutdown or checkpoint.
type modelTotals struct {
	input, output, read, write int64
	reasoning, requests        transcript.Count
}

func readTotals(metric jsontext.Value) (s modelTotals, ok bool) {
	u := metric.Get("usage")
	return modelTotals{
		tokenCount(u, "inputTokens"), tokenCount(u, "outputTokens"), tokenCount(u, "cacheReadTokens"), tokenCount(u, "cacheWriteTokens"),
		u.Get("reasoningTokens").Count(), metric.Get("requests", "count").Count(),
	}, u.IsObject()
}

func (s modelTotals) atLeast(other modelTotals) bool {
	return s.input >= other.input && s.output >= other.output && s.read >= other.read && s.write >= other.write
}

// minus subtracts the totals of an earlier shutdown or checkpoint.
func (s modelTotals) minus(other modelTotals) modelTotals {
	less := func(n, other transcript.Count) transcript.Count {
		if n.Known {
			n.N = max(n.N-other.N, 0)
		}
		return n
	}
	return modelTotals{
		s.input - other.input, s.output - other.output, s.read - other.read, s.write - other.write,
		less(s.reasoning, other.reasoning), less(s.requests, other.requests),
	}
}

// continues reports whether these totals include those before. Versions up to the spring of 2026 started again from 0 with
// each resume, later ones go on counting, and the newest state it (restored). Otherwise the output that messages stated between the two
// decides. If no message stated any, equal totals without a message in between are included. In all other cases, and if the output fits
// neither reading, the decision is whether this version writes checkpoints, as versions that go on counting do.
func (p *parser) continues(now map[string]modelTotals, restored bool) bool {
	var before, after int64
	for model, s := range p.lastTotals {
		if !now[model].atLeast(s) {
			return false
		}
		before += s.output
	}
	for _, s := range now {
		after += s.output
	}
	switch {
	case restored:
		return true
	case p.outputSince > 0:
		grown := after - before
		distance := abs(grown - p.outputSince)
		return distance < abs(after-p.outputSince) && (p.hasCheckpoints || 2*distance <= max(grown, p.outputSince))
	case len(p.lastTotals) == 0:
		return false
	case !p.messagesSince && maps.Equal(now, p.lastTotals):
		return true // no message since
	}
	return p.hasCheckpoints
}

func abs(n int64) int64 { return max(n, -n) }

// shutdown yields the tokens spent since the last totals, or since the session began or was resumed, one usage record per
// model.
func (p *parser) shutdown(l line) {
	p.emitTotals(l, shutdownMark)
	p.outputOf = map[string]int64{}
}

// checkpoint does the same for a session.usage_checkpoint: newer versions write their totals after each turn.
func (p *parser) checkpoint(l line) {
	p.hasCheckpoints = true
	p.emitTotals(l, checkpointMark)
}

func (p *parser) emitTotals(l line, mark string) {
	p.totalsSeen++
	id := l.id
	if id == "" {
		id = fmt.Sprintf("#%d", p.totalsSeen)
	}
	if models, now := metricsOf(l.data); mark == shutdownMark || len(models) > 0 {
		switch id = mark + id; {
		case p.in.Role == roleOutput:
			p.emitStates(l, models, now)
		case !p.emittedIDs[id]:
			p.emitGrowth(l, id, models, now)
		}
	}
	facts := transcript.Attributes{}
	for _, name := range []string{"totalNanoAiu", "totalPremiumRequests"} {
		if v := l.data.Get(name); v.Type() == '0' {
			if n, ok := v.Int(); ok {
				facts[factNames[name]] = n
			} else if f, ok := v.Float(); ok {
				facts[factNames[name]] = f
			}
		}
	}
	if len(facts) > 0 || mark == shutdownMark {
		p.emitSession(transcript.Conversation{}, facts)
	}
}

// metricsOf reads the totals of a line. If a model occurs twice, the last one counts.
func metricsOf(data jsontext.Value) (models []string, now map[string]modelTotals) {
	now = map[string]modelTotals{}
	metrics := data.Get("modelMetrics")
	if !metrics.Exists() {
		metrics = data.Get("accountingSnapshot", "modelMetrics")
	}
	for model := range metrics.Fields() {
		if s, ok := readTotals(metrics.Get(model)); ok && !slices.Contains(models, model) {
			models = append(models, model)
			now[model] = s
		}
	}
	return models, now
}

// emitGrowth yields the usage up to a shutdown or checkpoint.
func (p *parser) emitGrowth(l line, id string, models []string, now map[string]modelTotals) {
	continues := p.continues(now, l.data.Get("usageAccountingWatermarks").IsObject() || l.data.Get("accountingSnapshot").IsObject())
	for _, model := range models {
		s := now[model]
		if before, ok := p.lastTotals[model]; ok && continues {
			if s = s.minus(before); s == (modelTotals{reasoning: s.reasoning, requests: s.requests}) {
				continue
			}
		}
		key := id + ":" + model
		if !format.IsUUID(l.id) {
			key = p.session + key
		}
		p.Emit(p.total(l, key, model, int64(p.rank), s))
	}
	p.emittedIDs[id] = true
	if len(models) > 0 {
		p.lastTotals = now
	}
	p.outputSince, p.messagesSince = 0, false
}

// total returns the usage of a model that a shutdown or checkpoint states.
func (p *parser) total(l line, key, model string, rank int64, s modelTotals) *transcript.Usage {
	return &transcript.Usage{
		Run: p.session, Conversation: p.session, Key: key, Rank: rank, Time: l.at, Origin: l.origin,
		Model: model, Input: transcript.Known(max(s.input-s.read-s.write, 0)), Output: transcript.Known(s.output),
		CacheRead: transcript.Known(s.read), CacheWrite: transcript.Known(s.write), Reasoning: s.reasoning, Requests: s.requests,
	}
}

// usageRecord yields the usage of one request, as newer versions write it beside the answer. A line without a UUID is identified by what it
// states: requests of subagents name another source session, and each source has its own sequence numbers.
func (p *parser) usageRecord(l line) {
	v := l.data.Get("usage")
	u := requestOf(v, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")
	if u == nil {
		return
	}
	source := v.Get("accounting")
	id := source.Get("sourceSessionId").Text() + "#" + source.Get("sequence").Text() + "#" + cmp.Or(source.Get("usageId").Text(), v.Get("apiCallId").Text())
	switch {
	case format.IsUUID(l.id):
		id = l.id
	case id == "##":
		id = p.session + "#" + l.id
	}
	u.Run, u.Conversation, u.Key, u.Rank, u.Time, u.Origin = p.session, p.session, recordMark+id, int64(p.rank), l.at, l.origin
	u.Model, u.Agent, u.Status, u.RequestID = v.Get("model").Str(), l.agent, v.Get("finishReason").Str(), v.Get("apiCallId").Text()
	if n, ok := v.Get("copilotUsage", "totalNanoAiu").Int(); ok && n > 0 {
		u.Attributes = transcript.Attributes{"nano_aiu": n}
	}
	p.Emit(u)
}

var factNames = map[string]string{"totalNanoAiu": "nano_aiu", "totalPremiumRequests": "premium_requests"}

func tokenCount(v jsontext.Value, name string) int64 {
	n, _ := v.Get(name).Int()
	return max(n, 0)
}

// messageOutput yields the output tokens that a message states, uncounted: a shutdown includes them, and without a shutdown the prompt's
// tokens are unknown. The messages of one request repeat its count, so each record has only the growth.
func (p *parser) messageOutput(l line, request, model string, output jsontext.Value) {
	n, ok := output.Int()
	if !ok || n <= 0 {
		return
	}
	if request == "" {
		request = l.id
	}
	grown := n
	if request != "" {
		grown = n - p.outputOf[request]
		if grown <= 0 {
			return
		}
		p.outputOf[request] = n
	}
	p.outputSince += grown
	p.Emit(&transcript.Usage{
		Run: p.session, Conversation: p.session, Verdict: transcript.DerivedTotal, Time: l.at, Origin: l.origin, Model: model,
		RequestID: request, Output: transcript.Known(grown), Attributes: transcript.Attributes{"of": "assistant.message"},
	})
}
