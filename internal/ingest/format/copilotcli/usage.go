package copilotcli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// spending is what a shutdown says of one model.
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
// each resume, later ones go on counting. What the messages between the two say of their output tells them apart; where they say
// nothing, that nothing has changed; else, and where they fit neither, whether the program keeps sums beside the messages, as
// those later versions do.
func (p *parser) goesOn(now map[string]spending) bool {
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

// shutdown yields the tokens that were spent since the shutdown before, or since the session began or was resumed, one row
// for each model.
func (p *parser) shutdown(l line) {
	p.shutdowns++
	id := l.id
	if id == "" {
		id = fmt.Sprintf("#%d", p.shutdowns)
	}
	metrics := l.data.Get("modelMetrics")
	now := map[string]spending{}
	var models []string
	for model := range metrics.Fields() {
		// The last one of a name, as everywhere.
		if s, ok := readSpending(metrics.Get(model)); ok && !slices.Contains(models, model) {
			models = append(models, model)
			now[model] = s
		}
	}
	if !p.closed[id] {
		p.close(l, id, models, now)
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
	p.say(transcript.Conversation{}, facts)
	p.spent = map[string]int64{}
}

// close yields what was spent up to a shutdown.
func (p *parser) close(l line, id string, models []string, now map[string]spending) {
	goesOn := p.goesOn(now)
	for _, model := range models {
		s := now[model]
		if before, ok := p.before[model]; ok && goesOn {
			if s = s.since(before); s == (spending{reasoning: s.reasoning, requests: s.requests}) {
				continue
			}
		}
		p.Emit(&transcript.Usage{
			Run: p.session, Conversation: p.session, Key: p.session + shutdownMark + id + ":" + model, Rank: int64(p.rank), Time: l.at, Origin: l.origin,
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
