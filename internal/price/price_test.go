package price

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

var k = transcript.Known

func at(day string) transcript.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return transcript.Time{UnixMicro: t.UnixMicro(), Valid: true}
}

// Every amount is worked out by hand from the row of the table of 2026-08-01 that the comment quotes, in USD
// per million tokens as the vendors' price pages give them (claude.com/pricing, openai.com/api/pricing,
// ai.google.dev/pricing, aws.amazon.com/bedrock/pricing); nano-USD = tokens * USD per million * 1000.
func TestPrice(t *testing.T) {
	day := at("2026-08-02")
	for _, c := range []struct {
		name  string
		u     Request
		nano  int64 // -1: unknown
		key   string
		rule  Rule
		flags string
		why   string // reason
	}{
		// claude-sonnet-4-5: in 3, out 15, read 0.30, write 3.75, 1 h write 6; above 200k: 6, 22.5, 0.60, 7.5, 12.
		{"input", Request{Model: "claude-sonnet-4-5", Input: k(1000), Output: k(0)}, 3_000_000, "claude-sonnet-4-5", RuleExact, "", ""},
		{"output", Request{Model: "claude-sonnet-4-5", Input: k(0), Output: k(1000)}, 15_000_000, "claude-sonnet-4-5", RuleExact, "", ""},
		{"cache read", Request{Model: "claude-sonnet-4-5", Input: k(0), Output: k(0), CacheRead: k(1000)}, 300_000, "claude-sonnet-4-5", RuleExact, "", ""},
		{"5 minute write", Request{Model: "claude-sonnet-4-5", Input: k(0), Output: k(0), CacheWrite: k(1000)}, 3_750_000, "claude-sonnet-4-5", RuleExact, "", ""},
		{"1 hour write", Request{Model: "claude-sonnet-4-5", Input: k(0), Output: k(0), CacheWrite1h: k(1000)}, 6_000_000, "claude-sonnet-4-5", RuleExact, "", ""},
		// 10*3 + 20*15 + 30*0.3 + 40*3.75 + 50*6 = 30+300+9+150+300 = 789 micro-USD
		{"all classes", Request{Model: "claude-sonnet-4-5", Input: k(10), Output: k(20), CacheRead: k(30), CacheWrite: k(40), CacheWrite1h: k(50), Reasoning: k(5)}, 789_000, "claude-sonnet-4-5", RuleExact, "", ""},
		// Prompt 200,000 is not above the threshold: 200000*3 + 1000*15 = 615,000 micro-USD.
		{"tier, below", Request{Model: "claude-sonnet-4-5", Input: k(200_000), Output: k(1000)}, 615_000_000, "claude-sonnet-4-5", RuleExact, "", ""},
		// One token more and the whole request, output too, is at the higher price: 200001*6 + 1000*22.5.
		{"tier, above", Request{Model: "claude-sonnet-4-5", Input: k(200_001), Output: k(1000)}, 1_222_506_000, "claude-sonnet-4-5", RuleExact, "long_prompt", ""},
		// Cached tokens are prompt: 1*6 + 100000*0.6 + 50000*7.5 + 50000*12 = 1,035,006.
		{"tier by cache", Request{Model: "claude-sonnet-4-5", Input: k(1), Output: k(0), CacheRead: k(100_000), CacheWrite: k(50_000), CacheWrite1h: k(50_000)}, 1_035_006_000, "claude-sonnet-4-5", RuleExact, "long_prompt", ""},
		// gpt-5.4: 2.5, 15, read 0.25; above 272k: 5, 22.5, 0.5; flex 1.25, 7.5, 0.13; batch 1.25, 7.5; priority 5, 30, 0.5.
		{"272k, below", Request{Model: "gpt-5.4", Input: k(272_000), Output: k(10)}, 680_150_000, "gpt-5.4", RuleExact, "", ""},
		{"272k, above", Request{Model: "gpt-5.4", Input: k(272_001), Output: k(10)}, 1_360_230_000, "gpt-5.4", RuleExact, "long_prompt", ""},
		{"flex", Request{Model: "gpt-5.4", Tier: "flex", Input: k(1000), Output: k(100), CacheRead: k(100)}, 2_013_000, "gpt-5.4", RuleExact, "", ""},
		{"priority", Request{Model: "gpt-5.4", Tier: "priority", Input: k(1000), Output: k(100), CacheRead: k(100)}, 8_050_000, "gpt-5.4", RuleExact, "", ""},
		// No batch price for cache reads: half of 0.25 as for input. 1000*1.25 + 100*7.5 + 100*0.125 = 2012.5.
		{"batch", Request{Model: "gpt-5.4", Tier: "batch", Input: k(1000), Output: k(100), CacheRead: k(100)}, 2_012_500, "gpt-5.4", RuleExact, "tier_price_derived", ""},
		{"fast as priority", Request{Model: "gpt-5.4", Speed: "fast", Input: k(1000), Output: k(0)}, 5_000_000, "gpt-5.4", RuleExact, "fast_as_priority", ""},
		{"eu residency", Request{Model: "gpt-5.4", Geo: "eu", Input: k(1000), Output: k(0)}, 2_750_000, "gpt-5.4", RuleExact, "", ""},
		{"unknown service", Request{Model: "gpt-5.4", Tier: "scale", Input: k(1000), Output: k(0)}, 2_500_000, "gpt-5.4", RuleExact, "service_tier_unpriced", ""},
		// No write price: as input.
		{"write without price", Request{Model: "gpt-5.4", Input: k(0), Output: k(0), CacheWrite: k(1000)}, 2_500_000, "gpt-5.4", RuleExact, "cache_write_assumed", ""},
		// claude-opus-4-6: 5, 25; fast x6, US inference x1.1: 1000*5*6.6 + 100*25*6.6 = 33000 + 16500.
		{"fast", Request{Model: "claude-opus-4-6", Speed: "fast", Input: k(1000), Output: k(100)}, 45_000_000, "claude-opus-4-6", RuleExact, "", ""},
		{"fast by name", Request{Model: "claude-opus-4.6-fast", Input: k(1000), Output: k(100)}, 45_000_000, "claude-opus-4-6", RuleFast, "", ""},
		{"fast by name and speed", Request{Model: "claude-opus-4.6-fast", Speed: "fast", Input: k(1000), Output: k(100)}, 45_000_000, "claude-opus-4-6", RuleFast, "", ""},
		{"fast and us", Request{Model: "claude-opus-4-6", Speed: "fast", Geo: "us", Input: k(1000), Output: k(100)}, 49_500_000, "claude-opus-4-6", RuleExact, "", ""},
		{"global", Request{Model: "claude-opus-4-6", Geo: "not_available", Tier: "standard", Speed: "standard", Input: k(1000), Output: k(100)}, 7_500_000, "claude-opus-4-6", RuleExact, "", ""},
		{"batch, half", Request{Model: "claude-opus-4-6", Tier: "batch", Input: k(1000), Output: k(100)}, 3_750_000, "claude-opus-4-6", RuleExact, "batch_half_assumed", ""},
		{"fast without price", Request{Model: "claude-sonnet-4-5", Speed: "fast", Input: k(1000), Output: k(0)}, 3_000_000, "claude-sonnet-4-5", RuleExact, "fast_unpriced", ""},
		// dashscope/qwen3-coder-plus: 1/5 up to 32k, 1.8/9 to 128k, 3/15 to 256k, 6/60 beyond.
		{"range, first", Request{Model: "dashscope/qwen3-coder-plus", Input: k(32_000), Output: k(10)}, 32_050_000, "dashscope/qwen3-coder-plus", RuleExact, "", ""},
		{"range, second", Request{Model: "dashscope/qwen3-coder-plus", Input: k(32_001), Output: k(10)}, 57_691_800, "dashscope/qwen3-coder-plus", RuleExact, "long_prompt", ""},
		{"range, last", Request{Model: "dashscope/qwen3-coder-plus", Input: k(300_000), Output: k(10)}, 1_800_600_000, "dashscope/qwen3-coder-plus", RuleExact, "long_prompt", ""},
		// dashscope/qwen-plus-latest: out 1.2, reasoning 4: 100 of 300 output tokens are reasoning: 200*1.2 + 100*4 = 640.
		{"reasoning apart", Request{Model: "dashscope/qwen-plus-latest", Input: k(0), Output: k(300), Reasoning: k(100)}, 640_000, "dashscope/qwen-plus-latest", RuleExact, "", ""},
		// vertex_ai/claude-sonnet-4-5@20250929 states no 1 h write above 200k: 6 * (6/3) = 12; 200001*12.
		{"1 h tier derived", Request{Model: "vertex_ai/claude-sonnet-4-5@20250929", Input: k(0), Output: k(0), CacheWrite1h: k(200_001)}, 2_400_012_000, "vertex_ai/claude-sonnet-4-5@20250929", RuleExact, "long_prompt tier_price_derived", ""},

		// Names.
		{"dated alias", Request{Model: "claude-opus-4-8-20260601", Input: k(1000), Output: k(0)}, 5_000_000, "claude-opus-4-8", RuleUndated, "", ""},
		{"dated row", Request{Model: "claude-sonnet-4", Input: k(1000), Output: k(0)}, 3_000_000, "claude-sonnet-4-20250514", RuleDated, "", ""},
		{"dots", Request{Model: "claude-sonnet-4.6", Input: k(1000), Output: k(0)}, 3_000_000, "claude-sonnet-4-6", RuleDashes, "", ""},
		{"case", Request{Model: "GPT-5.4", Input: k(1000), Output: k(0)}, 2_500_000, "gpt-5.4", RuleCase, "", ""},
		{"[1m]", Request{Model: "claude-opus-4-6[1m]", Input: k(1000), Output: k(0)}, 5_000_000, "claude-opus-4-6", RuleUndecorated, "", ""},
		{"provider prefix", Request{Model: "anthropic/claude-sonnet-4-5", Input: k(1000), Output: k(0)}, 3_000_000, "claude-sonnet-4-5", RuleCanonical, "", ""},
		{"provider apart", Request{Model: "anthropic/claude-sonnet-4.5", Provider: "openrouter", Input: k(1000), Output: k(0)}, 3_000_000, "openrouter/anthropic/claude-sonnet-4.5", RuleExact, "", ""},
		{"vertex date", Request{Model: "claude-sonnet-4-5@20250929", Input: k(1000), Output: k(0)}, 3_000_000, "claude-sonnet-4-5-20250929", RuleCanonical, "", ""},
		// us., eu., jp., au. are 10 % above global.
		{"region", Request{Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", Input: k(1000), Output: k(0)}, 3_300_000, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", RuleExact, "", ""},
		{"region, global", Request{Model: "global.anthropic.claude-sonnet-4-5-20250929-v1:0", Input: k(1000), Output: k(0)}, 3_000_000, "global.anthropic.claude-sonnet-4-5-20250929-v1:0", RuleExact, "", ""},
		{"region, converse", Request{Model: "converse/jp.anthropic.claude-haiku-4-5-20251001-v1:0", Input: k(1000), Output: k(0)}, 1_100_000, "jp.anthropic.claude-haiku-4-5-20251001-v1:0", RuleCanonical, "", ""},
		{"region without row", Request{Model: "au.anthropic.claude-fable-5", Input: k(1000), Output: k(0)}, 11_000_000, "anthropic.claude-fable-5", RuleRegion, "region_price_assumed", ""},
		{"never by substring", Request{Model: "gpt-5.5-codex", Input: k(1000), Output: k(0)}, -1, "", "", "", "no price for model gpt-5.5-codex"},
		{"deployment", Request{Model: "azure/our-deployment", Input: k(1000), Output: k(0)}, -1, "", "", "", "no price for model azure/our-deployment"},
		{"as Goose calls it", Request{Model: "claude-sonnet-4-5@20250929", Provider: "gcp_vertex_ai", Input: k(1000), Output: k(0)}, 3_000_000, "vertex_ai/claude-sonnet-4-5@20250929", RuleExact, "", ""},
		{"subscription", Request{Model: "gpt-5", Provider: "github-copilot", Input: k(1000), Output: k(0)}, -1, "github_copilot/gpt-5", RuleExact, "", "no price for model gpt-5: listed without a price as github_copilot/gpt-5"},
		{"own machine", Request{Model: "gpt-5", Provider: "lmstudio", Input: k(1000), Output: k(0)}, -1, "", "", "", "no price for model gpt-5"},
		{"no model", Request{Input: k(1000), Output: k(0)}, -1, "", "", "", "no model"},
		{"synthetic", Request{Model: "<synthetic>", Input: k(1000), Output: k(0)}, -1, "", "", "", "synthetic"},

		// Nothing, and unknown.
		{"zero price", Request{Model: "gemini/gemini-exp-1206", Input: k(1000), Output: k(1000)}, 0, "gemini/gemini-exp-1206", RuleExact, "zero_price", ""},
		{"stub", Request{Model: "claude-stub", Input: k(12), Output: k(3)}, 0, "", "", "stub", ""},
		{"no tokens", Request{Model: "no-such-model", Input: k(0), Output: k(0)}, 0, "", "", "", ""},
		{"no tokens, no model", Request{Input: k(0), Output: k(0), CacheRead: k(0)}, 0, "", "", "", ""},
		{"no counts", Request{Model: "gpt-5.4", CacheRead: k(5)}, -1, "", "", "", "no token counts"},
		{"output unknown", Request{Model: "gpt-5.4", Input: k(1000)}, 2_500_000, "gpt-5.4", RuleExact, "input_or_output_unknown", ""},
		{"negative", Request{Model: "gpt-5.4", Input: k(1000), Output: k(0), CacheRead: k(-1)}, 2_500_000, "gpt-5.4", RuleExact, "negative_tokens_ignored", ""},
		{"far too many", Request{Model: "gpt-5.4", Input: k(1<<63 - 1), Output: k(0)}, -1, "gpt-5.4", RuleExact, "long_prompt", "token count out of range"},
		{"too many", Request{Model: "gpt-5.4", Input: k(1 << 62), Output: k(0)}, -1, "gpt-5.4", RuleExact, "long_prompt", "token count out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.u.Time, c.u.Requests = day, k(1)
			r := Default().Price(c.u)
			got := int64(-1)
			if r.NanoUSD.Known {
				got = r.NanoUSD.N
			}
			if i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Amount < 0 }); i >= 0 {
				t.Errorf("line %v", r.Lines[i])
			}
			if flags := strings.Join(r.Flags, " "); got != c.nano || r.Match.Key != c.key || r.Match.Rule != c.rule || flags != c.flags || r.Reason != c.why {
				t.Errorf("got %d %q %q flags %q reason %q\nwant %d %q %q flags %q reason %q\nlines %v",
					got, r.Match.Key, r.Match.Rule, flags, r.Reason, c.nano, c.key, c.rule, c.flags, c.why, r.Lines)
			}
		})
	}
}

