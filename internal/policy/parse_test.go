package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestExamplesParse(t *testing.T) {
	if len(Examples()) < 4 {
		t.Fatalf("examples: %v", Examples())
	}
	for _, name := range Examples() {
		src, err := Example(name)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := Parse(src); err != nil || p.Empty() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Example("../policy"); err == nil {
		t.Error("no error for an unknown example")
	}
}

func TestEmpty(t *testing.T) {
	for _, src := range []string{"", "# nothing\n", "---\n", "rules:\n", "rules: []\n", "version: 1\n", "~"} {
		p, err := Parse([]byte(src))
		if err != nil || !p.Empty() {
			t.Errorf("%q: %v", src, err)
			continue
		}
		d := apply(p, []Run{{ID: "r"}}, now)
		if d[0].Action != Keep || d[0].Reasons[0] != "no rule matches" {
			t.Errorf("%q: %v", src, d)
		}
	}
}

// Each mistake has its line and column, and says what is wrong.
func TestMistakes(t *testing.T) {
	rule := func(s string) string {
		return "rules:\n  - name: a\n    " + strings.ReplaceAll(s, "\n", "\n    ") + "\n"
	}
	for _, c := range []struct{ src, want, hint string }{
		// Syntax.
		{"rules: [\n", "2:1: did not find expected node content", ""},
		{"rules:\n\t- x\n", "2:1: found character that cannot start any token", ""},
		{"a: b: c\n", "1:5: mapping values are not allowed in this context", ""},
		{"rules: []\n---\nrules: []\n", "2:1: a second document begins here", ""},
		{"rules: *x\n", "1:8: unknown anchor 'x' referenced", ""},
		{"- a\n", "1:1: the policy must be a mapping", ""},
		{"rules: 5\n", "1:8: rules must be a list", ""},
		{"rules:\n  - 5\n", "2:5: a rule must be a mapping", ""},
		{"x: &a 1\nversion: *a\n", "1:1: unknown key", ""},
		{"version: 2\n", `1:10: version cannot be "2"`, "one of 1"},
		// Keys.
		{"rulez: []\n", `1:1: unknown key "rulez" in the policy`, "did you mean rules?"},
		{rule("action: prune\nmatch: {tags: x}"), `4:13: unknown key "tags" in match`, "did you mean tag?"},
		{rule("action: prune\nkeep: 3"), `4:5: unknown key "keep" in a rule`, "known keys: action, by, children"},
		{rule("action: prune\naction: keep"), `4:5: duplicate key "action" in a rule (first in line 3)`, ""},
		{rule("action: prune\nmatch: {format: {x: y}}"), "4:21: format must be a single value", ""},
		{rule("action: prune\nmatch:"), "4:11: match must be a mapping", ""},
		{"rules:\n  - action: prune\n", "2:5: a rule needs a name", ""},
		{"rules:\n  - {name: a, match: {tag: x}, action: keep}\n  - {name: a, match: {tag: y}, action: keep}\n", `3:6: the name "a" is already used by the rule in line 2`, ""},
		// Values.
		{rule("action: purge"), `3:13: action cannot be "purge"`, "one of keep, thin, prune"},
		{rule("action: prune\nmax_age: 30"), `4:14: max_age: "30" is not a duration`, "30d"},
		{rule("action: prune\nmax_age: -3d"), `4:14: max_age: "-3d" is not a duration`, ""},
		{rule("action: prune\nmax_age: 9999y"), `4:14: max_age: "9999y" is too long`, ""},
		{rule("action: prune\nmax_count: many"), `4:16: max_count cannot be "many"`, "a whole number"},
		{rule("action: prune\nkeep_last: -1"), `4:16: keep_last cannot be "-1"`, ""},
		{rule("action: prune\nmax_bytes: 3 apples"), `4:16: max_bytes: "3 apples" is not a size`, "64KB"},
		{rule("action: prune\nkeep_last: 1\nper: run"), `5:10: per cannot be "run"`, "thread"},
		{rule("action: prune\nmatch: {title: \"[a\"}"), `4:20: title: bad pattern "[a"`, ""},
		{rule("action: prune\nmatch: {outcome: success}"), `4:22: outcome cannot be "success"`, "succeeded"},
		{rule("action: prune\nmatch: {tag: []}"), "4:18: no run can match: the list of tag is empty", ""},
		{rule("action: prune\nmatch: {cost: cheap}"), `4:19: "cheap" is not an amount of dollars`, "US dollars"},
		{rule("action: prune\nmatch: {size: \"=>5\"}"), `4:19: "=>" is not a comparison`, ""},
		// Ranges.
		{rule("action: prune\nmatch: {age: 30d..7d}"), "4:18: no value is in the range 30d..7d", ""},
		{rule("action: prune\nmatch: {older_than: 30d, younger_than: 7d}"), "4:44: no run can match: 7d contradicts", ""},
		{rule("action: prune\nmatch: {size: \"<0\"}"), "4:19: no value is in the range <0", ""},
		{rule("action: prune\nmatch: {larger_than: 10MB, smaller_than: 10MB}"), "4:46: no run can match", ""},
		{rule("action: prune\nmatch: {tag: x, not: {tag: \"*\"}}"), "4:12: no run can match: not excludes all", ""},
		{rule("action: prune\nmatch: {tag: x, not: {}}"), "4:26: no run can match: an empty not", ""},
		{rule("action: prune\nkeep_last: 10\nmax_count: 5"), "5:5: impossible: max_count 5 is below keep_last 10", ""},
		{rule("action: prune\nkeep_within: 60d\nmax_age: 30d"), "5:5: impossible: max_age 30d is below keep_within 60d", ""},
		{rule("tiers:\n- {after: 30d, action: thin, tier: search}\n- {after: 7d, action: prune}"), "5:7: impossible: this tier begins 7d, not after the previous one (30d)", ""},
		{rule("keep_within: 30d\ntiers:\n- {after: 7d, action: prune}"), "5:7: impossible: this tier begins 7d, below keep_within 30d", ""},
		{rule("action: prune\nkeep_within: 5d\nmax_age: 9d\nexcept:\n- {match: {tag: x}, max_age: 3d}"), "7:7: impossible: max_age 3d is below keep_within 5d", ""},
		// Combinations without effect.
		{rule("match: {tag: x}"), "2:5: a rule needs an action or tiers", ""},
		{rule("action: keep\nkeep_last: 5"), "4:5: keep_last has no effect with action keep", ""},
		{rule("action: keep\nledger: drop"), "4:5: ledger has no effect with action keep", ""},
		{rule("action: thin"), "3:5: thin needs a tier", "search, payloads or ledger"},
		{rule("action: prune\ntier: search"), "4:5: tier has no effect with action prune", ""},
		{rule("action: thin\ntier: search\nover: 5KB"), "5:5: over has no effect without tier payloads", ""},
		{rule("action: thin\ntier: search\nledger: drop"), "5:5: ledger has no effect: this rule prunes nothing", ""},
		{rule("action: prune\nper: thread\nmax_age: 3d"), "4:5: per has no effect without a limit that counts", ""},
		{rule("action: prune\nby: ended"), "4:5: by has no effect without a limit", "of any age"},
		{rule("action: prune\ntiers:\n- {after: 1d, action: prune}"), "3:5: action cannot be combined with tiers", ""},
		{rule("max_age: 3d\ntiers:\n- {after: 1d, action: prune}"), "3:5: max_age cannot be combined with tiers", ""},
		{rule("tiers: []"), "3:5: tiers is empty", ""},
		{rule("tiers:\n- {action: prune}"), "4:7: a tier needs after", ""},
		{rule("tiers:\n- {after: 1d}"), "4:7: an action is missing", ""},
		{rule("tiers:\n- {after: 1d, action: thin, tier: payloads}\n- {after: 2d, action: thin, tier: search}"), "5:7: a later tier must remove more", ""},
		{rule("action: prune\nmax_age: 3d\nexcept:\n- {max_age: 5d}"), "6:7: an exception needs match", ""},
		{rule("action: prune\nmax_age: 3d\nexcept:\n- {match: {tag: x}}"), "6:7: an exception needs max_age or keep_within", ""},
		{rule("action: prune\nmax_age: 3d\nexcept:\n- {match: {tag: \"x*\"}, max_age: 5d}\n- {match: {tag: xy}, max_age: 6d}"), "7:7: this exception can never match", ""},
		// Rules that get nothing.
		{"rules:\n  - {name: a, action: keep}\n  - {name: b, match: {tag: x}, action: prune}\n", `3:5: rule "b" can never match: rule "a" in line 2 matches every run that it could`, "narrower"},
	} {
		_, err := Parse([]byte(c.src))
		if err == nil {
			t.Errorf("%s\n  no error, want %s", c.src, c.want)
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
			t.Errorf("%s\n  not an *Error with a place: %v", c.src, err)
			continue
		}
		if got := e.Error(); !strings.HasPrefix(got, "policy:"+c.want) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s\n  got  %s (%s)\n  want %s (%s)", c.src, got, e.Hint, c.want, c.hint)
		}
	}
}

