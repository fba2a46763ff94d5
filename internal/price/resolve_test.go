package price

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func row(key string, in, out int64) Entry {
	return Entry{Key: key, Provider: "p", Rates: []Rate{{Input, Standard, 0, in}, {Output, Standard, 0, out}}}
}

func book(t *testing.T) *Book {
	t.Helper()
	return New(
		Table{Date: "2026-06-01", Entries: []Entry{row("new", 30, 300), row("only-now", 5, 50)}},
		Table{Date: "2026-01-01", Entries: []Entry{row("gone", 7, 70), row("new", 10, 100)}},
		Table{Date: "2026-03-01", Entries: []Entry{row("new", 20, 200)}},
	)
}

func textOf(t *testing.T, tab Table) string {
	t.Helper()
	var b strings.Builder
	if err := Encode(&b, tab); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDates(t *testing.T) {
	b := book(t)
	for _, c := range []struct {
		model, day, table string
		stale             bool
	}{
		{"new", "2025-12-31", "2026-01-01", true}, // older than the oldest table
		{"new", "2026-01-01", "2026-01-01", false},
		{"new", "2026-02-28", "2026-01-01", false},
		{"new", "2026-03-01", "2026-03-01", false},
		{"new", "2027-01-01", "2026-06-01", false},
		{"new", "", "2026-06-01", false},
		{"gone", "2026-07-01", "2026-01-01", true},
		{"only-now", "2026-02-01", "2026-06-01", true},
		{"none", "2026-02-01", "", false},
	} {
		var day time.Time
		if c.day != "" {
			day, _ = time.Parse(time.DateOnly, c.day)
		}
		for range 2 { // the second answer comes from the cache
			m, ok := b.Resolve(c.model, "", day)
			if m.TableDate != c.table || m.Stale != c.stale || ok != (c.table != "") {
				t.Errorf("%s on %s: got %q stale %v, want %q %v", c.model, c.day, m.TableDate, m.Stale, c.table, c.stale)
			}
		}
	}
	// 23:30 of 28 February in New York is 1 March in UTC, which decides.
	ny := time.Date(2026, 2, 28, 23, 30, 0, 0, time.FixedZone("EST", -5*3600))
	if m, _ := b.Resolve("new", "", ny); m.TableDate != "2026-03-01" {
		t.Errorf("got the table of %s", m.TableDate)
	}
}

// TestAdded prices models that only a table of added ones has by that, as of its day, and all others as if it were not there.
func TestAdded(t *testing.T) {
	added := Table{Date: "2026-06-20", Added: true, Entries: []Entry{row("late", 8, 80), row("new", 1, 1)}}
	again, err := Parse(strings.NewReader(textOf(t, added)))
	if err != nil || !again.Added {
		t.Fatal(again, err)
	}
	b, err := book(t).Add(textOf(t, added))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model, day, table string
		stale             bool
	}{
		{"new", "2026-07-01", "2026-06-01", false},
		{"new", "", "2026-06-01", false},
		{"gone", "2026-07-01", "2026-01-01", true},
		{"late", "2026-07-01", "2026-06-20", false},
		{"late", "2026-06-19", "2026-06-20", false}, // its price since it came out
		{"late", "2025-12-31", "2026-06-20", true},
		{"late", "", "2026-06-20", false},
	} {
		var day time.Time
		if c.day != "" {
			day, _ = time.Parse(time.DateOnly, c.day)
		}
		if m, _ := b.Resolve(c.model, "", day); m.TableDate != c.table || m.Stale != c.stale {
			t.Errorf("%s on %s: got %q stale %v, want %q %v", c.model, c.day, m.TableDate, m.Stale, c.table, c.stale)
		}
	}
	if m, _ := New(added).Resolve("late", "", time.Time{}); m.TableDate != "2026-06-20" {
		t.Errorf("alone: %+v", m)
	}
}

