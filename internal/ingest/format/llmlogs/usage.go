package llmlogs

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the usage of a response or turn, keyed by its id. Cached tokens are in token_details, in the provider's
// terms: for OpenAI and Gemini they are included in the input, for Anthropic they are not.
func (s *messageEvents) usage(v jsontext.Value) {
	input, output, details := v.Get("input_tokens").Count(), v.Get("output_tokens").Count(), v.Get("token_details")
	if !input.Known && !output.Known {
		return
	}
	u := &transcript.Usage{
		Run: s.Session, Conversation: conversation, Key: s.id, Time: s.at, Origin: s.parser.Row.Origin, Model: s.model, RequestID: v.Get("response_json", "id").Str(),
		Input: input, Output: output, Requests: transcript.Known(1),
		Reasoning: firstCount(details.Get("completion_tokens_details", "reasoning_tokens"), details.Get("output_tokens_details", "reasoning_tokens"), details.Get("thoughtsTokenCount")),
	}
	if n := v.Get("duration_ms").Count(); n.Known {
		u.Attributes = transcript.Attributes{"duration_ms": n.N}
	}
	cached := firstCount(details.Get("prompt_tokens_details", "cached_tokens"), details.Get("input_tokens_details", "cached_tokens"), details.Get("cachedContentTokenCount"))
	if cached.Known && cached.N > 0 && input.Known {
		u.CacheRead = cached
		u.Input = transcript.Known(max(0, input.N-cached.N))
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
	u.Rank = format.AtHome(0, s.home)
	s.Emit(u)
}

// firstCount returns the first count that is known.
func firstCount(all ...jsontext.Value) transcript.Count {
	for _, v := range all {
		if n := v.Count(); n.Known {
			return n
		}
	}
	return transcript.Count{}
}
