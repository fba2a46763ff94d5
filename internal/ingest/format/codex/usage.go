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
	if grown, ok = t.less(before); !ok {
		return t, false
	}
	return grown, true
}

// less takes tokens away, and says that none has become negative.
func (t tokens) less(other tokens) (tokens, bool) {
	t.input -= other.input
	t.cached -= other.cached
	t.written -= other.written
	t.output -= other.output
	t.reasoning -= other.reasoning
	for _, n := range t.counts() {
		if n < 0 {
			return t, false
		}
	}
	return t, true
}

// meter follows the counters of a thread along its file.
type meter struct {
	total  tokens
	last   tokens // of the last line without totals
	seen   bool   // a total
	alone  int    // requests that no total states
	resets int

	records  []record        // that no token_count has stood for yet
	told     map[string]bool // keys of all records
	unpaired *[5]int64       // request of the last token_count, which no record stands beside
}

// record is what a token_usage_record says of one response, and under which key.
type record struct {
	tokens
	key string
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
	spent, beside := p.meter.settle(spent)
	u := p.usage(e, spent)
	u.Key, u.Alias = p.conversation+":"+key, beside
	p.Emit(u)
	return true
}

// record yields the request that a token_usage_record tells of. Versions from 0.153 on write one for each response and
// a token_count after it: then that counts, and speaks for the record.
func (p *parser) record(e *transcript.Event, v format.Value) {
	spent, ok := readTokens(v.Get("usage"))
	if !ok || spent.counts() == [5]int64{} {
		return
	}
	p.begin(&e.Origin)
	r := record{tokens: spent}
	id := v.Get("response_id").Str()
	if r.key = "response:" + id; id == "" {
		r.key = p.conversation + ":@" + strconv.FormatInt(e.Origin.Offset, 10)
	}
	if !p.meter.takes(r) {
		return
	}
	u := p.usage(e, spent)
	u.Key, u.RequestID = r.key, id
	p.Emit(u)
}

// takes says whether a record is a request that neither a record nor a token_count has told of.
func (m *meter) takes(r record) bool {
	if m.told[r.key] {
		return false
	}
	if m.told == nil {
		m.told = map[string]bool{}
	}
	m.told[r.key] = true
	if before := m.unpaired; before != nil && *before == r.counts() {
		m.unpaired = nil
		return false
	}
	m.unpaired = nil
	m.records = append(m.records, r)
	return true
}

// settle gives the key of the record that a token_count stands for, the last one before it. Where the totals have grown by
// earlier ones as well, those stay requests of their own.
func (m *meter) settle(spent tokens) (tokens, string) {
	records := m.records
	if m.records = m.records[:0]; len(records) == 0 {
		counts := spent.counts()
		m.unpaired = &counts
		return spent, ""
	}
	m.unpaired = nil
	last := records[len(records)-1]
	rest := spent
	for _, r := range records[:len(records)-1] {
		rest, _ = rest.less(r.tokens)
	}
	if _, ok := rest.less(last.tokens); ok {
		spent = rest
	}
	return spent, last.key
}

func (p *parser) usage(e *transcript.Event, spent tokens) *transcript.Usage {
	u := &transcript.Usage{
		Run: p.thread, Conversation: p.conversation, Time: e.Time, Origin: e.Origin,
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
	if p.tier == "fast" { // what priority is called in settings
		u.Speed = p.tier
	} else {
		u.Tier = p.tier
	}
	if p.effort != "" {
		u.Attributes = transcript.Attributes{"effort": p.effort}
	}
	return u
}
