package codex

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tokens are the counters of a token_count. Input includes what came from the cache and what went into it, output
// includes reasoning.
type tokens struct {
	input, cached, written, output, reasoning int64
	tellsWritten, tellsReasoning              bool
}

func readTokens(v format.Value) (t tokens, ok bool) {
	for key, m := range v.Fields() {
		switch key {
		case "input_tokens":
			t.input, _ = m.Int()
		case "cached_input_tokens":
			t.cached, _ = m.Int()
		case "cache_write_input_tokens":
			t.written, t.tellsWritten = m.Int()
		case "output_tokens":
			t.output, _ = m.Int()
		case "reasoning_output_tokens":
			t.reasoning, t.tellsReasoning = m.Int()
		}
	}
	return t, v.IsObject()
}

func (t tokens) counts() [5]int64 {
	return [5]int64{t.input, t.cached, t.written, t.output, t.reasoning}
}

// since gives the growth of a total, false when any counter went down.
func (t tokens) since(before tokens) (grown tokens, ok bool) {
	grown = t
	grown.input -= before.input
	grown.cached -= before.cached
	grown.written -= before.written
	grown.output -= before.output
	grown.reasoning -= before.reasoning
	for _, n := range grown.counts() {
		if n < 0 {
			return t, false
		}
	}
	return grown, true
}

// meter follows the counters of a thread along its file.
type meter struct {
	total  tokens
	last   tokens // of the last line without totals
	seen   bool   // a total
	alone  int    // requests that no total states
	resets int
}

// request gives what one token_count says was spent since the one before, and a key that is the same wherever the
// same history stands. ok is false when that is nothing.
func (m *meter) request(info format.Value) (spent tokens, key string, ok bool) {
	var totalValue, lastValue format.Value
	for name, v := range info.Fields() {
		switch name {
		case "total_token_usage":
			totalValue = v
		case "last_token_usage":
			lastValue = v
		}
	}
	total, hasTotal := readTokens(totalValue)
	last, hasLast := readTokens(lastValue)
	switch {
	case !hasTotal && !hasLast:
		return tokens{}, "", false
	case !hasTotal:
		if m.alone > 0 && last == m.last {
			return tokens{}, "", false
		}
		m.last = last
		m.alone++
		return last, "#" + strconv.Itoa(m.alone), last.counts() != [5]int64{}
	}
	grown, rising := total.since(m.total)
	if !m.seen || !rising {
		if m.seen {
			m.resets++
		}
		if grown = total; hasLast {
			grown = last
		}
	}
	m.total, m.seen = total, true
	b := strconv.AppendInt(make([]byte, 0, 64), int64(m.resets), 10)
	for _, n := range total.counts() {
		b = strconv.AppendInt(append(b, '/'), n, 10)
	}
	key = string(b)
	return grown, key, grown.counts() != [5]int64{}
}

// tokens yields the request that a token_count tells of, and says whether it does.
func (p *parser) tokens(e *transcript.Event, info format.Value) bool {
	spent, key, ok := p.meter.request(info)
	if !ok {
		return false
	}
	p.begin(&e.Origin)
	u := &transcript.Usage{
		Run: p.thread, Conversation: p.thread, Key: p.thread + ":" + key, Time: e.Time, Origin: e.Origin,
		Model: p.model, Provider: p.head.provider,
		Input:     transcript.Known(max(spent.input-spent.cached-spent.written, 0)),
		CacheRead: transcript.Known(spent.cached), Output: transcript.Known(spent.output), Requests: transcript.Known(1),
	}
	if spent.tellsWritten {
		u.CacheWrite = transcript.Known(spent.written)
	}
	if spent.tellsReasoning {
		u.Reasoning = transcript.Known(spent.reasoning)
	}
	if p.effort != "" {
		u.Attributes = transcript.Attributes{"effort": p.effort}
	}
	p.emit(u)
	return true
}
