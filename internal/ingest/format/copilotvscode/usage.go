package copilotvscode

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tokens are what a turn states of its requests.
type tokens struct {
	input, output         transcript.Count // of the last request, of all
	lastInput, lastOutput transcript.Count // of the last request, as the extension has it
	sums                  []sum            // of all, by model
	credits               float64
	rounds                int64
	resolved              string // the model that answered
	message               string // id of the turn that a copy keeps
	folder                string // that was open
	stated                int64  // how often
}

// sum is what a turn took of one model.
type sum struct {
	model                 string
	input, cached, output int64
}

// spends are the members of a request that state tokens.
var spends = map[string]bool{"promptTokens": true, "completionTokens": true, "modelTotals": true, "copilotCredits": true}

func (k *tokens) read(key string, v format.Value) {
	switch key {
	case "promptTokens":
		k.input = amount(v)
	case "completionTokens":
		k.output = amount(v)
	case "copilotCredits":
		k.credits, _ = v.Float()
	case "modelTotals":
		k.sums = nil
		for m := range v.Items() {
			k.sums = append(k.sums, sum{m.Get("model").Str(), count(m, "inputTokens"), count(m, "cachedTokens"), count(m, "outputTokens")})
		}
	}
}

// amount is a number of tokens, unknown where it is none.
func amount(v format.Value) transcript.Count {
	if n := v.Count(); n.N >= 0 {
		return n
	}
	return transcript.Count{}
}

func count(v format.Value, name string) int64 { return amount(v.Get(name)).N }

func (k *tokens) readResult(v format.Value) {
	meta := v.Get("metadata")
	k.lastInput, k.lastOutput = amount(meta.Get("promptTokens")), amount(meta.Get("outputTokens"))
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

// folderOf is the first of the directories that the program tells the model of.
func folderOf(text string) string {
	_, after, ok := strings.Cut(text, "I am working in a workspace with the following folders:\n- ")
	if !ok {
		return ""
	}
	dir, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(dir)
}

// asked gives the provider and the model of a turn. What Copilot serves has no provider, as with Copilot CLI.
func (k *tokens) asked(id string) (provider, model string) {
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

// Ranks of what is said of a turn: more output is later, and so is what is said later of the same.
const (
	rankSums   = 1 << 56
	rankOutput = 1 << 20
)

// unique is the id of a request in the whole archive: an export of a session has the same.
func (p *parser) unique(request string) string {
	if isUnique(request) {
		return request
	}
	return p.session + ":" + request
}

// isUnique says that nothing else is called like a request. Early versions counted them.
func isUnique(request string) bool {
	id, ok := strings.CutPrefix(request, "request_")
	return ok && format.IsUUID(id)
}

// usage yields what a turn took, as far as it is known now.
func (p *parser) usage(t *turn, v format.Value) {
	k := &t.tokens
	input, output := k.input, k.output
	if !input.Known {
		input = k.lastInput
	}
	if !output.Known {
		output = k.lastOutput
	}
	if p.quiet || input.N <= 0 && output.N <= 0 && len(k.sums) == 0 {
		return // a turn that was stopped or failed states zeros
	}
	k.stated++
	provider, model := k.asked(t.model)
	u := transcript.Usage{
		Run: p.session, Conversation: p.session, Key: p.unique(t.id), Time: t.at, Origin: p.place(v), Model: model, Provider: provider,
		RequestID: t.id, Rank: min(k.stated, rankOutput-1), Agent: t.agent,
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
	if len(k.sums) == 0 {
		u.Input, u.Output, u.Rank = input, output, u.Rank+min(max(output.N, 0), 1<<35)*rankOutput
		if u.Estimated = k.rounds > 1 || k.rounds == 0 && len(t.calls) > 0; k.rounds > 0 {
			u.Requests = transcript.Known(k.rounds)
		}
		p.speak()
		p.Emit(&u)
		return
	}
	for i, s := range k.sums {
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
		p.speak()
		p.Emit(&one)
	}
}
