package cline

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// wholePrompt says whether tokensIn includes what was cached: in Roo and Kilo. They show by their folder, else by what
// only they or only Cline writes, else by how a task begins, else by what tasks are called.
func (p *parser) wholePrompt() bool {
	for _, x := range extensions {
		if strings.Contains(p.in.Path, x.folder) {
			return x.source != "cline"
		}
	}
	if strings.Contains(p.in.Path, ".cline/data/") {
		return false
	}
	begins, task := "", false
	for v := range p.whole.Items() {
		m := readMessage(v)
		switch {
		case v.Get("modelInfo").Exists(), v.Get("lastCheckpointHash").Exists():
			return false
		case v.Get("apiProtocol").Exists(), m.name == "api_req_started" && nested(m.text).Get("apiProtocol").Exists():
			return true
		case !m.ask && m.name == "task":
			task = true // of Zoo Code, too
		}
		if begins == "" && !m.partial {
			begins = m.name
		}
	}
	return !task && (begins == "text" || strings.Contains(p.task, "-"))
}

// request yields the tokens of a request, of requests that were deleted, of subagents, and the cost of making a context
// shorter.
func (p *parser) request(m message, total bool) {
	counts := nested(m.text)
	switch m.name {
	case "api_req_started":
		p.open = append(p.open, m)
	case "api_req_finished":
		// Of 2024: the counts of the last request that has none.
		if len(p.open) == 0 {
			return
		}
		begun := p.open[len(p.open)-1]
		if p.open = p.open[:len(p.open)-1]; countsOf(nested(begun.text)) {
			return
		}
		m.stamp, m.at = begun.stamp, begun.at
	case "deleted_api_reqs", "subagent_usage":
	case "condense_context":
		if cost := m.value.Get("contextCondense", "cost").NanoUSD(); cost.Known {
			p.emit(&transcript.Usage{
				Run: p.task, Conversation: p.task, Key: p.key(m), Time: m.at, Origin: p.origin(m.value), Model: m.model,
				Requests: transcript.Known(1), Cost: cost, CostSource: "contextCondense.cost",
			})
		}
		return
	default:
		return
	}
	u := &transcript.Usage{
		Run: p.task, Conversation: p.task, Time: m.at, Origin: p.origin(m.value), Model: m.model, Provider: m.provider,
		Input: counts.Get("tokensIn").Count(), Output: counts.Get("tokensOut").Count(),
		CacheRead: counts.Get("cacheReads").Count(), CacheWrite: counts.Get("cacheWrites").Count(),
	}
	u.Cost = counts.Get("cost").NanoUSD()
	if !countsOf(counts) {
		return // it has begun, and nothing is known of it
	}
	if cached := u.CacheRead.N + u.CacheWrite.N; total && u.Input.N >= cached {
		u.Input.N -= cached
	}
	if u.Cost.Known {
		u.CostSource = "cost"
	}
	switch m.name {
	case "deleted_api_reqs":
		u.Attributes = transcript.Attributes{deletedMark: true}
	case "subagent_usage":
		u.Attributes = transcript.Attributes{"of": "subagents"}
	default:
		u.Requests = transcript.Known(1)
		u.Status = counts.Get("cancelReason").Str()
	}
	u.Key = p.key(m)
	p.emit(u)
}

// countsOf says whether what is written of a request has any counts.
func countsOf(v format.Value) bool {
	for _, key := range []string{"tokensIn", "tokensOut", "cacheReads", "cacheWrites"} {
		if v.Get(key).Count().Known {
			return true
		}
	}
	return v.Get("cost").NanoUSD().N != 0
}

// deletedMark is the attribute of what stands for requests that a rewind took away.
const deletedMark = "deleted"

// key names a request by the time of its message, which is its identity in a task.
func (p *parser) key(m message) string {
	key := p.task + ":" + m.stamp
	for n := 2; m.stamp == "" || p.keys[key]; n++ {
		key = fmt.Sprintf("%s:%s#%d", p.task, m.stamp, n)
		if !p.keys[key] {
			break
		}
	}
	p.keys[key] = true
	return key
}

// nested gives the JSON object inside of a string, nil when there is none.
func nested(text format.Value) format.Value {
	s := strings.TrimSpace(text.Str())
	if !strings.HasPrefix(s, "{") {
		return format.Value{}
	}
	v, err := format.ParseJSON([]byte(s))
	if err != nil {
		return format.Value{}
	}
	return v
}
