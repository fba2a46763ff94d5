package copilotcli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// spending is what a shutdown, or a checkpoint, says of one model.
type spending struct {
	input, output, read, write int64
	reasoning, requests        transcript.Count
}

func readSpending(metric format.Value) (s spending, ok bool) {
	u := metric.Get("usage")
	return spending{
		tokens(u, "inputTokens"), tokens(u, "outputTokens"), tokens(u, "cacheReadTokens"), tokens(u, "cacheWriteTokens"),
		u.Get("reasoningTokens").Count(), metric.Get("requests", "count").Count(),
	}, u.IsObject()
}

func (s spending) atLeast(other spending) bool {
	return s.input >= other.input && s.output >= other.output && s.read >= other.read && s.write >= other.write
}

// since takes away what an earlier shutdown said.
func (s spending) since(other spending) spending {
	less := func(n, other transcript.Count) transcript.Count {
		if n.Known {
			n.N = max(n.N-other.N, 0)
		}
		return n
	}
	return spending{
		s.input - other.input, s.output - other.output, s.read - other.read, s.write - other.write,
		less(s.reasoning, other.reasoning), less(s.requests, other.requests),
	}
}

// goesOn says whether a shutdown repeats the sums of the one before it. Versions up to the spring of 2026 began anew with
// each resume, later ones go on counting, and the newest say so (restored). What the messages between the two say of their output
// tells the others apart; where they say nothing, that nothing has changed; else, and where they fit neither, whether the program
// keeps sums beside the messages, as those later versions do.
func (p *parser) goesOn(now map[string]spending, restored bool) bool {
	var before, after int64
	for model, s := range p.before {
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
	case p.said > 0:
		grown := after - before
		off := abs(grown - p.said)
		return off < abs(after-p.said) && (p.checkpoint || 2*off <= max(grown, p.said))
	case len(p.before) == 0:
		return false
	case !p.asks && maps.Equal(now, p.before):
		return true // nobody asked anything since
	}
	return p.checkpoint
}

func abs(n int64) int64 { return max(n, -n) }

// shutdown yields the tokens that were spent since the last sums, or since the session began or was resumed, one row for each
// model.
func (p *parser) shutdown(l line) {
	p.sums(l, shutdownMark)
	p.spent = map[string]int64{}
}

// saved yields the same of a checkpoint: newer versions write their sums after each turn.
func (p *parser) saved(l line) {
	p.checkpoint = true
	p.sums(l, checkpointMark)
}

func (p *parser) sums(l line, mark string) {
	p.summed++
	id := l.id
	if id == "" {
		id = fmt.Sprintf("#%d", p.summed)
	}
	if models, now := metricsOf(l.data); mark == shutdownMark || len(models) > 0 {
		if id = mark + id; !p.closed[id] {
			p.close(l, id, models, now)
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
		p.say(transcript.Conversation{}, facts)
	}
}

// metricsOf reads the sums of a line, of the last model of a name, as everywhere.
func metricsOf(data format.Value) (models []string, now map[string]spending) {
	now = map[string]spending{}
	metrics := data.Get("modelMetrics")
	if !metrics.Exists() {
		metrics = data.Get("accountingSnapshot", "modelMetrics")
	}
	for model := range metrics.Fields() {
		if s, ok := readSpending(metrics.Get(model)); ok && !slices.Contains(models, model) {
			models = append(models, model)
			now[model] = s
		}
	}
	return models, now
}

// close yields what was spent up to a shutdown or checkpoint.
func (p *parser) close(l line, id string, models []string, now map[string]spending) {
	goesOn := p.goesOn(now, l.data.Get("usageAccountingWatermarks").IsObject() || l.data.Get("accountingSnapshot").IsObject())
	for _, model := range models {
		s := now[model]
		if before, ok := p.before[model]; ok && goesOn {
			if s = s.since(before); s == (spending{reasoning: s.reasoning, requests: s.requests}) {
				continue
			}
		}
		p.Emit(&transcript.Usage{
			Run: p.session, Conversation: p.session, Key: p.session + id + ":" + model, Rank: int64(p.rank), Time: l.at, Origin: l.origin,
			Model: model, Input: transcript.Known(max(s.input-s.read-s.write, 0)), Output: transcript.Known(s.output),
			CacheRead: transcript.Known(s.read), CacheWrite: transcript.Known(s.write), Reasoning: s.reasoning, Requests: s.requests,
		})
	}
	p.closed[id] = true
	if len(models) > 0 {
		p.before = now
	}
	p.said, p.asks = 0, false
}

// record yields what one request took, as newer versions write it beside the answer. Those of subagents name another source, and
// each source numbers its own.
func (p *parser) record(l line) {
	v := l.data.Get("usage")
	u := requestOf(v, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")
	if u == nil {
		return
	}
	source := v.Get("accounting")
	id := source.Get("sourceSessionId").Text() + "#" + source.Get("sequence").Text() + "#" + cmp.Or(source.Get("usageId").Text(), v.Get("apiCallId").Text())
	if id == "##" {
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

func tokens(v format.Value, name string) int64 {
	n, _ := v.Get(name).Int()
	return max(n, 0)
}

// spend keeps what a message says of its own output. The pieces of one request say it again and again: each row has
// what the request has grown by. It counts nowhere, because a shutdown counts it, and without one prompts are unknown.
func (p *parser) spend(l line, request, model string, output format.Value) {
	n, ok := output.Int()
	if !ok || n <= 0 {
		return
	}
	if request == "" {
		request = l.id
	}
	grown := n
	if request != "" {
		grown = n - p.spent[request]
		if grown <= 0 {
			return
		}
		p.spent[request] = n
	}
	p.said += grown
	p.Emit(&transcript.Usage{
		Run: p.session, Conversation: p.session, Verdict: transcript.DerivedTotal, Time: l.at, Origin: l.origin, Model: model,
		RequestID: request, Output: transcript.Known(grown), Attributes: transcript.Attributes{"of": "assistant.message"},
	})
}
