package qwencode

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// most is more than any request has; what is said beyond it must not overflow a sum.
const most = 1 << 40

func tokens(v format.Value) transcript.Count {
	n, ok := v.Int()
	if !ok {
		return transcript.Count{}
	}
	return transcript.Known(max(0, min(n, most)))
}

// usage tells the tokens of an answer. A branch repeats them: its copies are marked, whether or not what they are copies of is there.
func (m *mouth) usage() {
	if !m.line.usage.IsObject() || m.again {
		return
	}
	var prompt, cached, output, thoughts transcript.Count
	for key, f := range m.line.usage.Fields() {
		switch key {
		case "promptTokenCount":
			prompt = tokens(f)
		case "cachedContentTokenCount":
			cached = tokens(f)
		case "candidatesTokenCount":
			output = tokens(f)
		case "thoughtsTokenCount":
			thoughts = tokens(f)
		}
	}
	if !prompt.Known && !cached.Known && !output.Known {
		return
	}
	cached.N = min(cached.N, prompt.N)
	u := &transcript.Usage{
		Run: m.run, Conversation: m.session, Key: m.line.uuid, Rank: prompt.N + output.N, Time: m.line.at, Origin: m.line.origin, Model: m.line.model.Str(),
		Input: prompt, Output: output, CacheRead: cached, Requests: transcript.Known(1),
	}
	u.Input.N -= cached.N
	if m.agent != "" {
		u.Conversation = m.agent
	}
	if u.Key == "" {
		u.Key = m.run + "#" + strconv.Itoa(m.line.origin.Line)
	}
	switch {
	case !thoughts.Known:
	case thoughts.N <= output.N && !outside(m.line.usage, prompt.N, output.N, thoughts.N):
		u.Reasoning = thoughts
	default:
		u.Attributes.Set("thoughts", thoughts.N)
	}
	if m.line.forked.Exists() {
		u.Verdict = transcript.CopiedHistory
	}
	m.Emit(u)
}

// outside says that the total has the thoughts beside the candidates.
func outside(usage format.Value, prompt, output, thoughts int64) bool {
	total, ok := usage.Get("totalTokenCount").Int()
	return ok && thoughts > 0 && total >= prompt+output+thoughts
}
