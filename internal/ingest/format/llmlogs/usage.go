package llmlogs

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the tokens of a response or turn, whose id is the request's. What came from a cache stands in the details, in the words
// of the provider: of OpenAI and Gemini it is part of the input, of Anthropic it is not.
func (s *said) usage(v format.Value) {
	input, output, details := v.Get("input_tokens").Count(), v.Get("output_tokens").Count(), v.Get("token_details")
	if !input.Known && !output.Known {
		return
	}
	u := &transcript.Usage{
		Run: s.session, Conversation: conversation, Key: s.id, Time: s.at, Origin: s.parser.at, Model: s.model, RequestID: v.Get("response_json", "id").Str(),
		Input: input, Output: output, Requests: transcript.Known(1),
		Reasoning: first(details.Get("completion_tokens_details", "reasoning_tokens"), details.Get("output_tokens_details", "reasoning_tokens"), details.Get("thoughtsTokenCount")),
	}
	if n := v.Get("duration_ms").Count(); n.Known {
		u.Attributes = transcript.Attributes{"duration_ms": n.N}
	}
	within := first(details.Get("prompt_tokens_details", "cached_tokens"), details.Get("input_tokens_details", "cached_tokens"), details.Get("cachedContentTokenCount"))
	if within.Known && within.N > 0 && input.Known {
		u.CacheRead = within
		u.Input = transcript.Known(max(0, input.N-within.N))
	}
	if n := details.Get("cache_read_input_tokens").Count(); n.Known {
		u.CacheRead = n
	}
	if n := details.Get("cache_creation_input_tokens").Count(); n.Known {
		u.CacheWrite = n
		if hour := details.Get("cache_creation", "ephemeral_1h_input_tokens").Count(); hour.Known && hour.N > 0 && hour.N <= n.N {
			u.CacheWrite, u.CacheWrite1h = transcript.Known(n.N-hour.N), hour
		}
	}
	s.Emit(u)
}

// first is the first of several numbers that one is there.
func first(all ...format.Value) transcript.Count {
	for _, v := range all {
		if n := v.Count(); n.Known {
			return n
		}
	}
	return transcript.Count{}
}