func TestOverrides(t *testing.T) {
	o := func(model, from string, in int64) Override {
		return Override{Model: model, From: from, Rates: row("", in, in).Rates}
	}
	b := book(t).With([]Override{o("new", "2026-02-01", 111), o("azure/x", "", 5), o("y-20260101", "", 6)}).
		With([]Override{o("new", "2026-04-01", 222), o("new", "2026-02-01", 112), {Model: "bad"}, o("only-now", "2026-05-01", 1)})
	if n := len(b.Overrides()); n != 6 {
		t.Fatalf("%d overrides", n)
	}
	for _, c := range []struct {
		model, provider, day string
		in                   int64
		override             bool
	}{
		{"new", "", "2026-01-31", 10, false},
		{"new", "", "2026-02-01", 112, true},
		{"new[1m]", "", "2026-03-31", 112, true},
		{"New", "", "2026-04-01", 222, true},
		{"openrouter/new", "", "2026-04-01", 222, true},
		{"new-20260303", "", "2026-05-02", 222, true}, // still in force when a later layer adds another model
		{"only-now", "", "2026-05-01", 1, true},
		{"azure/x", "", "2026-01-01", 5, true},
		{"x", "azure", "2026-01-01", 5, true},
		{"x", "", "2026-01-01", 0, false}, // a qualified override holds only there
		{"y", "", "2026-01-01", 0, false}, // nor does that of one release hold for others
	} {
		day, _ := time.Parse(time.DateOnly, c.day)
		m, _ := b.Resolve(c.model, c.provider, day)
		var in int64
		if e, ok := m.Entry(); ok {
			in, _ = e.rate(Input, Standard, 0)
		}
		if in != c.in || m.Override != c.override {
			t.Errorf("%s on %s: got %d override %v, want %d %v", c.model, c.day, in, m.Override, c.in, c.override)
		}
	}
	if m, _ := book(t).Resolve("new", "", time.Now()); m.Override {
		t.Error("With changed the book it was called on")
	}
	more, err := book(t).With([]Override{o("z", "", 1)}).Add(textOf(t, Table{Date: "2026-09-01", Entries: []Entry{row("new", 1, 1)}}))
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := more.Resolve("z", "", time.Time{}); !ok || !m.Override {
		t.Error("Add lost the overrides")
	}
}

