package qwencode

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the usage of an answer. A branch repeats it: the copy is copied history, whether or not the archive has the origin.
func (m *lineEvents) usage() {
	if !m.line.usage.IsObject() || m.duplicate {
		return
	}
	var prompt, cached, output, thoughts transcript.Count
	for key, f := range m.line.usage.Fields() {
		switch key {
		case "promptTokenCount":
			prompt = f.Tokens()
		case "cachedContentTokenCount":
			cached = f.Tokens()
		case "candidatesTokenCount":
			output = f.Tokens()
		case "thoughtsTokenCount":
			thoughts = f.Tokens()
		}
	}
	if !prompt.Known && !cached.Known && !output.Known {
		return
	}
	cached.N = min(cached.N, prompt.N)
	u := &transcript.Usage{
		Run: m.run, Conversation: m.session, Key: m.line.key, Rank: prompt.N + output.N, Time: m.line.at, Origin: m.line.origin, Model: m.line.model.Str(),
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
	case thoughtsOutside(m.line.usage, prompt.N, output.N, thoughts.N):
		u.Output, u.Reasoning = transcript.Known(output.N+thoughts.N), thoughts
	case thoughts.N <= output.N:
		u.Reasoning = thoughts
	default: // an estimate
		u.Attributes.Set("thoughts", thoughts.N)
	}
	if m.line.forkedFrom.Exists() {
		u.Verdict = transcript.CopiedHistory
	}
	m.Emit(u)
}

// thoughtsOutside reports whether the total counts the thoughts beside the candidates, as Google's models do.
func thoughtsOutside(usage jsontext.Value, prompt, output, thoughts int64) bool {
	total, ok := usage.Get("totalTokenCount").Int()
	return ok && thoughts > 0 && total >= prompt+output+thoughts
}
