package policy

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// check finds mistakes in a policy that is syntactically correct.
func (d *decoder) check() {
	for i := range d.p.Rules {
		d.checkRule(&d.p.Rules[i], &d.nodes[i])
		d.checkName(i)
		d.checkReachable(i)
	}
}

func (d *decoder) checkName(i int) {
	r, at := &d.p.Rules[i], d.nodes[i]
	if at.keys["name"] == nil || r.Name == "" {
		d.fail(at.rule, "reasons and plans name the rule", "a rule needs a name")
		return
	}
	for j := range i {
		if d.p.Rules[j].Name == r.Name {
			d.fail(at.keys["name"], "", "the name %q is already used by the rule in line %d", r.Name, d.p.Rules[j].Line)
			return
		}
	}
}

// checkReachable reports a rule that can never match because of an earlier one.
func (d *decoder) checkReachable(i int) {
	r, at := &d.p.Rules[i], d.nodes[i]
	for j := range i {
		if e := &d.p.Rules[j]; e.Match.covers(&r.Match) {
			d.fail(at.rule, "put the narrower rule first", "rule %q can never match: rule %q in line %d matches every run that it could", r.Name, e.Name, e.Line)
			return
		}
	}
}

var limitKeys = []string{"per", "by", "keep_last", "keep_within", "max_age", "max_count", "max_bytes", "except"}

func (d *decoder) checkRule(r *Rule, at *ruleNodes) {
	if at.keys["tiers"] != nil {
		d.checkTiers(r, at)
	} else {
		if at.keys["action"] == nil {
			d.fail(at.rule, "action: keep, thin or prune", "a rule needs an action or tiers")
			return
		}
		d.checkStep(at.rule, at.keys, at.action, at.tier)
	}
	if at.action == Keep {
		for _, k := range append(limitKeys, "ledger") {
			if n := at.keys[k]; n != nil {
				d.fail(n, "limits protect runs from thin and prune", "%s has no effect with action keep", k)
			}
		}
		return
	}
	if n := at.keys["ledger"]; n != nil && at.ledger == "drop" && !prunes(r) {
		d.fail(n, "", "ledger has no effect: this rule prunes nothing")
	}
	d.checkLimits(r, at)
}

func prunes(r *Rule) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Action == Prune })
}

func (d *decoder) checkLimits(r *Rule, at *ruleNodes) {
	limited := r.KeepLast != nil || r.MaxCount != nil || r.MaxBytes != nil
	if n := at.keys["per"]; n != nil && !limited {
		d.fail(n, "keep_last, max_count and max_bytes count per group", "per has no effect without a limit that counts")
	}
	if n := at.keys["by"]; n != nil && !limited && r.KeepWithin == nil && r.MaxAge == nil && !r.Tiered && len(r.Except) == 0 {
		d.fail(n, "the rule takes all runs that match, of any age", "by has no effect without a limit")
	}
	if n := at.keys["max_count"]; n != nil && r.MaxCount != nil && r.KeepLast != nil && *r.MaxCount < *r.KeepLast {
		d.fail(n, "", "impossible: max_count %d is below keep_last %d", *r.MaxCount, *r.KeepLast)
	}
	if n := at.keys["max_age"]; n != nil && r.MaxAge != nil && r.KeepWithin != nil && *r.MaxAge < *r.KeepWithin {
		d.fail(n, "", "impossible: max_age %s is below keep_within %s", formatLimit(*r.MaxAge), formatLimit(*r.KeepWithin))
	}
	for i := range r.Except {
		e := &r.Except[i]
		if within := cmp.Or(e.KeepWithin, r.KeepWithin); e.MaxAge != nil && within != nil && *e.MaxAge < *within {
			d.fail(at.except[i], "", "impossible: max_age %s is below keep_within %s", formatLimit(*e.MaxAge), formatLimit(*within))
		}
		for j := range i {
			if r.Except[j].Match.covers(&e.Match) {
				d.fail(at.except[i], "", "this exception can never match: an earlier one matches every run that it could")
				break
			}
		}
	}
}

func (d *decoder) checkTiers(r *Rule, at *ruleNodes) {
	for _, k := range []string{"action", "tier", "over", "max_age", "max_count", "max_bytes"} {
		if n := at.keys[k]; n != nil {
			d.fail(n, "each of the tiers says after, action and tier", "%s cannot be combined with tiers", k)
		}
	}
	if len(r.Steps) == 0 {
		d.fail(at.keys["tiers"], "", "tiers is empty")
	}
	if r.KeepWithin != nil && len(r.Steps) > 0 && r.Steps[0].After < *r.KeepWithin {
		d.fail(at.steps[0], "", "impossible: this tier begins %s, below keep_within %s", formatLimit(r.Steps[0].After), formatLimit(*r.KeepWithin))
	}
	for i := 1; i < len(r.Steps); i++ {
		a, b := r.Steps[i-1], r.Steps[i]
		if b.After <= a.After {
			d.fail(at.steps[i], "", "impossible: this tier begins %s, not after the previous one (%s)", formatLimit(b.After), formatLimit(a.After))
		}
		if severity(b.Action, b.Tier) < severity(a.Action, a.Tier) || b.Action == a.Action && b.Tier == a.Tier && b.Over >= a.Over {
			d.fail(at.steps[i], "versions, search, payloads, ledger, prune", "a later tier must remove more than the previous one")
		}
	}
	for i := range r.Except {
		if r.Except[i].MaxAge != nil {
			d.fail(at.except[i], "keep_within moves all tiers of these runs", "max_age has no effect with tiers")
		}
	}
}

// checkStep checks action, tier and over of a rule or of one of its tiers.
func (d *decoder) checkStep(n *yaml.Node, keys map[string]*yaml.Node, action Action, tier string) {
	if keys == nil {
		return
	}
	if keys["action"] == nil {
		d.fail(n, "action: thin or prune", "an action is missing")
		return
	}
	switch {
	case action == Thin && keys["tier"] == nil:
		d.fail(keys["action"], "tier: versions, search, payloads or ledger", "thin needs a tier")
	case action != Thin && keys["tier"] != nil:
		d.fail(keys["tier"], "", "tier has no effect with action %s", action)
	}
	if keys["over"] != nil && tier != string(TierPayloads) {
		d.fail(keys["over"], "", "over has no effect without tier payloads")
	}
}

// severity orders actions by how much they remove.
func severity(a Action, t Tier) int {
	switch {
	case a == Prune:
		return 5
	case a != Thin:
		return 0
	case t == TierVersions:
		return 1
	case t == TierSearch:
		return 2
	case t == TierPayloads:
		return 3
	}
	return 4
}
