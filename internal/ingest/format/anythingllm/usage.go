package anythingllm

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields what an answer states to have used. A number of 0 is none: so the measurement begins, and so it ends if the provider states nothing.
// A cost of 0 is one: the program states it for models on machines of the user's own, and leaves out what it does not know.
func (x *exchange) usage() {
	u := &transcript.Usage{
		Run: x.Session, Conversation: conversation, Origin: jsontext.OriginIn(x.Row.Origin, x.Row.Value, x.metrics), Key: x.id, Time: x.answered,
		Model: x.metrics.Get("model").Str(), Provider: providerOf(x.metrics.Get("provider").Str()),
		Input: stated(x.metrics.Get("prompt_tokens")), Output: stated(x.metrics.Get("completion_tokens")),
	}
	if u.Input.N+u.Output.N == 0 {
		return
	}
	if cost := x.metrics.Get("totalCost").NanoUSD(); cost.Known && cost.N >= 0 {
		u.Cost, u.CostSource = cost, "totalCost"
	}
	if !x.isAgent() {
		u.Requests = transcript.Known(1)
	}
	u.Rank = format.AtHome(0, x.home)
	x.Emit(u)
}

func stated(v jsontext.Value) transcript.Count {
	if n := v.Tokens(); n.N > 0 {
		return n
	}
	return transcript.Count{}
}

// isAgent reports whether the row shows that an agent answered, whose tools take several requests.
func (x *exchange) isAgent() bool {
	return x.response.Get("outputs").Exists() || strings.HasPrefix(strings.TrimSpace(x.v.Get("prompt").Str()), "@agent")
}

// providerOf returns the name of a provider, which the program states as the name of a class of its own: "OpenAiLLM".
func providerOf(class string) string {
	name := strings.TrimSuffix(class, "LLM")
	switch name {
	case "OllamaAI":
		return "ollama"
	case "AWSBedrock":
		return "bedrock"
	case "AzureOpenAi":
		return "azure"
	}
	return strings.ToLower(name)
}
