package amp

import (
	"math"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// ledger holds the usageLedger of a thread: one entry per request, written up to January 2026.
type ledger struct {
	entries     []entry
	answers     map[*message]int // index of the entry that has the cache tokens of an answer
	tools       map[string]bool  // tool call ids whose requests have entries
	first, last int64            // range of the message numbers that answer entries name
	unnamed     bool             // an answer entry names no message, so it may mean any
}

// entry is one request, or all requests of one tool call.
type entry struct {
	v      jsontext.Value
	answer *message // the answer whose cache tokens the entry takes
}

// read reads the ledger, and sets the time of an answer without one from its entry.
func (l *ledger) read(p *parser) {
	l.tools, l.answers, l.first, l.last = map[string]bool{}, map[*message]int{}, math.MaxInt64, -1
	byNumber := map[int64]*message{}
	for i := range p.messages {
		if m := &p.messages[i]; !m.copied && m.v.Get("role").Is("assistant") && messageNumber(m.v) >= 0 {
			byNumber[messageNumber(m.v)] = m
		}
	}
	for v := range p.doc.Get("usageLedger", "events").Items() {
		if v.IsObject() {
			l.addEntry(v, byNumber)
		}
	}
	for m, i := range l.answers {
		if !m.at.Valid {
			m.at = l.entries[i].v.Get("timestamp").Time()
		}
	}
}

// addEntry adds an entry. If several name the same answer, the cache tokens go to the answer's own request.
func (l *ledger) addEntry(v jsontext.Value, own map[int64]*message) {
	n, ok := v.Get("toMessageId").Int()
	e, m := entry{v: v}, own[n]
	if tool := v.Get("toolUseID").Str(); tool != "" {
		l.tools[tool] = true
	}
	if isAnswer(v) && ok {
		l.first, l.last = min(l.first, n), max(l.last, n)
	}
	l.unnamed = l.unnamed || isAnswer(v) && !ok
	if before, taken := l.answers[m]; ok && m != nil && (!taken || isAnswer(v) && !isAnswer(l.entries[before].v)) {
		if taken {
			l.entries[before].answer = nil
		}
		l.answers[m], e.answer = len(l.entries), m
	}
	l.entries = append(l.entries, e)
}

// isAnswer reports whether an entry is the request of an answer, not that of a tool or a title.
func isAnswer(v jsontext.Value) bool {
	typ := v.Get("operationType")
	return typ.Is("inference") || !typ.Exists()
}

// covers reports whether the ledger includes the request of a message: it names the message, or messages on both sides of it.
func (l *ledger) covers(m *message) bool {
	_, named := l.answers[m]
	return named || l.unnamed || l.first <= messageNumber(m.v) && messageNumber(m.v) <= l.last
}

// emitAllUsage yields the usage of ledger entries, of messages that the ledger does not cover, and of the requests of tools.
func (p *parser) emitAllUsage() {
	now := p.created
	for i := range p.messages {
		m := &p.messages[i]
		if m.at.Valid {
			now = m.at
		}
		if usage := m.v.Get("usage"); usage.IsObject() && m.v.Get("role").Is("assistant") && (m.copied || !p.ledger.covers(m)) {
			p.emitUsage(m, p.readUsage(usage, m.v.Get("model").Str(), now, "message "+m.key))
		}
		for b := range m.v.Get("content").Items() {
			p.toolUsage(m, b, now)
		}
	}
	for i, e := range p.ledger.entries {
		p.ledgerUsage(i, e)
	}
}

// ledgerUsage yields the usage of one ledger entry. Only the entry of an answer has cache tokens.
func (p *parser) ledgerUsage(i int, e entry) {
	v, key, at := e.v, "event "+e.v.Get("id").Str(), e.v.Get("timestamp").Time()
	switch {
	case key == "event ":
		key += p.id + " " + strconv.Itoa(i)
	case at.Valid: // a fork copies both; not every writer's ids are unique in other threads
		key += " " + strconv.FormatInt(at.UnixMicro, 36)
	}
	if sub := v.Get("subagentThreadID").Str(); sub != "" {
		key = "thread " + sub // the subagent's own file has the single requests
	}
	u := &transcript.Usage{Key: key, Model: v.Get("model").Str(), Time: at, Origin: p.origin(v)}
	u.Input, u.Output = v.Get("tokens", "input").Tokens(), v.Get("tokens", "output").Tokens()
	if u.Attributes = credits(v); !u.Input.Known && !u.Output.Known && u.Attributes == nil {
		return
	}
	if e.answer != nil {
		u.Alias = "message " + e.answer.key
		cache := e.answer.v.Get("usage")
		u.CacheRead, u.CacheWrite = cache.Get("cacheReadInputTokens").Tokens(), cache.Get("cacheCreationInputTokens").Tokens()
	}
	if typ := v.Get("operationType").Str(); typ != "" && typ != "inference" {
		u.Attributes.Set("operation", typ)
	}
	p.emitUsage(nil, u)
}

// toolUsage yields the usage of the requests that a tool made, unless the ledger has them.
func (p *parser) toolUsage(m *message, b jsontext.Value, now transcript.Time) {
	call, debug := callOf(b), b.Get("run", "~debug")
	if call == "" || p.ledger.tools[call] || !debug.IsObject() {
		return
	}
	var sum *transcript.Usage // of a subagent with its own thread
	for n, inference := range debug.Get("inferences").Numbered() {
		u := p.readUsage(inference.Get("usage"), "", now, "tool "+call+"/"+strconv.Itoa(n))
		if u == nil {
			continue
		}
		u.Attributes.Set("tool_use_id", call)
		if m.copied {
			u.Verdict = transcript.CopiedHistory
		}
		sub := debug.Get("threadID").Str()
		switch {
		case sub == "":
			p.emitUsage(m, u)
		case sum == nil:
			sum = u
			sum.Key = "thread " + sub
		default:
			addUsage(sum, u)
		}
	}
	if sum != nil {
		p.emitUsage(m, sum)
	}
}

// readUsage reads the usage of one request. It returns nil if no tokens are stated.
func (p *parser) readUsage(v jsontext.Value, model string, now transcript.Time, key string) *transcript.Usage {
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
	u.Input, u.Output = v.Get("inputTokens").Tokens(), v.Get("outputTokens").Tokens()
	u.CacheRead, u.CacheWrite = v.Get("cacheReadInputTokens").Tokens(), v.Get("cacheCreationInputTokens").Tokens()
	if u.Input.N == 0 && u.Output.N == 0 && u.CacheRead.N == 0 && u.CacheWrite.N == 0 {
		return nil
	}
	return u
}

// emitUsage yields the usage of one request.
func (p *parser) emitUsage(m *message, u *transcript.Usage) {
	if u == nil {
		return
	}
	u.Run, u.Conversation = p.id, p.id
	if !u.Requests.Known {
		u.Requests = transcript.Known(1)
	}
	if m != nil && m.nestedFork {
		u.Verdict = transcript.CopiedHistory
	}
	if p.isSubagent && !strings.HasPrefix(u.Key, "thread ") {
		u.Alias = "thread " + p.id
	}
	// For models that are not Anthropic's, Amp reports the uncached prompt as cache creation.
	if !strings.Contains(u.Model, "claude") && u.Model != "" && u.Input.N == 0 && u.CacheWrite.N > 0 {
		u.Input, u.CacheWrite = u.CacheWrite, transcript.Known(0)
	}
	u.Rank = format.AtHome(u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N, p.isHome(m, u)) // a copy may have been made in the middle of an answer
	p.Emit(u)
}

// isHome reports whether a request was made in this thread, rather than in the one that it is a fork of: as its message is, or, of an
// entry of the ledger, as its time says.
func (p *parser) isHome(m *message, u *transcript.Usage) bool {
	if m != nil {
		return !m.copied
	}
	return len(p.messages) == 0 || !p.messages[0].copied || !u.Time.Valid || !p.created.Valid || u.Time.UnixMicro >= p.created.UnixMicro
}

func credits(v jsontext.Value) transcript.Attributes {
	if n, ok := v.Get("credits").Float(); ok && n != 0 {
		return transcript.Attributes{"credits": n}
	}
	return nil
}

// addUsage adds a request to a sum.
func addUsage(sum, u *transcript.Usage) {
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
		c.to.N, c.to.Known = min(c.to.N+c.n.N, jsontext.MaxTokens), c.to.Known || c.n.Known
	}
	if n, ok := u.Attributes["credits"].(float64); ok {
		before, _ := sum.Attributes["credits"].(float64)
		sum.Attributes.Set("credits", before+n)
	}
}
