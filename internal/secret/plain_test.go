package secret

import (
	"cmp"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestFindPlain compares Find with plain matching of every rule around its keywords, in texts made of examples of all rules, whole and
// mutated.
func TestFindPlain(t *testing.T) {
	rng := seedtest.Rand(t)
	widest := slices.MaxFunc(rules(), func(a, b *rule) int { return cmp.Compare(len(a.Keywords), len(b.Keywords)) })
	value := "q7Rf9Zt2" + "Lk8WmX4"
	texts := []string{
		"a token, and a \u212aey = " + value, "a key, and a \u017fecret = " + value, // letters that are k and s to (?i)
		"key=" + value + `token" = "` + value + `"`,                                                       // a keyword within a match
		strings.Repeat("curl ", 500) + strings.Repeat("\n.", 9) + "curl -u " + value + ":" + value + " x", // many long tries
		"key=" + strings.Repeat(value+"/", wordLimit/10),                                                  // a word that is cut
	}
	for range 300 {
		text := ""
		for range rng.IntN(8) {
			r := rules()[rng.IntN(len(rules()))]
			if rng.IntN(4) == 0 {
				r = widest
			}
			re, err := syntax.Parse(strings.Replace(r.Regex, lead, "", 1), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			text += pick(rng, slices.Concat(gaps, r.Keywords)) + mutate(rng, example(rng, re)) + pick(rng, gaps) + strings.Repeat("word ", rng.IntN(2)*rng.IntN(150))
		}
		texts = append(texts, text)
	}
	found := map[string]bool{}
	for _, text := range texts {
		got, want := Find(text), plain(text)
		if !slices.Equal(got, want) {
			t.Fatalf("%.3000q:\n%v, want %v", text, got, want)
		}
		for _, m := range got {
			found[m.Rule] = true
		}
	}
	if len(found) < len(rules())/3 {
		t.Errorf("only %d of %d rules have found anything", len(found), len(rules()))
	}
}

// plain is Find without any haste.
func plain(text string) []Match {
	b := []byte(text)
	for i, c := range b {
		b[i] = lower[c]
	}
	folded := string(b)
	var all []Match
	for _, r := range rules() {
		r.once.Do(r.compile)
		slow := rule{Rule: r.Rule, common: r.common, pattern: r.pattern, allow: r.allow}
		slow.once.Do(func() {})
		var around []window
		for at := range folded {
			for _, k := range r.Keywords {
				if !strings.HasPrefix(folded[at:], k) {
					continue
				}
				end := at + len(k) + after
				if r.long {
					end = at + len(k) + afterLong
				}
				w := window{start: max(at-before, 0), end: wordEnd(text, min(end, len(text)))}
				if n := len(around) - 1; n >= 0 && w.start <= around[n].end {
					around[n].end = max(around[n].end, w.end)
				} else {
					around = append(around, w)
				}
			}
		}
		for _, w := range around {
			all = slow.find(all, text, w)
		}
	}
	return join(all)
}

func wordEnd(text string, at int) int {
	limit := min(at+wordLimit, len(text))
	if i := strings.IndexAny(text[at:limit], " \t\r\n\"'`"); i >= 0 {
		return at + i + 1
	}
	return limit
}

// gaps are what may stand between two credentials, or in the place of a letter.
var gaps = []string{" ", "\n", `"`, "\\n", "=", "-", "_", "x", "é", "\u017f", "\u212a", "文", "\xff", "key", "token: ", "s.", "ey"}

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

// mutate changes the case of letters, or replaces, adds and cuts out a few bytes, or does nothing.
func mutate(rng *rand.Rand, text string) string {
	switch rng.IntN(3) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		for range rng.IntN(3) {
			at := rng.IntN(len(text) + 1)
			text = text[:at] + pick(rng, gaps) + text[min(at+rng.IntN(2), len(text)):]
		}
	}
	return text
}

// example returns a text that an expression matches.
func example(rng *rand.Rand, re *syntax.Regexp) (text string) {
	least, most := 1, 1
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		n := rng.IntN(len(re.Rune)/2) * 2
		return string(re.Rune[n] + rng.Int32N(min(re.Rune[n+1]-re.Rune[n], 100)+1))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string('a' + rng.Int32N(26))
	case syntax.OpAlternate:
		return example(rng, re.Sub[rng.IntN(len(re.Sub))])
	case syntax.OpStar:
		least, most = 0, 5
	case syntax.OpPlus:
		most = 5
	case syntax.OpQuest:
		least = 0
	case syntax.OpRepeat:
		least, most = re.Min, max(re.Max, re.Min)
	}
	for range least + rng.IntN(min(most-least, 10)+1) {
		for _, sub := range re.Sub {
			text += example(rng, sub)
		}
	}
	return text
}
