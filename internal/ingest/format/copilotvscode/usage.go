package copilotvscode

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// turnUsage is what a turn states about its requests.
type turnUsage struct {
	input, output         transcript.Count // input of the last request, output of all
	lastInput, lastOutput transcript.Count // of the last request, from the extension's metadata
	totals                []modelTotal     // of all requests, by model
	credits               float64
	rounds                int64
	resolved              string // the model that answered
	message               string // message id, which a copy of the turn keeps
	folder                string // the open folder
	updates               int64  // usage records emitted so far
}

// modelTotal is the usage of one model in a turn.
type modelTotal struct {
	model                 string
	input, cached, output int64
}

// usageMembers are the members of a request that state tokens.
var usageMembers = map[string]bool{"promptTokens": true, "completionTokens": true, "modelTotals": true, "copilotCredits": true}

func (k *turnUsage) read(key string, v jsontext.Value) {
	switch key {
	case "promptTokens":
		k.input = tokenCount(v)
	case "completionTokens":
		k.output = tokenCount(v)
	case "copilotCredits":
		k.credits, _ = v.Float()
	case "modelTotals":
		k.totals = nil
		for m := range v.Items() {
			k.totals = append(k.totals, modelTotal{m.Get("model").Str(), count(m, "inputTokens"), count(m, "cachedTokens"), count(m, "outputTokens")})
		}
	}
}

// tokenCount reads a number of tokens; negative ones are unknown.
func tokenCount(v jsontext.Value) transcript.Count {
	if n := v.Count(); n.N >= 0 {
		return n
	}
	return transcript.Count{}
}

func count(v jsontext.Value, name string) int64 { return tokenCount(v.Get(name)).N }

func (k *turnUsage) readResult(v jsontext.Value) {
	meta := v.Get("metadata")
	k.lastInput, k.lastOutput = tokenCount(meta.Get("promptTokens")), tokenCount(meta.Get("outputTokens"))
	k.resolved, k.message = meta.Get("resolvedModel").Str(), meta.Get("modelMessageId").Str()
	k.rounds = 0
	for range meta.Get("toolCallRounds").Items() {
		k.rounds++
	}
	for _, name := range []string{"renderedGlobalContext", "renderedUserMessage"} {
		for part := range meta.Get(name).Items() {
			if dir := folderOf(part.Get("text").Str()); dir != "" {
				k.folder = dir
				return
			}
		}
	}
}

// folderOf returns the first of the workspace folders in a prompt.
func folderOf(text string) string {
	_, after, ok := strings.Cut(text, "I am working in a workspace with the following folders:\n- ")
	if !ok {
		return ""
	}
	dir, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(dir)
}

// providerModel returns the provider and the model of a turn. Models served by Copilot have no provider, as in Copilot CLI.
func (k *turnUsage) providerModel(id string) (provider, model string) {
	provider, model, ok := strings.Cut(id, "/")
	if !ok {
		provider, model = "", id
	}
	if provider == "copilot" || provider == extensionDir {
		provider = ""
	}
	if k.resolved != "" {
		model = k.resolved
	}
	return provider, model
}

// Parts of the rank of a turn's usage: totals outrank all else, then more output, then the later statement.
const (
	rankSums   = 1 << 56
	rankOutput = 1 << 20
)

// usageKey returns the key of a request, unique over the whole archive: an export of a session has the same.
func (p *parser) usageKey(request string) string {
	if isGlobalID(request) {
		return request
	}
	return p.session + ":" + request
}

// isGlobalID reports whether a request id is unique everywhere. Early versions numbered their requests.
func isGlobalID(request string) bool {
	id, ok := strings.CutPrefix(request, "request_")
	return ok && format.IsUUID(id)
}

// usage yields the usage of a turn, as far as it is known now.
func (p *parser) usage(t *turn, v jsontext.Value) {
	k := &t.usage
	input, output := k.input, k.output
	if !input.Known {
		input = k.lastInput
	}
	if !output.Known {
		output = k.lastOutput
	}
	if p.dryRun || input.N <= 0 && output.N <= 0 && len(k.totals) == 0 {
		return // a cancelled or failed turn states zeros
	}
	k.updates++
	provider, model := k.providerModel(t.model)
	u := transcript.Usage{
		Run: p.session, Conversation: p.session, Key: p.usageKey(t.id), Time: t.at, Origin: p.origin(v), Model: model, Provider: provider,
		RequestID: t.id, Rank: min(k.updates, rankOutput-1), Agent: t.agent,
	}
	if k.credits > 0 {
		u.Attributes.Set("credits", k.credits)
	}
	if k.message != "" {
		u.Key, u.Alias = k.message, u.Key
	}
	if t.imported || t.copied && k.message == "" {
		u.Verdict = transcript.CopiedHistory
	}
	if len(k.totals) == 0 {
		u.Input, u.Output, u.Rank = input, output, u.Rank+min(max(output.N, 0), 1<<35)*rankOutput
		if u.Estimated = k.rounds > 1 || k.rounds == 0 && len(t.calls) > 0; k.rounds > 0 {
			u.Requests = transcript.Known(k.rounds)
		}
		p.emitConversation()
		p.Emit(&u)
		return
	}
	for i, s := range k.totals {
		one := u
		if i > 0 {
			one.Key, one.Attributes = u.Key+":"+s.model, nil
			if u.Alias != "" {
				one.Alias = u.Alias + ":" + s.model
			}
		}
		cached := min(s.cached, s.input)
		one.Model, one.Rank = s.model, u.Rank+rankSums+min(s.output, 1<<35)*rankOutput
		one.Input, one.CacheRead, one.Output = transcript.Known(s.input-cached), transcript.Known(cached), transcript.Known(s.output)
		p.emitConversation()
		p.Emit(&one)
	}
}
