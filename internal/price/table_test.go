package price

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

const upstream = `{
 "sample_spec": {"input_cost_per_token": "a number", "mode": "one of: chat, embedding"},
 "b/model": {"mode": "chat", "litellm_provider": "b", "input_cost_per_token": 1.25e-06, "output_cost_per_token": 4.5003000000000007e-07,
   "cache_read_input_token_cost": null, "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 1.2e-05,
   "input_cost_per_token_above_272k_tokens_priority": 1e-05, "output_cost_per_token_batches": 0,
   "input_cost_per_audio_token": 1e-4, "supports_vision": true, "provider_specific_entry": {"fast": 6.0, "us": 1.1, "schema": "x"}},
 "a": {"mode": "responses", "litellm_provider": "a", "tiered_pricing": [
   {"input_cost_per_token": 1e-06, "output_cost_per_token": 5e-06, "range": [0, 32000.0]},
   {"input_cost_per_token": 2e-06, "output_cost_per_token": 6e-06, "range": [32000.0, 128000.0]}]},
 "d": {"mode": "chat", "litellm_provider": "d", "input_cost_per_token": 5.5e-07, "output_cost_per_token": 2.19e-06, "input_cost_per_token_cache_hit": 1.4e-07},
 "e": {"mode": "chat", "litellm_provider": "e", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "cache_read_input_token_cost": 0, "input_cost_per_token_cache_hit": 1.4e-07},
 "copilot/x": {"mode": "chat", "litellm_provider": "copilot"},
 "half": {"mode": "chat", "litellm_provider": "h", "input_cost_per_token": 1e-06},
 "picture": {"mode": "image_generation", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
 "wrong": {"mode": "chat", "input_cost_per_token": "1e-06", "output_cost_per_token": 1e-06},
 "minus": {"mode": "chat", "input_cost_per_token": -1e-06, "output_cost_per_token": 1e-06},
 "huge": {"mode": "chat", "input_cost_per_token": 1e999999999, "output_cost_per_token": 1e-06},
 "list": ["not", "an", "entry"]
}`

const wantTable = header + `
# date: 2026-08-01
# source: https://github.com/BerriAI/litellm model_prices_and_context_window.json
# licence: MIT, Berri AI
` + legend + "\n" +
	"a\ta\tinput=1000000 output=5000000 input@32000=2000000 output@32000=6000000\t\n" +
	"b/model\tb\tinput=1250000 output=450030 output.batch=0 cache_write_1h@200000=12000000 input@272000.priority=10000000\tfast=6000000 us=1100000\n" +
	"copilot/x\tcopilot\t\t\n" +
	"d\td\tinput=550000 output=2190000 cache_read=140000\t\n" +
	"e\te\tinput=1000000 output=2000000 cache_read=0\t\n" +
	"half\th\t\t\n"

func TestFromLiteLLM(t *testing.T) {
	for range 5 { // maps have no order: the table must have one
		got, skipped, err := FromLiteLLM(strings.NewReader(upstream), "2026-08-01")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Encode(&b, got); err != nil {
			t.Fatal(err)
		}
		if b.String() != wantTable {
			t.Fatalf("got:\n%s\nwant:\n%s", b.String(), wantTable)
		}
		want := "huge: input_cost_per_token: out of range; list: unusable types; minus: input_cost_per_token: not a decimal number; wrong: input_cost_per_token is not a number"
		if s := strings.Join(skipped, "; "); s != want {
			t.Fatalf("skipped %s\nwant    %s", s, want)
		}
	}
	for _, bad := range []string{"", "[]", "{}", "{"} {
		if _, _, err := FromLiteLLM(strings.NewReader(bad), "2026-08-01"); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if _, _, err := FromLiteLLM(strings.NewReader(upstream), "August"); err == nil {
		t.Error("bad date: no error")
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "line 1"},
		{"# other 1\n", "line 1"},
		{header + "\n", "date"},
		{header + "\n# date: 2026-02-30\n", "date"},
		{header + "\n# date: 2026-02-01\nno tabs\n", "line 3"},
		{header + "\n# date: 2026-02-01\nb\tp\t\t\na\tp\t\t\n", "line 4"},
		{header + "\n# date: 2026-02-01\na\tp\t\t\na\tp\t\t\n", "duplicate"},
		{header + "\n# date: 2026-02-01\na\tp\tcake=1\t\n", "unknown class"},
		{header + "\n# date: 2026-02-01\na\tp\tinput.slow=1\t\n", "unknown service"},
		{header + "\n# date: 2026-02-01\na\tp\tinput=-1\t\n", "bad price"},
		{header + "\n# date: 2026-02-01\na\tp\tinput@x=1\t\n", "bad price"},
		{header + "\n# date: 2026-02-01\na\tp\tinput=1.5\t\n", "bad price"},
		{header + "\n# date: 2026-02-01\na\tp\tinput=1\tfast=0\n", "bad factor"},
	} {
		if _, err := Parse(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.in, err, c.want)
		}
	}
}