func TestOverrideJSON(t *testing.T) {
	in := Override{Model: "m", From: "2026-02-01", Rates: []Rate{{Input, Standard, 0, 3}, {Output, Batch, 200_000, 4}, {Output, Standard, 0, 5}}, Factors: []Factor{{"fast", 2_000_000}}}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Override
	if err := json.Unmarshal(b, &out); err != nil || fmt.Sprint(out) != fmt.Sprint(in) || out.Validate() != nil {
		t.Errorf("%s: got %v, %v", b, out, err)
	}
	for _, bad := range []Override{
		{}, {Model: "m"}, {Model: "m", From: "soon", Rates: in.Rates}, {Model: "m", Rates: []Rate{{Input, Standard, 0, 1}}},
		{Model: "m", Rates: append([]Rate{{Input, Standard, 0, -1}}, in.Rates...)}, {Model: "m", Rates: in.Rates, Factors: []Factor{{"fast", 0}}},
		{Model: "m", Rates: []Rate{{Input, Standard, 200_000, 1}, {Output, Standard, 200_000, 1}}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestAmbiguity(t *testing.T) {
	b := New(Table{Date: "2026-01-01", Entries: []Entry{
		row("a/same", 1, 2), row("b/same", 1, 2), row("a/other", 1, 2), row("b/other", 1, 3),
		row("gpt-5.5", 1, 1), row("v1.2", 1, 1), row("v12", 2, 2), {Key: "c/other", Provider: "c"},
	}})
	for _, c := range []struct{ model, provider, key, reason string }{
		{"same", "", "a/same", ""},
		{"other", "", "", "no price for model other: it could be any of a/other, b/other, c/other"},
		{"other", "b", "b/other", ""},
		{"other", "c", "c/other", "no price for model other: listed without a price as c/other"},
		{"V-1-2", "", "", "no price for model V-1-2: it could be any of v1.2, v12"},
		{"gpt-5.5-codex", "", "", "no price for model gpt-5.5-codex"},
		{"gpt-5", "", "", "no price for model gpt-5"},
		{"my-gpt-5.5", "", "", "no price for model my-gpt-5.5"},
		{"gpt-5.5-12345678", "", "", "no price for model gpt-5.5-12345678"}, // no date
		{"gpt-5.5-2026-04-23", "", "gpt-5.5", ""},
		{"[1m]", "", "", "no price for model [1m]"},
		{"///", "x", "", "no price for model ///"},
	} {
		m, ok := b.Resolve(c.model, c.provider, time.Time{})
		if m.Key != c.key || m.Reason != c.reason || ok != (c.reason == "") {
			t.Errorf("%s (%s): got %q, %q", c.model, c.provider, m.Key, m.Reason)
		}
	}
}

// Every key of the shipped table finds itself, and nothing else under its own name.
func TestEveryKeyResolves(t *testing.T) {
	for _, tab := range Default().Tables() {
		day, _ := time.Parse(time.DateOnly, tab.Date)
		for _, e := range tab.Entries {
			m, ok := Default().Resolve(e.Key, "", day)
			if m.Key != e.Key || m.Rule != RuleExact || ok != e.Priced() || m.TableDate != tab.Date {
				t.Fatalf("%s: got %+v", e.Key, m)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	b := Default().With([]Override{{Model: "o", Rates: row("", 1, 1).Rates}})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 { // more names than the cache takes
				b.Resolve(fmt.Sprintf("model-%d-%d", g, i), "", time.Time{})
				if m, ok := b.Resolve("o", "", time.Time{}); !ok || !m.Override {
					t.Errorf("got %+v", m)
				}
			}
		})
	}
	wg.Wait()
	if n := b.cached.Load(); n > maxCached+8 {
		t.Errorf("cache holds %d names", n)
	}
}

// A match never adds letters or digits to the key or takes any away, except what the rules name.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"gpt-5.5-codex", "claude-sonnet-4-5[1m]", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "a/b/c", "Gemini 3.5 Flash (Medium)", "claude-opus-4@20250514", "", "\xff"} {
		f.Add(s, "")
		f.Add(s, "openrouter")
	}
	f.Fuzz(func(t *testing.T, model, provider string) {
		m, ok := Default().Resolve(model, provider, time.Time{})
		if !ok {
			if m.Reason == "" {
				t.Fatal("no row and no reason")
			}
			return
		}
		short, _ := undated(undecorated(model))
		key, _ := undated(m.Key)
		allowed := []string{canonical(model), canonical(undecorated(model)), canonical(short)}
		if _, rest, cut := splitRegion(undecorated(model)); cut && m.Rule == RuleRegion {
			allowed = append(allowed, canonical(rest))
		}
		for _, a := range allowed {
			// Names such as "x/.." have no letters: they can only match by their spelling.
			if a == canonical(m.Key) || a == canonical(key) || strings.EqualFold(model, m.Key) {
				return
			}
		}
		t.Fatalf("%q (%q) priced as %q by %q", model, provider, m.Key, m.Rule)
	})
}

// TestMakers prices names without a provider as who makes the model does, before any reseller, and knows providers by all their
// spellings.
func TestMakers(t *testing.T) {
	for _, c := range []struct {
		model, key string
		rule       Rule
	}{
		{"qwen3-max", "dashscope/qwen3-max", RuleMaker},
		{"qwen3-coder-plus", "dashscope/qwen3-coder-plus", RuleMaker},
		{"kimi-k2.6", "moonshot/kimi-k2.6", RuleMaker},
		{"glm-4.6", "zai/glm-4.6", RuleMaker},
		{"minimax-m2", "minimax/MiniMax-M2", RuleMaker},
		{"grok-code-fast-1", "xai/grok-code-fast-1", RuleMaker},
		{"deepseek-v3.2", "deepseek/deepseek-v3.2", RuleMaker}, // Bedrock's deepseek.v3.2 costs twice as much
		{"DeepSeek.V3.2[1m]", "deepseek.v3.2", RuleUndecorated},
		{"moonshot-ai/kimi-k2.6", "moonshot/kimi-k2.6", RuleCanonical},
		{"alibaba/qwen3-max", "dashscope/qwen3-max", RuleCanonical},
		{"openrouter/qwen/qwen3-coder-plus", "openrouter/qwen/qwen3-coder-plus", RuleExact},
		{"moonshot-ai/kimi-k2.7-code", "", ""},
		{"kimi-code/kimi-for-coding", "", ""},
		{"devstral-2512", "mistral/devstral-2512", RuleMaker},
		{"codestral-latest", "mistral/codestral-latest", RuleMaker}, // another row of that name is free
		{"somebody/qwen3-max", "", ""},
		{"coder-model", "", ""},
	} {
		m, _ := Default().Resolve(c.model, "", time.Time{})
		if m.Key != c.key || m.Rule != c.rule {
			t.Errorf("%s: %s by %q, want %s by %q (%s)", c.model, m.Key, m.Rule, c.key, c.rule, m.Reason)
		}
	}
	// What the maker lists without a price is a reseller's to price.
	b := New(Table{Date: "2026-01-01", Entries: []Entry{{Key: "dashscope/qwen9", Provider: "dashscope"}, row("reseller/qwen9", 1, 2)}})
	if m, _ := b.Resolve("qwen9", "", time.Time{}); m.Key == "dashscope/qwen9" && m.Rule == RuleMaker {
		t.Errorf("%+v", m)
	}
}

// TestVariants prices the names that editors and gateways give to ways of using a model: of Claude for thinking, the newest release, the
// long context and the fast mode, of Gemini for previews.
func TestVariants(t *testing.T) {
	for _, c := range []struct {
		model, provider, key string
		rule                 Rule
	}{
		{"claude-sonnet-4-latest", "anthropic", "claude-sonnet-4-20250514", RuleDated},
		{"claude-sonnet-4-5-thinking-latest", "anthropic", "claude-sonnet-4-5", RuleUndecorated},
		{"claude-sonnet-4-5-1m-context-latest", "zed.dev", "claude-sonnet-4-5", RuleUndecorated},
		{"claude-opus-4.6-1m", "", "claude-opus-4-6", RuleUndecorated},
		{"claude-opus-4-5-20251101-thinking", "", "claude-opus-4-5-20251101", RuleUndecorated},
		{"Claude-Opus-4-6-thinking", "", "claude-opus-4-6", RuleUndecorated},
		{"claude-3-7-sonnet-latest", "", "claude-3-7-sonnet-20250219", RuleDated}, // a reseller has that name, at another price
		{"claude-3-7-sonnet-latest", "deepinfra/anthropic", "deepinfra/anthropic/claude-3-7-sonnet-latest", RuleExact},
		{"claude-opus-4.8-fast", "", "claude-opus-4-8", RuleFast},
		{"anthropic/claude-opus-4-6-fast", "", "claude-opus-4-6", RuleFast},
		{"claude-opus-4.6-thinking-fast", "", "claude-opus-4-6", RuleFast},
		{"claude-opus-4.6-fast", "", "claude-opus-4-6", RuleFast},                                    // although a reseller lists the name, without a price
		{"claude-opus-4.6-fast", "github-copilot", "github_copilot/claude-opus-4.6-fast", RuleExact}, // which counts for itself
		{"claude-sonnet-4-5-fast", "", "", ""},                                                       // has no fast mode
		{"claude-opus-4-8-fast-fast", "", "", ""},
		{"kimi-k2-thinking", "", "moonshot/kimi-k2-thinking", RuleMaker}, // a model of its own
		{"gemini-3-pro", "", "gemini-3-pro-preview", RulePreview},        // not a reseller's, who states no price of the cache
		{"gemini-3-flash", "google", "gemini/gemini-3-flash-preview", RulePreview},
		{"Gemini 3 Pro (High)", "", "gemini-3-pro-preview", RulePreview},
		{"gemini-3.5-flash", "", "gemini-3.5-flash", RuleExact},
		{"gemini-3-pro", "github-copilot", "github_copilot/gemini-3-pro-preview", RulePreview}, // without a price
		{"gemini-9", "", "", ""},
	} {
		m, _ := Default().Resolve(c.model, c.provider, time.Time{})
		if m.Key != c.key || m.Rule != c.rule {
			t.Errorf("%s of %q: %s by %q, want %s by %q (%s)", c.model, c.provider, m.Key, m.Rule, c.key, c.rule, m.Reason)
		}
	}
	b := Default().With([]Override{{Model: "claude-opus-4-8", Rates: row("", 1, 2).Rates}, {Model: "gemini-3-pro-preview", Rates: row("", 3, 4).Rates}})
	for model, override := range map[string]bool{"claude-opus-4-8-thinking": true, "claude-opus-4-8-fast": false, "gemini-3-pro": false} {
		if m, ok := b.Resolve(model, "", time.Time{}); !ok || m.Override != override {
			t.Errorf("%s: %+v", model, m)
		}
	}
}

// TestZeroElsewhere leaves names without a provider unpriced that only somebody else's row of 0 fits: OpenRouter's "auto" is not
// Cursor's or Copilot's, and a preview that is free in one place is not in another.
func TestZeroElsewhere(t *testing.T) {
	for _, c := range []struct{ model, provider, key string }{
		{"auto", "", ""}, {"free", "", ""}, {"auto", "openrouter/openrouter", "openrouter/openrouter/auto"},
		{"mistral", "", ""}, {"mistral", "ollama", "ollama/mistral"},
		{"llama2:7b", "", ""},                      // nor is it the price of the one reseller that asks for money
		{"glm-4.5-flash", "", "zai/glm-4.5-flash"}, // its maker says that it is free
		{"deepseek-v3-2-251201", "", "deepseek-v3-2-251201"},
	} {
		if m, ok := Default().Resolve(c.model, c.provider, time.Time{}); m.Key != c.key || ok != (c.key != "") {
			t.Errorf("%s (%s): %s by %q, want %q (%s)", c.model, c.provider, m.Key, m.Rule, c.key, m.Reason)
		}
	}
}

// TestProviderSpellings finds the rows of a provider that agents call by other words than the tables do.
func TestProviderSpellings(t *testing.T) {
	for _, c := range []struct{ provider, model, key string }{
		{"novita-ai", "deepseek/deepseek-v3.2", "novita/deepseek/deepseek-v3.2"}, // not DeepSeek's own price
		{"cloudflare-workers-ai", "@cf/openai/gpt-oss-120b", "cloudflare/@cf/openai/gpt-oss-120b"},
		{"azure-cognitive-services", "gpt-oss-120b", "azure_ai/gpt-oss-120b"},
		{"azure-openai-responses", "codex-mini", "azure/codex-mini"},
		{"friendli", "meta-llama-3.1-8b-instruct", "friendliai/meta-llama-3.1-8b-instruct"},
		{"amazon-bedrock", "deepseek-v3.2", "deepseek.v3.2"},
		{"opencode", "deepseek-v3.2", ""}, // a gateway of its own: neither DeepSeek's nor Bedrock's price
	} {
		if m, _ := Default().Resolve(c.model, c.provider, time.Time{}); m.Key != c.key {
			t.Errorf("%s of %s: %s by %q, want %q (%s)", c.model, c.provider, m.Key, m.Rule, c.key, m.Reason)
		}
	}
}