// All mistakes come at once, in the order of the source.
func TestAllMistakes(t *testing.T) {
	_, err := Parse([]byte("version: 3\nrules:\n  - name: a\n    action: prune\n    max_age: soon\n  - name: a\n    action: thin\n"))
	var all Errors
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var at []string
	for _, e := range all {
		at = append(at, fmt.Sprintf("%d:%d", e.Line, e.Column))
	}
	if got := strings.Join(at, " "); got != "1:10 5:14 6:5 6:5 7:5" && got != "1:10 5:14 6:5 7:5" {
		t.Errorf("got %s\n%v", got, err)
	}
}

// When an earlier rule takes all of a later one's runs is decided surely or not at all.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		first, second string
		covers        bool
	}{
		{"{}", "{tag: x}", true},
		{"{tag: x}", "{}", false},
		{"{tag: x}", "{tag: x, format: y}", true},
		{"{tag: [x, y]}", "{tag: y}", true},
		{"{tag: y}", "{tag: [x, y]}", false},
		{"{id: 'ab*'}", "{id: 'abc-*'}", true},
		{"{id: 'ab*'}", "{id: abc}", true},
		{"{id: 'abc*'}", "{id: 'ab*'}", false},
		{"{id: 'a?c'}", "{id: abc}", true},
		{"{id: 'a?c'}", "{id: 'a*'}", false},
		{"{title: '*'}", "{title: 'x*'}", true},
		{"{title: '*'}", "{title: ''}", false},
		{"{title: ['*', '']}", "{title: ['', x]}", true},
		{"{older_than: 7d}", "{older_than: 30d}", true},
		{"{older_than: 30d}", "{older_than: 7d}", false},
		{"{age: 7d..30d}", "{age: 10d..20d}", true},
		{"{age: 7d..30d}", "{older_than: 8d}", false},
		{"{cost: '>1'}", "{cost: '>2'}", true},
		{"{size: '>1KB'}", "{tag: x}", false},
		{"{format: a, not: {tag: x}}", "{format: a}", false},
		{"{format: a, not: {tag: x}}", "{format: a, not: {tag: [x, y]}}", true},
		{"{format: a, not: {tag: [x, y]}}", "{format: a, not: {tag: x}}", false},
		{"{format: a}", "{format: a, not: {tag: x}}", true},
		{"{project: '/src/*'}", "{project: /src/a/b}", true},
	} {
		src := fmt.Sprintf("rules:\n  - {name: a, match: %s, action: keep}\n  - {name: b, match: %s, action: prune}\n", c.first, c.second)
		_, err := Parse([]byte(src))
		if got := err != nil; got != c.covers {
			t.Errorf("%s then %s: %v", c.first, c.second, err)
		}
	}
}

