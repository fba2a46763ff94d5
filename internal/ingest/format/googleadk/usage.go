package googleadk

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// used is a usage that an event has stated.
type used struct{ usage, key string }

// usage yields what a request used.
//
// When the kit streams an answer that has text before a call, it saves the text as an event, and then the call as another one, with the usage of
// the same request. The next request has a longer prompt.
func (e *event) usage(v jsontext.Value) {
	invocation, _ := e.facts["invocation"].(string)
	if invocation != e.of || e.last == nil {
		e.of, e.last = invocation, map[string]used{}
	}
	branch, _ := e.facts["branch"].(string)
	who := e.author + "\x00" + branch
	if !v.IsObject() {
		delete(e.last, who)
		return
	}
	u := e.readUsage(v)
	if u.Input.N+u.Output.N+u.CacheRead.N == 0 {
		return
	}
	if e.id != "" {
		u.Key = e.id
	}
	if before, ok := e.last[who]; ok && before.usage == string(v.Raw()) && before.key != "" {
		u.Key = before.key
	}
	e.last[who] = used{string(v.Raw()), u.Key}
	if u.Model != "" { // the first of two events may not say it
		u.Rank = 1
	}
	u.Rank = format.AtHome(u.Rank, e.home)
	e.Emit(u)
}

// readUsage reads token counts. The prompt includes what was read from a cache, and not what tools of the provider's have put there. Google's models
// count thoughts beside the answer, those of others in it: the total tells.
func (e *event) readUsage(v jsontext.Value) *transcript.Usage {
	count := func(snake, camel string) transcript.Count { return member(v, snake, camel).Tokens() }
	thoughts, total := count("thoughts_token_count", "thoughtsTokenCount"), count("total_token_count", "totalTokenCount")
	tools := count("tool_use_prompt_token_count", "toolUsePromptTokenCount")
	u := &transcript.Usage{
		Run: e.Session, Conversation: conversation, Origin: e.Row.Origin, Time: e.at, Model: e.model, Agent: e.author, Requests: transcript.Known(1),
		Input: count("prompt_token_count", "promptTokenCount"), Output: count("candidates_token_count", "candidatesTokenCount"),
		CacheRead: count("cached_content_token_count", "cachedContentTokenCount"), Reasoning: thoughts,
	}
	if thoughts.N > 0 && total.N >= u.Input.N+u.Output.N+thoughts.N {
		u.Output = transcript.Known(u.Output.N + thoughts.N)
	}
	if u.Reasoning.N > u.Output.N {
		u.Reasoning = transcript.Count{}
	}
	format.ExcludeCache(u)
	if tools.Known {
		u.Input = transcript.Known(u.Input.N + tools.N)
	}
	return u
}
