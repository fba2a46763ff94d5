package policy

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
)

// ruleNodes are the YAML nodes and values of a rule that the checks need.
type ruleNodes struct {
	rule   *yaml.Node
	keys   map[string]*yaml.Node
	except []*yaml.Node
	steps  []*yaml.Node
	action Action
	tier   string
	over   *int64
	ledger string
}

func (d *decoder) policy(root *yaml.Node) {
	d.mapping(root, "the policy", map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) { d.word(n, "version", "1") },
		"rules": func(n *yaml.Node) {
			if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
				return // "rules:" with nothing below is an empty policy
			}
			d.items(n, "rules", d.rule)
		},
	})
}

func (d *decoder) rule(n *yaml.Node) {
	r := Rule{Line: n.Line, Match: Match{}, Ledger: true, Children: Follow, By: ByActivity}
	at := ruleNodes{rule: n}
	at.keys = d.mapping(n, "a rule", map[string]func(*yaml.Node){
		"name":  func(v *yaml.Node) { r.Name, _ = d.text(v, "name") },
		"match": func(v *yaml.Node) { r.Match = d.match(v, true) },
		"per": func(v *yaml.Node) {
			r.Per = Grouping(d.word(v, "per", "thread", "project", "flow", "source", "format"))
		},
		"by":          func(v *yaml.Node) { r.By = Clock(d.word(v, "by", "activity", "ended", "started")) },
		"keep_last":   func(v *yaml.Node) { r.KeepLast = d.count(v, "keep_last") },
		"keep_within": func(v *yaml.Node) { r.KeepWithin = d.duration(v, "keep_within") },
		"max_age":     func(v *yaml.Node) { r.MaxAge = d.duration(v, "max_age") },
		"max_count":   func(v *yaml.Node) { r.MaxCount = d.count(v, "max_count") },
		"max_bytes":   func(v *yaml.Node) { r.MaxBytes = d.bytes(v, "max_bytes") },
		"action":      func(v *yaml.Node) { at.action = Action(d.word(v, "action", "keep", "thin", "prune")) },
		"tier":        func(v *yaml.Node) { at.tier = d.word(v, "tier", "versions", "search", "payloads", "ledger") },
		"over":        func(v *yaml.Node) { at.over = d.bytes(v, "over") },
		"ledger":      func(v *yaml.Node) { at.ledger = d.word(v, "ledger", "keep", "drop") },
		"children":    func(v *yaml.Node) { r.Children = Children(d.word(v, "children", "follow", "stay")) },
		"tiers": func(v *yaml.Node) {
			r.Tiered = true
			d.items(v, "tiers", func(s *yaml.Node) {
				at.steps = append(at.steps, s)
				r.Steps = append(r.Steps, d.step(s))
			})
		},
		"except": func(v *yaml.Node) {
			d.items(v, "except", func(e *yaml.Node) {
				at.except = append(at.except, e)
				r.Except = append(r.Except, d.exception(e))
			})
		},
	})
	if at.keys == nil {
		return
	}
	r.Ledger = at.ledger != "drop"
	if !r.Tiered && (at.action == Thin || at.action == Prune) {
		r.Steps = []Step{stepOf(at.action, at.tier, at.over)}
	}
	d.p.Rules = append(d.p.Rules, r)
	d.nodes = append(d.nodes, at)
}

func stepOf(a Action, tier string, over *int64) Step {
	s := Step{Action: a, Tier: Tier(tier)}
	if s.Tier == TierPayloads {
		s.Over = DefaultOver
		if over != nil {
			s.Over = *over
		}
	}
	return s
}

func (d *decoder) step(n *yaml.Node) Step {
	var after *time.Duration
	var action Action
	var tier string
	var over *int64
	keys := d.mapping(n, "a tier", map[string]func(*yaml.Node){
		"after":  func(v *yaml.Node) { after = d.duration(v, "after") },
		"action": func(v *yaml.Node) { action = Action(d.word(v, "action", "thin", "prune")) },
		"tier":   func(v *yaml.Node) { tier = d.word(v, "tier", "versions", "search", "payloads", "ledger") },
		"over":   func(v *yaml.Node) { over = d.bytes(v, "over") },
	})
	if keys != nil && keys["after"] == nil {
		d.fail(n, "", "a tier needs after")
	}
	d.checkStep(n, keys, action, tier)
	s := stepOf(action, tier, over)
	if after != nil {
		s.After = *after
	}
	return s
}

