package cline

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// inputIncludesCache reports whether tokensIn includes the cached tokens, as in Roo and Kilo. These are told from Cline by the extension's
// folder, else by fields that only they or only Cline write, else by the first message, else by the task's name.
func (p *parser) inputIncludesCache() bool {
	for _, x := range extensions {
		if strings.Contains(p.in.Path, x.folder) {
			return x.source != "cline"
		}
	}
	if strings.Contains(p.in.Path, ".cline/data/") {
		return false
	}
	firstName, others := "", false
	for v := range p.doc.Items() {
		m := readMessage(v)
		switch {
		case v.Get("modelInfo").Exists(), v.Get("lastCheckpointHash").Exists():
			return false
		case v.Get("apiProtocol").Exists(), m.name == "api_req_started" && insideJSON(m.text).Get("apiProtocol").Exists():
			return true
		case !m.ask && (m.name == "task" || m.name == "api_req_finished"), v.Get("conversationHistoryIndex").Exists():
			others = true // Zoo Code writes the first, too
		}
		if firstName == "" && !m.partial {
			firstName = m.name
		}
	}
	return !others && (firstName == "text" || strings.Contains(p.task, "-"))
}

// request yields the usage of a request, of deleted requests or of subagents, and the cost of condensing a context. inclusive says that
// tokensIn includes the cached tokens.
func (p *parser) request(m message, inclusive bool) {
	counts := insideJSON(m.text)
	switch m.name {
	case "api_req_started":
		p.openRequests = append(p.openRequests, m)
	case "api_req_finished":
		// 2024: the counts of the last request that has none.
		if len(p.openRequests) == 0 {
			return
		}
		started := p.openRequests[len(p.openRequests)-1]
		if p.openRequests = p.openRequests[:len(p.openRequests)-1]; hasCounts(insideJSON(started.text)) {
			return
		}
		m.stamp, m.at = started.stamp, started.at
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
	if !hasCounts(counts) {
		return // the request has only begun
	}
	if inclusive {
		format.ExcludeCache(u)
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

// hasCounts reports whether a request states any tokens or a cost.
func hasCounts(v jsontext.Value) bool {
	for _, key := range []string{"tokensIn", "tokensOut", "cacheReads", "cacheWrites"} {
		if v.Get(key).Count().Known {
			return true
		}
	}
	return v.Get("cost").NanoUSD().N != 0
}

// deletedMark is the attribute of usage that sums up requests removed by a rewind.
const deletedMark = "deleted"

// key returns a usage key from the time of the message, which identifies a request in its task; those of the same time, or without one, are
// numbered.
func (p *parser) key(m message) string {
	key := p.task + ":" + m.stamp
	p.keys[key]++
	n := p.keys[key]
	if m.stamp == "" {
		n++
	}
	if n > 1 {
		key += "#" + strconv.Itoa(n)
	}
	return key
}

// insideJSON returns the JSON object inside a string, or an absent value.
func insideJSON(text jsontext.Value) jsontext.Value {
	s := strings.TrimSpace(text.Str())
	if !strings.HasPrefix(s, "{") {
		return jsontext.Value{}
	}
	v, err := jsontext.Parse([]byte(s))
	if err != nil {
		return jsontext.Value{}
	}
	return v
}
