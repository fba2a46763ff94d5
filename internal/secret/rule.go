package secret

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Rule describes one kind of secret. rules.ndjson, written by gen, has one as a JSON object on each line.
type Rule struct {
	ID          string   `json:"id"`
	Regex       string   `json:"regex"`
	SecretGroup int      `json:"secret_group,omitempty"` // the group of Regex that is the secret; 0 means the first that is not empty
	Entropy     float64  `json:"entropy,omitempty"`      // bits per character that a secret must exceed
	Keywords    []string `json:"keywords"`               // in lower case; the text must contain one
	Allow       []Allow  `json:"allow,omitempty"`        // exceptions
}

// Allow describes what looks like a secret but is none: text in which one of the patterns matches the target, or
// whose secret contains one of the stop words, which are in lower case.
type Allow struct {
	Target    string   `json:"target,omitempty"` // "" means the secret, "match" everything that Regex matched, "line" its lines
	Patterns  []string `json:"patterns,omitempty"`
	StopWords []string `json:"stop_words,omitempty"`
}

// Validate returns why a rule cannot be used, or nil.
func (r *Rule) Validate() error {
	pattern, err := regexp.Compile(r.Regex)
	if err != nil {
		return fmt.Errorf("rule %s: %w", r.ID, err)
	}
	if r.ID == "" || r.Regex == "" || r.SecretGroup > pattern.NumSubexp() {
		return fmt.Errorf("rule %q has no name, no pattern or no group %d", r.ID, r.SecretGroup)
	}
	if len(r.Keywords) == 0 || slices.ContainsFunc(r.Keywords, func(k string) bool { return len(k) < 2 }) {
		return fmt.Errorf("rule %s has no keyword, or one of a single byte", r.ID)
	}
	for _, a := range r.Allow {
		for _, p := range a.Patterns {
			if _, err := regexp.Compile(p); err != nil {
				return fmt.Errorf("rule %s: %w", r.ID, err)
			}
		}
	}
	return nil
}

// everywhere is the ID of the line with the exceptions that apply to every rule.
const everywhere = "*"

//go:embed rules.ndjson
var embedded string

// rule is a Rule, compiled on first use.
type rule struct {
	Rule
	common   *rule // exceptions for every rule
	long     bool  // its secrets may span many lines
	once     sync.Once
	pattern  func() *regexp.Regexp
	anchored *regexp.Regexp // matches at the beginning of a text only; nil unless every match begins with a keyword
	bounded  bool           // matches begin with a word boundary
	allow    []allow
}

type allow struct {
	Allow
	patterns []*regexp.Regexp
}

// rules parses the embedded table once.
var rules = sync.OnceValue(func() []*rule {
	common := &rule{}
	var all []*rule
	for line := range strings.Lines(embedded) {
		r := &rule{}
		if err := json.Unmarshal([]byte(line), &r.Rule); err != nil {
			panic("the embedded rules: " + err.Error()) // a test reads them all
		}
		if r.ID == everywhere {
			common = r
			continue
		}
		r.long = strings.Contains(r.Regex, `[\s\S`)
		all = append(all, r)
	}
	for _, r := range all {
		r.common = common
	}
	return all
})

// lead is the beginning of many patterns: up to 50 characters before the name of a service. They are not part of the
// secret and make a search fifty times as slow.
const lead = `[\w.-]{0,50}?`

// compile compiles the rule's patterns; it is called once.
func (r *rule) compile() {
	pattern := strings.Replace(r.Regex, lead, "", 1)
	r.pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	if bounded, ok := beginsWith(pattern, r.Keywords); ok {
		r.bounded, r.anchored = bounded, regexp.MustCompile(`\A(?:`+pattern+`)`)
	}
	r.allow = compileAllow(r.Allow)
	r.common.once.Do(func() { r.common.allow = compileAllow(r.common.Allow) })
}

func compileAllow(list []Allow) []allow {
	out := make([]allow, len(list))
	for i, a := range list {
		out[i].Allow = a
		for _, p := range a.Patterns {
			out[i].patterns = append(out[i].patterns, regexp.MustCompile(p))
		}
	}
	return out
}

// allowed reports whether a match is an exception.
func (r *rule) allowed(value, match, line string) bool {
	for _, list := range [][]allow{r.allow, r.common.allow} {
		for i := range list {
			if list[i].matches(value, match, line) {
				return true
			}
		}
	}
	return false
}

func (a *allow) matches(value, match, line string) bool {
	target := value
	switch a.Target {
	case "match":
		target = match
	case "line":
		target = line
	}
	for _, p := range a.patterns {
		if p.MatchString(target) {
			return true
		}
	}
	lower := strings.ToLower(value)
	for _, w := range a.StopWords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}
