package copilotcli

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// shutdown yields the tokens that were spent since the session began or was resumed, one row for each model.
func (p *parser) shutdown(l line) {
	p.shutdowns++
	id := l.id
	if id == "" {
		id = fmt.Sprintf("#%d", p.shutdowns)
	}
	metrics := l.data.Get("modelMetrics")
	for model := range metrics.Fields() {
		m := metrics.Get(model) // the last one of a name, as everywhere
		u := m.Get("usage")
		input, output := tokens(u, "inputTokens"), tokens(u, "outputTokens")
		read, write := tokens(u, "cacheReadTokens"), tokens(u, "cacheWriteTokens")
		if !u.IsObject() {
			continue
		}
		p.emit(&transcript.Usage{
			Run: p.session, Conversation: p.session, Key: p.session + ":shutdown:" + id + ":" + model, Time: l.at, Origin: l.origin,
			Model: model, Input: transcript.Known(max(input-read-write, 0)), Output: transcript.Known(output),
			CacheRead: transcript.Known(read), CacheWrite: transcript.Known(write),
			Reasoning: u.Get("reasoningTokens").Count(), Requests: m.Get("requests", "count").Count(),
		})
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
	p.emit(&transcript.Usage{
		Run: p.session, Conversation: p.session, Verdict: transcript.DerivedTotal, Time: l.at, Origin: l.origin, Model: model,
		RequestID: request, Output: transcript.Known(grown), Attributes: transcript.Attributes{"of": "assistant.message"},
	})
}