func (d *decoder) exception(n *yaml.Node) Exception {
	var e Exception
	keys := d.mapping(n, "an exception", map[string]func(*yaml.Node){
		"match":       func(v *yaml.Node) { e.Match = d.match(v, true) },
		"max_age":     func(v *yaml.Node) { e.MaxAge = d.duration(v, "max_age") },
		"keep_within": func(v *yaml.Node) { e.KeepWithin = d.duration(v, "keep_within") },
	})
	if keys == nil {
		return e
	}
	if keys["match"] == nil {
		d.fail(n, "", "an exception needs match")
	}
	if keys["max_age"] == nil && keys["keep_within"] == nil {
		d.fail(n, "", "an exception needs max_age or keep_within")
	}
	return e
}

// match decodes conditions. Its not contains conditions, too, but no nested not.
func (d *decoder) match(n *yaml.Node, withNot bool) Match {
	var m Match
	globs := map[field][]glob{}
	keys := map[string]func(*yaml.Node){}
	for _, f := range matchFields {
		keys[string(f)] = func(v *yaml.Node) { globs[f] = d.globs(v, f) }
	}
	keys["age"] = narrow(d, &m.age, ParseDuration, "", `such as ">30d" or 7d..30d`)
	keys["idle"] = narrow(d, &m.idle, ParseDuration, "", `such as ">12h"`)
	keys["size"] = narrow(d, &m.size, ParseBytes, "", `such as ">10MB"`)
	keys["cost"] = narrow(d, &m.cost, parseCost, "", `such as "<0.01", in US dollars`)
	keys["older_than"] = narrow(d, &m.age, ParseDuration, ">", hintDuration)
	keys["younger_than"] = narrow(d, &m.age, ParseDuration, "<", hintDuration)
	keys["larger_than"] = narrow(d, &m.size, ParseBytes, ">", hintSize)
	keys["smaller_than"] = narrow(d, &m.size, ParseBytes, "<", hintSize)
	if withNot {
		keys["not"] = func(v *yaml.Node) {
			not := d.match(v, false)
			if m.not = &not; not.empty() && v.Kind == yaml.MappingNode && len(v.Content) == 0 {
				d.fail(v, "", "no run can match: an empty not excludes every run")
			}
		}
	}
	d.mapping(n, "match", keys)
	for _, f := range matchFields {
		if g := globs[f]; len(g) > 0 {
			m.patterns = append(m.patterns, fieldPatterns{f, g})
		}
	}
	if m.not != nil && !m.not.empty() && m.not.covers(&Match{patterns: m.patterns, age: m.age, idle: m.idle, size: m.size, cost: m.cost}) {
		d.fail(n, "", "no run can match: not excludes all that match selects")
	}
	return m
}

// narrow decodes a numeric condition, with op put in front of it, and intersects it with s.
func narrow[T ~int64](d *decoder, s *span, value func(string) (T, error), op, hint string) func(*yaml.Node) {
	return func(v *yaml.Node) {
		text, ok := d.text(v, "the condition")
		if !ok {
			return
		}
		got, err := parseSpan(op+text, value)
		if err != nil {
			d.fail(v, hint, "%v", err)
			return
		}
		if got.empty() {
			d.fail(v, "", "no value is in the range %s", text)
			return
		}
		if *s = s.intersect(got); s.empty() {
			d.fail(v, "", "no run can match: %s contradicts another condition of this match", text)
		}
	}
}

var outcomes = []string{"running", "succeeded", "failed", "cancelled", "other", "unknown"}

func (d *decoder) globs(n *yaml.Node, f field) []glob {
	var out []glob
	read := func(v *yaml.Node) {
		s, ok := d.text(v, string(f))
		if !ok {
			return
		}
		g, err := newGlob(s)
		if err != nil {
			d.fail(v, `* any characters, ? one, [a-z] one of a set, \ before a literal character`, "%s: bad pattern %q", f, s)
			return
		}
		if f == fieldOutcome && !slices.ContainsFunc(outcomes, g.match) {
			d.fail(v, "one of running, succeeded, failed, cancelled, other, unknown; status matches the producer's own word", "outcome cannot be %q", s)
		}
		out = append(out, g)
	}
	if n.Kind == yaml.SequenceNode {
		d.items(n, string(f), read)
		if len(n.Content) == 0 {
			d.fail(n, "", "no run can match: the list of %s is empty", f)
		}
	} else {
		read(n)
	}
	return out
}
