package price

import (
	"slices"
	"strings"
)

// canonical returns the form in which different spellings of a name agree: without the provider before the last
// slash, lower case, ASCII letters and digits only.
func canonical(s string) string { return alnum(s[strings.LastIndexByte(s, '/')+1:]) }

// canonicalProvider returns the provider before the last slash in the same form, "" for an unqualified name.
func canonicalProvider(s string) string {
	i := strings.LastIndexByte(s, '/')
	if i <= 0 {
		return ""
	}
	return alnum(s[:i])
}

func alnum(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b = append(b, c)
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		}
	}
	return string(b)
}

// undecorated returns s without one trailing group in brackets or parentheses: "claude-opus-4-6[1m]", "Gemini 3.5
// Flash (Medium)"; and the name of a Claude model without what editors add to it for a way of using it, which costs the same.
func undecorated(s string) string {
	t := strings.TrimRight(s, " ")
	for isClaude(t) {
		short := t
		for _, suffix := range claudeSuffixes {
			short = strings.TrimSuffix(short, suffix)
		}
		if short == t {
			break
		}
		s, t = short, short
	}
	open := ""
	switch {
	case strings.HasSuffix(t, ")"):
		open = "("
	case strings.HasSuffix(t, "]"):
		open = "["
	default:
		return s
	}
	if i := strings.LastIndex(t, open); i > 0 {
		return strings.TrimRight(t[:i], " ")
	}
	return s
}

// claudeSuffixes end names that editors give to Claude models.
var claudeSuffixes = []string{"-latest", "-thinking", "-1m-context", "-1m"}

// isClaude reports whether name is that of a Claude model.
func isClaude(name string) bool {
	return strings.HasPrefix(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), "claude-")
}

// unhurried returns the name of a Claude model without the ending that stands for its fast mode.
func unhurried(name string) (string, bool) {
	base, ok := strings.CutSuffix(name, "-fast")
	return base, ok && isClaude(base) && !strings.HasSuffix(base, "-fast")
}

// undated returns s without a trailing release date: -20250929, @20250929 or -2025-09-29. ok is false if there is
// none. Only a plausible date counts: other numbers distinguish models.
func undated(s string) (string, bool) {
	for _, form := range []string{"-00000000", "@00000000", "-0000-00-00"} {
		i := len(s) - len(form)
		if i <= 0 || !looksLike(s[i:], form) {
			continue
		}
		d := alnum(s[i:])
		if d[:2] == "20" && d[4:6] >= "01" && d[4:6] <= "12" && d[6:] >= "01" && d[6:] <= "31" {
			return s[:i], true
		}
	}
	return s, false
}

// looksLike reports whether s has the characters of form, where 0 stands for any digit.
func looksLike(s, form string) bool {
	for i := range len(form) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	return true
}

// providerKeys maps providers that transcripts spell differently, in canonical form, to their names in the tables.
var providerKeys = map[string]string{
	"amazonbedrock": "bedrock", "aws": "bedrock", "awsbedrock": "bedrock",
	"googlevertex": "vertex_ai", "googlevertexanthropic": "vertex_ai", "vertex": "vertex_ai", "gcpvertexai": "vertex_ai",
	"google": "gemini", "googlegenerativeai": "gemini", "googleaistudio": "gemini",
	"azureopenai": "azure", "azureopenairesponses": "azure", "azurecognitiveservices": "azure_ai",
	"alibaba": "dashscope", "together": "together_ai", "togetherai": "together_ai",
	"vercel": "vercel_ai_gateway", "zhipuai": "zai", "moonshotai": "moonshot", "githubcopilot": "github_copilot",
	"fireworks": "fireworks_ai", "fireworksai": "fireworks_ai",
	"cloudflareworkersai": "cloudflare", "friendli": "friendliai", "novitaai": "novita",
}

// makers maps providers to the prefixes of the names of models that they make themselves. The tables list them among
// several providers of these models.
var makers = map[string][]string{
	"dashscope": {"qwen"}, "deepseek": {"deepseek"}, "minimax": {"minimax"}, "mistral": {"mistral", "devstral", "codestral", "magistral", "ministral"},
	"moonshot": {"kimi"}, "xai": {"grok"}, "zai": {"glm"},
}

// isMaker reports whether a provider makes the model of a name, both in canonical form.
func isMaker(provider, name string) bool {
	return slices.ContainsFunc(makers[provider], func(family string) bool { return strings.HasPrefix(name, family) })
}

// localProviders run models on the user's own machine: a vendor's price for the same name does not apply.
var localProviders = map[string]bool{
	"ollama": true, "lmstudio": true, "llamacpp": true, "vllm": true, "local": true, "localhost": true, "mlx": true,
}

// qualify returns model prefixed with the provider, in the tables' spelling, that the transcript states separately.
func qualify(model, provider string) string {
	p := alnum(provider)
	if p == "" {
		return model
	}
	prefix := provider
	if k, ok := providerKeys[p]; ok {
		prefix = k
	}
	if q := canonicalProvider(model); strings.HasPrefix(q, alnum(prefix)) {
		return model
	}
	return prefix + "/" + model
}

// splitRegion cuts a Bedrock region prefix off an unqualified name: "eu.anthropic.claude-...".
func splitRegion(model string) (region, rest string, ok bool) {
	base := model[strings.LastIndexByte(model, '/')+1:]
	region, rest, ok = strings.Cut(base, ".")
	switch region {
	case "us", "eu", "jp", "au", "apac", "global":
		return region, rest, ok && strings.Contains(rest, ".")
	}
	return "", "", false
}

// ofBedrock reports whether e has a spelling that only Bedrock uses and name does not: "deepseek.v3.2", with the
// vendor and a dot in front. A name without that dot, "deepseek-v3.2", is the vendor's own.
func ofBedrock(e *Entry, name string) bool {
	vendor, _, ok := strings.Cut(e.Key, ".")
	if !ok || !strings.HasPrefix(e.Provider, "bedrock") {
		return false
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(vendor)+".")
}

// IsStub reports whether the name is that of a stub engine, which calls no model: "stub", "claude-stub".
func IsStub(model string) bool {
	base := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return base == "stub" || strings.HasSuffix(base, "-stub")
}