// A 150,000 token input with 100,000 tokens read from the cache and 1,000 of output, on a model with a
// threshold at 200,000. By the vendor's rule, which is ours, the prompt is 250,000 long and the whole request is
// at the higher price: 150000*6 + 100000*0.6 + 1000*22.5 = 982,500 micro-USD. Tools that apply the threshold
// marginally and to each class apart stay at the base price: 150000*3 + 100000*0.3 + 1000*15 = 495,000.
func TestLongPromptRule(t *testing.T) {
	const vendor, marginal = 982_500_000, 495_000_000
	u := Request{Model: "claude-sonnet-4-5", Time: at("2026-08-02"), Input: k(150_000), CacheRead: k(100_000), Output: k(1000), Requests: k(1)}
	if r := Default().Price(u); r.NanoUSD != k(vendor) || r.Above != 200_000 {
		t.Errorf("got %v above %d, want %d", r.NanoUSD, r.Above, vendor)
	}
	// The marginal figure is what the three classes cost in requests that are short each.
	var sum int64
	for _, c := range []Request{{Input: k(150_000), Output: k(0)}, {CacheRead: k(100_000), Input: k(0), Output: k(0)}, {Input: k(0), Output: k(1000)}} {
		c.Model, c.Time, c.Requests = u.Model, u.Time, u.Requests
		sum += Default().Price(c).NanoUSD.N
	}
	if sum != marginal {
		t.Errorf("marginal: got %d, want %d", sum, marginal)
	}
}

