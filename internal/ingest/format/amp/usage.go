package amp

import (
	"math"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// ledger is what the program wrote down of each request, in threads up to January 2026.
type ledger struct {
	entries     []entry
	answers     map[*message]int // the entry that has the cache of an answer
	tools       map[string]bool  // calls that an entry tells the requests of
	first, last int64            // numbers of answers that entries name
	any         bool             // an entry names no answer, and may mean any
}

// entry is one request, or all that a tool made.
type entry struct {
	v      format.Value
	answer *message // that the request gave
}

// read reads the ledger, and gives the answers that it names the times that it states.
func (l *ledger) read(p *parser) {
	l.tools, l.answers, l.first, l.last = map[string]bool{}, map[*message]int{}, math.MaxInt64, -1
	own := map[int64]*message{}
	for i := range p.messages {
		if m := &p.messages[i]; !m.copied && m.v.Get("role").Is("assistant") && number(m.v) >= 0 {
			own[number(m.v)] = m
		}
	}
	for v := range p.doc.Get("usageLedger", "events").Items() {
		if v.IsObject() {
			l.enter(v, own)
		}
	}
	for m, i := range l.answers {
		if !m.at.Valid {
			m.at = l.entries[i].v.Get("timestamp").Time()
		}
	}
}

// enter takes an entry. Of several that name an answer its own request has the cache.
func (l *ledger) enter(v format.Value, own map[int64]*message) {
	n, ok := v.Get("toMessageId").Int()
	e, m := entry{v: v}, own[n]
	if tool := v.Get("toolUseID").Str(); tool != "" {
		l.tools[tool] = true
	}
	if isAnswer(v) && ok {
		l.first, l.last = min(l.first, n), max(l.last, n)
	}
	l.any = l.any || isAnswer(v) && !ok
	if before, taken := l.answers[m]; ok && m != nil && (!taken || isAnswer(v) && !isAnswer(l.entries[before].v)) {
		if taken {
			l.entries[before].answer = nil
		}
		l.answers[m], e.answer = len(l.entries), m
	}
	l.entries = append(l.entries, e)
}

// isAnswer reports whether an entry is the request of an answer, not of a tool or a title.
func isAnswer(v format.Value) bool {
	typ := v.Get("operationType")
	return typ.Is("inference") || !typ.Exists()
}

// tells reports whether the ledger tells the request of a message: it names it, or others on both sides of it.
func (l *ledger) tells(m *message) bool {
	_, named := l.answers[m]
	return named || l.any || l.first <= number(m.v) && number(m.v) <= l.last
}

// spendings yields the usage: of the ledger, of the messages that it does not tell of, and of the requests of tools.
func (p *parser) spendings() {
	created, _ := p.doc.Get("created").Int()
	now := format.UnixMilli(created)
	for i := range p.messages {
		m := &p.messages[i]
		if m.at.Valid {
			now = m.at
		}
		if usage := m.v.Get("usage"); usage.IsObject() && m.v.Get("role").Is("assistant") && (m.copied || !p.ledger.tells(m)) {
			p.spend(m, p.spent(usage, m.v.Get("model").Str(), now, "message "+m.key))
		}
		for b := range m.v.Get("content").Items() {
			p.ofTool(m, b, now)
		}
	}
	for i, e := range p.ledger.entries {
		p.entry(i, e)
	}
}

// entry yields what one entry of the ledger tells. Tokens of the cache stand with its answer alone.
func (p *parser) entry(i int, e entry) {
	v, key := e.v, "event "+e.v.Get("id").Str()
	if key == "event " {
		key += p.id + " " + strconv.Itoa(i)
	}
	if sub := v.Get("subagentThreadID").Str(); sub != "" {
		key = "thread " + sub // its own file tells it request by request
	}
	u := &transcript.Usage{Key: key, Model: v.Get("model").Str(), Time: v.Get("timestamp").Time(), Origin: p.origin(v)}
	u.Input, u.Output = count(v.Get("tokens", "input")), count(v.Get("tokens", "output"))
	if u.Attributes = credits(v); !u.Input.Known && !u.Output.Known && u.Attributes == nil {
		return
	}
	if e.answer != nil {
		u.Alias = "message " + e.answer.key
		cache := e.answer.v.Get("usage")
		u.CacheRead, u.CacheWrite = count(cache.Get("cacheReadInputTokens")), count(cache.Get("cacheCreationInputTokens"))
	}
	if typ := v.Get("operationType").Str(); typ != "" && typ != "inference" {
		u.Attributes.Set("operation", typ)
	}
	p.spend(nil, u)
}

// ofTool yields the requests that a tool has made, where no entry of the ledger tells them.
func (p *parser) ofTool(m *message, b format.Value, now transcript.Time) {
	call, debug := callOf(b), b.Get("run", "~debug")
	if call == "" || p.ledger.tools[call] || !debug.IsObject() {
		return
	}
	var sum *transcript.Usage // of a subagent with a thread of its own
	n := 0
	for inference := range debug.Get("inferences").Items() {
		u := p.spent(inference.Get("usage"), "", now, "tool "+call+"/"+strconv.Itoa(n))
		if n++; u == nil {
			continue
		}
		u.Attributes.Set("tool_use_id", call)
		if m.copied {
			u.Verdict = transcript.CopiedHistory
		}
		sub := debug.Get("threadID").Str()
		switch {
		case sub == "":
			p.spend(m, u)
		case sum == nil:
			sum = u
			sum.Key = "thread " + sub
		default:
			add(sum, u)
		}
	}
	if sum != nil {
		p.spend(m, sum)
	}
}

// spent reads the usage of one request; nil when it states no tokens.
func (p *parser) spent(v format.Value, model string, now transcript.Time, key string) *transcript.Usage {
	if !v.IsObject() {
		return nil
	}
	u := &transcript.Usage{Key: key, Model: model, Time: now, Origin: p.origin(v), Attributes: credits(v)}
	if at := v.Get("timestamp").Time(); at.Valid {
		u.Time = at
	}
	if name := v.Get("model").Str(); name != "" {
		u.Model = name
	}
	u.Input, u.Output = count(v.Get("inputTokens")), count(v.Get("outputTokens"))
	u.CacheRead, u.CacheWrite = count(v.Get("cacheReadInputTokens")), count(v.Get("cacheCreationInputTokens"))
	if u.Input.N == 0 && u.Output.N == 0 && u.CacheRead.N == 0 && u.CacheWrite.N == 0 {
		return nil
	}
	return u
}

// spend yields a request.
func (p *parser) spend(m *message, u *transcript.Usage) {
	if u == nil {
		return
	}
	u.Run, u.Conversation = p.id, p.id
	if !u.Requests.Known {
		u.Requests = transcript.Known(1)
	}
	if m != nil && m.again {
		u.Verdict = transcript.CopiedHistory
	}
	if p.sub && !strings.HasPrefix(u.Key, "thread ") {
		u.Alias = "thread " + p.id
	}
	// Of models that are not Anthropic's the program calls all of the prompt that was not cached a cache creation.
	if !strings.Contains(u.Model, "claude") && u.Model != "" && u.Input.N == 0 && u.CacheWrite.N > 0 {
		u.Input, u.CacheWrite = u.CacheWrite, transcript.Known(0)
	}
	u.Rank = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N // a copy may be from the middle of an answer
	p.Emit(u)
}

func credits(v format.Value) transcript.Attributes {
	if n, ok := v.Get("credits").Float(); ok && n != 0 {
		return transcript.Attributes{"credits": n}
	}
	return nil
}

// add puts a further request into a sum.
func add(sum, u *transcript.Usage) {
	if !sum.Requests.Known {
		sum.Requests = transcript.Known(1)
	}
	sum.Requests.N++
	if sum.Model != u.Model {
		sum.Model = ""
	}
	for _, c := range []struct{ to, n *transcript.Count }{
		{&sum.Input, &u.Input}, {&sum.Output, &u.Output}, {&sum.CacheRead, &u.CacheRead}, {&sum.CacheWrite, &u.CacheWrite},
	} {
		c.to.N, c.to.Known = min(c.to.N+c.n.N, most), c.to.Known || c.n.Known
	}
	if n, ok := u.Attributes["credits"].(float64); ok {
		before, _ := sum.Attributes["credits"].(float64)
		sum.Attributes.Set("credits", before+n)
	}
}

// most is more than any request has; what is said beyond it must not overflow a sum.
const most = 1 << 40

func count(v format.Value) transcript.Count {
	n := v.Count()
	n.N = max(0, min(n.N, most))
	return n
}