// The shipped tables parse, are in canonical form, and cost a priced command almost nothing.
func TestShippedTables(t *testing.T) {
	files, err := shipped.ReadDir(".")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, f := range files {
		src, err := shipped.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		tab, err := Parse(bytes.NewReader(src))
		if err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		var b bytes.Buffer
		if err := Encode(&b, tab); err != nil || !bytes.Equal(b.Bytes(), src) {
			t.Errorf("%s: not what Encode writes (%v)", f.Name(), err)
		}
		if f.Name() != "prices_"+tab.Date+".tsv" {
			t.Errorf("%s holds the prices of %s", f.Name(), tab.Date)
		}
		if !strings.Contains(tab.Licence, "MIT") || tab.Source == "" || len(tab.Entries) < 2000 && !tab.Added {
			t.Errorf("%s: source %q, licence %q, %d models", f.Name(), tab.Source, tab.Licence, len(tab.Entries))
		}
	}
}

func BenchmarkDefault(b *testing.B) {
	src, err := shipped.ReadFile("prices_2026-08-01.tsv")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		t, err := parse(string(src))
		if err != nil {
			b.Fatal(err)
		}
		index(nil, []Table{t})
	}
}

func BenchmarkPrice(b *testing.B) {
	u := Request{Model: "claude-sonnet-4-5-20250929", Provider: "anthropic", Time: at("2026-08-02"),
		Input: k(10), Output: k(20), CacheRead: k(30000), CacheWrite: k(400)}
	for b.Loop() {
		if r := Default().Price(u); !r.NanoUSD.Known {
			b.Fatal(r.Reason)
		}
	}
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
	}{{"3", 3_000_000}, {"0.075", 75_000}, {"0", 0}, {"1000000", 1_000_000_000_000}, {"0.000001", 1}, {"3.1000000", 3_100_000}, {".5", 500_000}} {
		got, err := ParseUSDPerMillion(c.in)
		if err != nil || got != c.want {
			t.Errorf("%s: got %d, %v, want %d", c.in, got, err, c.want)
		}
		again, err := ParseUSDPerMillion(FormatUSDPerMillion(got))
		if err != nil || again != got {
			t.Errorf("%s: printed as %s, read as %d, %v", c.in, FormatUSDPerMillion(got), again, err)
		}
	}
	for _, bad := range []string{"", ".", "-1", "1e3", "0.0000001", "1000001", "3 USD", "NaN", "1.2.3"} {
		if n, err := ParseUSDPerMillion(bad); err == nil {
			t.Errorf("%q: read as %d", bad, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(wantTable)
	f.Add(header + "\n# date: 2026-02-01\na\tp\tinput@5.batch=1\tx=1 y=2\n")
	f.Fuzz(func(t *testing.T, src string) {
		tab, err := Parse(strings.NewReader(src))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Encode(&b, tab); err != nil {
			t.Fatal(err)
		}
		again, err := Parse(&b)
		if err != nil {
			t.Fatalf("what Encode wrote does not parse: %v", err)
		}
		tab.Source, tab.Licence = oneLine(tab.Source), oneLine(tab.Licence)
		if !reflect.DeepEqual(normal(tab), normal(again)) {
			t.Fatalf("print then parse is not identity:\n%v\n%v", tab, again)
		}
		New(tab).Resolve("a", "p", time.Time{})
	})
}

// normal takes nil and empty slices for the same.
func normal(t Table) Table {
	for i := range t.Entries {
		if len(t.Entries[i].Rates) == 0 {
			t.Entries[i].Rates = nil
		}
	}
	if len(t.Entries) == 0 {
		t.Entries = nil
	}
	return t
}
