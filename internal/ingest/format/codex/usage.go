package codex

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tokens are the counters of a token_count. Input includes tokens read from and written to the cache, output includes
// reasoning.
type tokens struct {
	input, cached, written, output, reasoning int64
	hasWritten, hasReasoning                  bool
}

func readTokens(v jsontext.Value) (t tokens, ok bool) {
	for key, m := range v.Fields() {
		switch key {
		case "input_tokens":
			t.input, _ = m.Int()
		case "cached_input_tokens":
			t.cached, _ = m.Int()
		case "cache_write_input_tokens":
			t.written, t.hasWritten = m.Int()
		case "output_tokens":
			t.output, _ = m.Int()
		case "reasoning_output_tokens":
			t.reasoning, t.hasReasoning = m.Int()
		}
	}
	return t, v.IsObject()
}

func (t tokens) counts() [5]int64 {
	return [5]int64{t.input, t.cached, t.written, t.output, t.reasoning}
}

// since returns the growth of a total, false if any counter went down.
func (t tokens) since(before tokens) (grown tokens, ok bool) {
	if grown, ok = t.sub(before); !ok {
		return t, false
	}
	return grown, true
}

// sub returns t - other, and whether no counter became negative.
func (t tokens) sub(other tokens) (tokens, bool) {
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

// meter tracks the counters of a thread along its file. Mostly there is one; some threads have two by turns, of which each goes on from its own total.
type meter struct {
	latest       map[string]tokens   // total of each counter, by the limit (rate_limits.limit_id) with which it was first written
	counter      map[[5]int64]string // by all totals so far
	now          string              // counter of the line before
	last         tokens              // last_token_usage of the line before
	hasLast      bool                // that line stated one
	apart        bool                // a total was not its last_token_usage
	inherits     bool                // the first total may be that of another file, which this one continues
	withoutTotal int                 // number of requests without a total
	resets       int

	records  []record        // not yet covered by a token_count
	seenKeys map[string]bool // keys of all records
	unpaired *[5]int64       // counters of the last token_count, if no record preceded it
}

// record is the usage of one response in a token_usage_record, and its key.
type record struct {
	tokens
	key string
}

// request returns what was spent between the previous token_count and this one, and a key that is the same in every copy of
// the history. ok is false if nothing was spent.
func (m *meter) request(info jsontext.Value, limit string) (used tokens, key string, ok bool) {
	var totalValue, lastValue jsontext.Value
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
	if !hasTotal && !hasLast {
		return tokens{}, "", false
	}
	repeated := m.hasLast && hasLast && last == m.last
	m.last, m.hasLast = last, hasLast
	if !hasTotal {
		if repeated {
			return tokens{}, "", false
		}
		m.withoutTotal++
		return last, "#" + strconv.Itoa(m.withoutTotal), last.counts() != [5]int64{}
	}
	if m.inherits && m.counter == nil && !m.isRecorded(last) {
		m.note(total, limit)
		return tokens{}, "", false
	}
	grown := m.growth(total, last, hasLast, cmp.Or(limit, m.now))
	m.apart = m.apart || hasLast && last.counts() != total.counts()
	b := strconv.AppendInt(make([]byte, 0, 64), int64(m.resets), 10)
	for _, n := range total.counts() {
		b = strconv.AppendInt(append(b, '/'), n, 10)
	}
	key = string(b)
	return grown, key, grown.counts() != [5]int64{}
}

// growth returns what was spent between a total and the one before it of the same counter.
func (m *meter) growth(total, last tokens, hasLast bool, limit string) tokens {
	if from, ok := total.sub(last); ok && hasLast {
		if counter, known := m.counter[total.counts()]; known { // written again
			m.now = counter
			return tokens{}
		}
		if counter, known := m.counter[from.counts()]; known {
			m.note(total, counter)
			return last
		}
	}
	before, seen := m.latest[limit]
	m.note(total, limit)
	grown, rising := total.since(before)
	switch {
	case seen && rising && !(hasLast && m.beganAnew(grown, total, last)):
		return grown
	case seen:
		m.resets++
	}
	if hasLast {
		return last
	}
	return total
}

func (m *meter) note(total tokens, counter string) {
	if m.counter == nil {
		m.latest, m.counter = map[string]tokens{}, map[[5]int64]string{}
	}
	m.latest[counter], m.counter[total.counts()], m.now = total, counter, counter
}

// isRecorded reports whether the last record has these counters. Versions whose files can continue another one write a record for each
// response, so a total without one is not that of a request in this file.
func (m *meter) isRecorded(last tokens) bool {
	return len(m.records) > 0 && m.records[len(m.records)-1].counts() == last.counts()
}

// beganAnew reports whether a total that has grown began again at 0, as in some versions when a thread is resumed: it is no more than the
// request itself, which may be larger than all before. If the two have been the same on every line so far, only a growth that is impossible
// shows it, or the record of the request.
func (m *meter) beganAnew(grown, total, last tokens) bool {
	if total.counts() != last.counts() || grown.counts() == total.counts() || grown.counts() == [5]int64{} {
		return false
	}
	return m.apart || m.isRecorded(last) || grown.cached+grown.written > grown.input || grown.reasoning > grown.output
}

// tokens yields the request that a token_count reports, and returns whether it reports one.
func (p *parser) tokens(e *transcript.Event, v jsontext.Value) bool {
	used, key, ok := p.meter.request(v.Get("info"), v.Get("rate_limits", "limit_id").Word())
	if !ok {
		return false
	}
	p.begin(&e.Origin)
	used, alias := p.meter.matchRecord(used)
	u := p.usage(e, used)
	u.Key, u.Alias = p.conversation+":"+key, alias
	u.Rank = -(used.input + used.output) // a file that was written anew may lack lines before this one: there the total has grown by their tokens, too
	p.Emit(u)
	return true
}

// record yields the request that a token_usage_record reports. Versions from 0.153 on write one for each response and then
// a token_count: that one counts, and stands for the record.
func (p *parser) record(e *transcript.Event, v jsontext.Value) {
	used, ok := readTokens(v.Get("usage"))
	if !ok || used.counts() == [5]int64{} {
		return
	}
	p.begin(&e.Origin)
	r := record{tokens: used}
	id := v.Get("response_id").Str()
	if r.key = "response:" + id; id == "" {
		r.key = p.conversation + ":@" + strconv.FormatInt(e.Origin.Offset, 10)
	}
	if !p.meter.isNew(r) {
		return
	}
	u := p.usage(e, used)
	u.Key, u.RequestID = r.key, id
	p.Emit(u)
}

// isNew reports whether a record is a request that neither a record nor a token_count has reported.
func (m *meter) isNew(r record) bool {
	if m.seenKeys[r.key] {
		return false
	}
	if m.seenKeys == nil {
		m.seenKeys = map[string]bool{}
	}
	m.seenKeys[r.key] = true
	if before := m.unpaired; before != nil && *before == r.counts() {
		m.unpaired = nil
		return false
	}
	m.unpaired = nil
	m.records = append(m.records, r)
	return true
}

// matchRecord returns the key of the record that a token_count stands for, which is the last one before it. If earlier
// records also contributed to the totals, those remain requests of their own.
func (m *meter) matchRecord(used tokens) (tokens, string) {
	records := m.records
	if m.records = m.records[:0]; len(records) == 0 {
		m.unpaired = new(used.counts())
		return used, ""
	}
	m.unpaired = nil
	last := records[len(records)-1]
	rest, ok := used.sub(last.tokens)
	if !ok {
		return used, last.key
	}
	for _, r := range slices.Backward(records[:len(records)-1]) {
		if less, ok := rest.sub(r.tokens); ok { // else its process was killed before it wrote totals
			rest = less
			used, _ = used.sub(r.tokens)
		}
	}
	return used, last.key
}

func (p *parser) usage(e *transcript.Event, used tokens) *transcript.Usage {
	u := &transcript.Usage{
		Run: p.thread, Conversation: p.conversation, Time: e.Time, Origin: e.Origin,
		Model: p.model, Provider: p.head.provider,
		Input:     transcript.Known(max(used.input-used.cached-used.written, 0)),
		CacheRead: transcript.Known(used.cached), Output: transcript.Known(used.output), Requests: transcript.Known(1),
	}
	if used.hasWritten {
		u.CacheWrite = transcript.Known(used.written)
	}
	if used.hasReasoning {
		u.Reasoning = transcript.Known(used.reasoning)
	}
	if p.tier == "fast" { // the settings' name of the priority tier
		u.Speed = p.tier
	} else {
		u.Tier = p.tier
	}
	if p.effort != "" {
		u.Attributes = transcript.Attributes{"effort": p.effort}
	}
	return u
}
