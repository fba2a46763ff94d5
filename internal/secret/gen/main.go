// Command gen makes the rules that package secret embeds from the configuration of a gitleaks release (MIT,
// https://github.com/gitleaks/gitleaks, config/gitleaks.toml):
//
//	go mod download -json github.com/zricethezav/gitleaks/v8@v8.30.1        # says where it lies
//	go run ./internal/secret/gen -in DIR/config/gitleaks.toml -out internal/secret/rules.ndjson
//
// Rules that match only file names, or only files with certain names, are left out and listed: a transcript has
// no such name. The same input gives the same output.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/txarchive/txarchive/internal/secret"
)

// allowlist is an exception in the configuration.
type allowlist struct {
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
	Paths       []string
}

// configuration is the part of gitleaks.toml that gen uses.
type configuration struct {
	Allowlist allowlist
	Rules     []struct {
		ID          string
		Regex, Path string
		SecretGroup int
		Entropy     float64
		Keywords    []string
		Allowlists  []allowlist
	}
}

func main() {
	in := flag.String("in", "", "configuration of gitleaks")
	out := flag.String("out", "", "rules to write")
	flag.Parse()
	if err := run(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	if in == "" || out == "" {
		return fmt.Errorf("-in and -out are needed")
	}
	var c configuration
	if _, err := toml.DecodeFile(in, &c); err != nil {
		return err
	}
	rules := []secret.Rule{{ID: "*", Keywords: []string{}, Allow: exceptions([]allowlist{c.Allowlist})}}
	for _, r := range c.Rules {
		if r.Regex == "" || r.Path != "" || len(r.Keywords) == 0 {
			fmt.Fprintln(os.Stderr, "left out", r.ID)
			continue
		}
		for i, k := range r.Keywords {
			r.Keywords[i] = strings.ToLower(k)
		}
		one := secret.Rule{
			ID: r.ID, Regex: r.Regex, SecretGroup: r.SecretGroup, Entropy: r.Entropy, Keywords: r.Keywords,
			Allow: exceptions(r.Allowlists),
		}
		if err := one.Validate(); err != nil {
			return err
		}
		rules = append(rules, one)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range rules {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// exceptions returns the exceptions that need no file name. One that requires such a name as well never applies.
func exceptions(lists []allowlist) []secret.Allow {
	var out []secret.Allow
	for _, a := range lists {
		if len(a.Regexes)+len(a.StopWords) == 0 || a.Condition == "AND" && len(a.Paths) > 0 {
			continue
		}
		words := make([]string, len(a.StopWords))
		for i, w := range a.StopWords {
			words[i] = strings.ToLower(w)
		}
		out = append(out, secret.Allow{Target: a.RegexTarget, Patterns: a.Regexes, StopWords: words})
	}
	return out
}
