package shelley

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usages yields what a message used: the request that it answers, and others, each for a purpose.
func (m *message) usages() {
	m.usage(m.v.Get("usage_data"), "usage", "")
	for n, other := range m.v.Get("other_usage_data").Numbered() {
		m.usage(other, "other "+strconv.Itoa(n), other.Get("purpose").Str())
	}
}

// usage yields a usage, or, if it lists its requests, each of them: then its own numbers are their sums.
func (m *message) usage(v jsontext.Value, piece, purpose string) {
	requests := v.Get("requests")
	if !requests.HasItems() {
		m.request(v, v, piece, purpose)
		return
	}
	for n, request := range requests.Numbered() {
		m.request(request, v, piece+" "+strconv.Itoa(n), purpose)
	}
}

// request yields one request, unless it states nothing: the program writes zeros to all messages. A cost of 0 is not stated.
func (m *message) request(v, whole jsontext.Value, piece, purpose string) {
	u := &transcript.Usage{
		Run: m.Session, Conversation: conversation, Origin: m.Row.Origin, Step: purpose,
		Input: v.Get("input_tokens").Tokens(), Output: v.Get("output_tokens").Tokens(),
		CacheRead: v.Get("cache_read_input_tokens").Tokens(), CacheWrite: v.Get("cache_creation_input_tokens").Tokens(),
	}
	if cost := v.Get("cost_usd").NanoUSD(); cost.N > 0 {
		u.Cost, u.CostSource = cost, "cost_usd"
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && !u.Cost.Known {
		return
	}
	for _, model := range []jsontext.Value{v.Get("model"), whole.Get("model"), m.v.Get("model_name")} {
		if u.Model == "" {
			u.Model = model.Str()
		}
	}
	splitPrompt(u)
	u.Requests, u.Key = transcript.Known(1), m.requestKey(v, piece)
	u.Estimated = strings.HasPrefix(u.Model, "gemini") && u.CacheRead.N+u.CacheWrite.N == 0 // the program divides the number of bytes by four
	u.Rank = format.AtHome(0, m.home)
	if u.Time = v.Get("start_time").Time(); !u.Time.Valid {
		u.Time = m.at
	}
	m.Emit(u)
}

// requestKey identifies a request by its times, which are exact to the nanosecond, and by what it used; without times, by its message.
func (m *message) requestKey(v jsontext.Value, piece string) string {
	switch begin := v.Get("start_time").Str(); {
	case begin != "":
		return strings.Join([]string{"request", begin, v.Get("end_time").Str(), v.Get("input_tokens").Text(), v.Get("output_tokens").Text()}, " ")
	case m.root != "":
		return m.root + "/" + piece
	}
	return ""
}

// splitPrompt corrects what early versions stated of OpenAI's models: the whole prompt as input, once more as written to the cache, and the
// part of it that was read from the cache.
func splitPrompt(u *transcript.Usage) {
	if u.Input.N == 0 || u.CacheWrite != u.Input || u.CacheRead.N > u.Input.N || strings.HasPrefix(u.Model, "claude") {
		return
	}
	u.Input.N -= u.CacheRead.N
	u.CacheWrite = transcript.Count{}
}