// Short prompts do not add up to a long one: 250,000 tokens of prompt are at the base price unless one request had them all, or
// several as many each.
func TestSumOfRequests(t *testing.T) {
	for _, c := range []struct {
		input    int64
		requests transcript.Count
		nano     int64
		flags    string
	}{
		{250_000, k(1), 1_500_000_000, "long_prompt"},
		{250_000, k(2), 750_000_000, "prompt_lengths_unknown"},
		{250_000, transcript.Count{}, 750_000_000, "prompt_lengths_unknown"},
		{200_000, transcript.Count{}, 600_000_000, ""},
		{400_000, k(2), 1_200_000_000, "prompt_lengths_unknown"},
		{400_002, k(2), 2_400_012_000, "long_prompt prompt_lengths_unknown"},
	} {
		r := Default().Price(Request{Model: "claude-sonnet-4-5", Time: at("2026-08-02"), Input: k(c.input), Output: k(0), Requests: c.requests})
		if flags := strings.Join(r.Flags, " "); r.NanoUSD != k(c.nano) || flags != c.flags {
			t.Errorf("%d in %v requests: got %v %q, want %d %q", c.input, c.requests, r.NanoUSD, flags, c.nano, c.flags)
		}
	}
}

// Amounts are exact in picodollars; the request is rounded once, half up, to nano-USD.
func TestRounding(t *testing.T) {
	b := New(Table{Date: "2026-01-01", Entries: []Entry{{Key: "m", Provider: "p", Rates: []Rate{
		{Input, Standard, 0, 250}, {Output, Standard, 0, 249}}, Factors: []Factor{{"us", 1_100_000}}}}})
	for _, c := range []struct {
		in, out int64
		geo     string
		want    int64
	}{
		{1, 0, "", 0},   // 250 p
		{2, 0, "", 1},   // 500 p
		{0, 2, "", 0},   // 498 p
		{1, 1, "", 0},   // 499 p: two lines of 250 and 249 are not rounded apart
		{6, 0, "", 2},   // 1500 p
		{2, 0, "us", 1}, // 550 p
		{0, 1, "us", 0}, // 273.9 p
	} {
		r := b.Price(Request{Model: "m", Geo: c.geo, Input: k(c.in), Output: k(c.out), Time: at("2026-02-01")})
		if r.NanoUSD != k(c.want) {
			t.Errorf("%d in %d out %s: got %v, want %d", c.in, c.out, c.geo, r.NanoUSD, c.want)
		}
	}
}

// Lines and factors explain the amount to the last picodollar.
func TestLinesAddUp(t *testing.T) {
	r := Default().Price(Request{Model: "claude-opus-4-6", Geo: "us", Speed: "fast", Time: at("2026-08-02"),
		Input: k(10), Output: k(20), CacheRead: k(30), CacheWrite: k(40), CacheWrite1h: k(50)})
	want := []Line{
		{Input, 10, 5_000_000, 330_000_000}, {Output, 20, 25_000_000, 3_300_000_000}, {CacheRead, 30, 500_000, 99_000_000},
		{CacheWrite, 40, 6_250_000, 1_650_000_000}, {CacheWrite1h, 50, 10_000_000, 3_300_000_000},
	}
	if !slices.Equal(r.Lines, want) || r.NanoUSD != k(8_679_000) {
		t.Errorf("got %v %v\nwant %v", r.Lines, r.NanoUSD, want)
	}
}

func TestShippedID(t *testing.T) {
	if got, want := shippedID(), digest(shippedTexts()...); got != want {
		t.Errorf("the shipped tables are %s, their texts %s", got, want)
	}
}