func TestValues(t *testing.T) {
	for s, want := range map[string]time.Duration{"30d": 30 * day, "1d12h": 36 * time.Hour, "2w": 14 * day, "1y": 365 * day, "0s": 0, "90m": 90 * time.Minute} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for s, want := range map[string]int64{"64KB": 64_000, "1.5GB": 1_500_000_000, "1MiB": 1 << 20, "7": 7, "2 tb": 2e12} {
		if got, err := ParseBytes(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for s, want := range map[string]int64{"0.01": 10_000_000, "$3": 3_000_000_000, "0.000000001": 1} {
		if got, err := parseCost(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "$", "-1", "1.0000000001", "1e3", "99999999999999999999", "."} {
		if got, err := parseCost(s); err == nil {
			t.Errorf("%q read as %d", s, got)
		}
	}
}

// No input makes Parse panic, every error has a place, and what parses can be applied.
func FuzzParse(f *testing.F) {
	for _, name := range Examples() {
		src, err := Example(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("rules:\n  - {name: a, match: {age: 1d..2d, not: {cost: '<1'}}, action: thin, tier: payloads, over: 1KB}\n"))
	f.Add([]byte("a: &a [*a]\n<<: *a\n"))
	runs := []Run{{ID: "a", Started: now.Add(-100 * day), Tags: []string{"x"}, Bytes: 10}, {ID: "b", Parent: "a", Pinned: true}, {ID: "c", Parent: "a"}}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse(src)
		if err != nil {
			var all Errors
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatalf("not Errors: %v", err)
			}
			for _, e := range all {
				if e.Line < 1 || e.Column < 1 || e.Message == "" {
					t.Fatalf("no place or no message: %+v", e)
				}
			}
			return
		}
		ds := apply(p, runs, now)
		if len(ds) != len(runs) || ds[1].Action != Keep {
			t.Fatalf("got %v", ds)
		}
		for _, d := range ds {
			if len(d.Reasons) == 0 {
				t.Fatalf("no reason: %+v", d)
			}
		}
	})
}
