package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Runs are the runs that a policy decides on. There may be a million, of which only a few are in memory.
type Runs interface {
	// Len returns the number of runs. They are numbered from 0, in the order of their ids.
	Len() int
	// Each calls do for every run, in any order that is the same each time. parent is the number of the run that made
	// it, -1 for none. r is valid only during the call.
	Each(do func(i, parent int, r *Run) error) error
}

// Decide decides on every run and calls each for them in the order of runs.Each. It iterates over runs twice, or
// three times if some runs follow others. It returns the first error of runs or each.
func (p *Policy) Decide(runs Runs, now time.Time, each func(i int, r *Run, d *Decision) error) error {
	n := runs.Len()
	a := &evaluation{p: p, now: now, facts: make([]runFacts, n), groups: map[group]int32{}}
	if err := runs.Each(func(i, parent int, r *Run) error { a.collect(i, parent, r); return nil }); err != nil {
		return err
	}
	a.findLeaders()
	a.rank()
	if len(a.leaders) > 0 {
		if err := runs.Each(func(i, _ int, r *Run) error {
			if _, leads := a.leaders[int32(i)]; leads {
				_, next := p.ruleFor(r, now)
				a.leaders[int32(i)] = leaderDecision{r.ID, a.decide(i, r), next}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return runs.Each(func(i, _ int, r *Run) error {
		d := a.decide(i, r)
		d.setBytes(r) // last: a follower repeats its parent's decision, whatever the parent still had to lose
		return each(i, r, &d)
	})
}

// Groups tells for each group of runs whether the decisions leave any of its runs (thinned runs are left). A plan
// that empties a group may be due to a mistake in the policy.
type Groups map[string]bool

// Add records a decision.
func (g Groups) Add(d *Decision) {
	if d.Group != "" {
		group := string(d.Group)
		g[group] = g[group] || d.Action != Prune
	}
}

// Emptied returns the groups of which no run is left, sorted by name.
func (g Groups) Emptied() []string {
	var out []string
	for name, left := range g {
		if !left {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

type group struct {
	rule int32
	key  string
}

// runFacts is what is kept in memory of every run.
type runFacts struct {
	clock     int64 // the time by which its rule sorts, in microseconds
	bytes     int64
	total     int64 // bytes of its group up to and including it
	place     int32 // position in its group, newest first, from 1
	group     int32 // -1 for none
	parent    int32 // -1 for none
	leader    int32 // the run whose decision this one shares, -1 for none
	rule      int32 // the rule that took the run, -1 for none
	protected bool  // protected by a pin or an unexpired hold
}

// leaderDecision is the decision on a run that others follow.
type leaderDecision struct {
	id       string
	decision Decision
	next     time.Time // when another rule may match it just because time passes; zero for never
}

type evaluation struct {
	p       *Policy
	now     time.Time
	facts   []runFacts
	groups  map[group]int32
	leaders map[int32]leaderDecision
}

// ruleFor returns the first rule that matches the run, -1 for none, and when that may change just because time
// passes.
func (p *Policy) ruleFor(r *Run, now time.Time) (rule int32, next time.Time) {
	for j := range p.Rules {
		ok, change := p.Rules[j].Match.holds(r, now)
		next = earlier(next, change)
		if ok {
			return int32(j), next
		}
	}
	return -1, next
}

// collect records what decisions on other runs depend on.
func (a *evaluation) collect(i, parent int, r *Run) {
	f := &a.facts[i]
	f.rule, _ = a.p.ruleFor(r, a.now)
	f.parent, f.group, f.bytes, f.protected = int32(parent), -1, r.Bytes, r.protected(a.now)
	if parent == i {
		f.parent = -1
	}
	if f.rule < 0 {
		return
	}
	rule := &a.p.Rules[f.rule]
	f.clock = r.clock(rule.By).UnixMicro()
	if len(rule.Steps) == 0 {
		return // the rule keeps all its runs
	}
	g := group{f.rule, r.groupKey(rule.Per)}
	number, ok := a.groups[g]
	if !ok {
		g.key = strings.Clone(g.key)
		number = int32(len(a.groups))
		a.groups[g] = number
	}
	f.group = number
}

// findLeaders determines whose decision each run shares. A run follows its parent, unless the rule that matches the
// parent (or the run's own rule, if none matches the parent) says otherwise; and so on upwards, up to a run with a
// pin or a hold. A run in a cycle of parents is decided on its own.
func (a *evaluation) findLeaders() {
	const unknown = -2
	for i := range a.facts {
		a.facts[i].leader = unknown
	}
	a.leaders = map[int32]leaderDecision{}
	var path []int32
	for i := range a.facts {
		path = path[:0]
		j := int32(i)
		for a.facts[j].leader == unknown {
			a.facts[j].leader = -1 // also ends the loop in a cycle
			up := a.facts[j].parent
			if up < 0 || a.facts[j].protected || a.independent(a.facts[up].rule, a.facts[j].rule) {
				break
			}
			path = append(path, j)
			j = up
		}
		if k := slices.Index(path, j); k >= 0 {
			path = path[:k] // runs outside of a cycle follow the run at which their path enters it
		}
		top := j
		if a.facts[j].leader >= 0 {
			top = a.facts[j].leader
		}
		for _, k := range path {
			a.facts[k].leader, a.leaders[top] = top, leaderDecision{}
		}
	}
}

// independent reports whether the rules of a parent and its child decide on the child independently.
func (a *evaluation) independent(parent, child int32) bool {
	if parent < 0 {
		parent = child
	}
	return parent >= 0 && a.p.Rules[parent].Children == Stay
}

// rank determines the position of each run in its group, newest first. Runs that follow others or are protected have
// none.
func (a *evaluation) rank() {
	var members []int32
	for i := range a.facts {
		if f := &a.facts[i]; f.group >= 0 && f.leader < 0 && !f.protected {
			members = append(members, int32(i))
		}
	}
	slices.SortFunc(members, func(i, j int32) int {
		x, y := &a.facts[i], &a.facts[j]
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(y.clock, x.clock), cmp.Compare(i, j))
	})
	for k, i := range members {
		f := &a.facts[i]
		f.place, f.total = 1, f.bytes
		if k > 0 && a.facts[members[k-1]].group == f.group {
			before := &a.facts[members[k-1]]
			f.place, f.total = before.place+1, before.total+f.bytes
		}
	}
}

// protected reports whether a pin or an unexpired hold protects the run. Such runs do not count towards any limit.
func (r *Run) protected(now time.Time) bool {
	return r.Pinned || slices.ContainsFunc(r.Holds, func(h Hold) bool { return h.active(now) })
}

func (h Hold) active(now time.Time) bool { return h.Expires.IsZero() || h.Expires.After(now) }

// decide returns the decision on a run, without its Bytes.
func (a *evaluation) decide(i int, r *Run) Decision {
	f := &a.facts[i]
	d := Decision{RunID: r.ID, Action: Keep, Ledger: true}
	_, next := a.p.ruleFor(r, a.now)
	if f.rule >= 0 && f.leader < 0 {
		rule := &a.p.Rules[f.rule]
		d.Group = transcript.Text(r.groupName(rule.Per))
		if !f.protected {
			a.applyRule(rule, f, r, &d)
		}
	}
	switch {
	case f.protected:
		a.protect(&d, r)
	case f.leader >= 0:
		a.follow(&d, f.leader)
	case f.rule < 0:
		d.Reasons = []string{"no rule matches"}
		d.Until = Moment{next}
	default:
		d.Until = Moment{earlier(d.Until.Time, next)}
	}
	return d
}

// applyRule applies the rule that matches a run.
func (a *evaluation) applyRule(rule *Rule, f *runFacts, r *Run, d *Decision) {
	d.Rule, d.Ledger = transcript.Text(rule.Name), rule.Ledger
	if len(rule.Steps) == 0 {
		d.Reasons = []string{fmt.Sprintf("rule %s keeps it", rule.Name)}
		return
	}
	v := verdict{rule: rule, run: r, now: a.now, place: int64(f.place), total: f.total, d: d}
	v.decide()
}

func (a *evaluation) protect(d *Decision, r *Run) {
	if r.Pinned {
		d.Reasons = append(d.Reasons, "pinned")
	}
	var last time.Time
	forever := r.Pinned
	for _, h := range r.Holds {
		if !h.active(a.now) {
			continue
		}
		reason := "held by " + orNone(h.Owner)
		if h.Reason != "" {
			reason += ": " + h.Reason
		}
		if h.Expires.IsZero() {
			forever = true
		} else {
			reason += ", until " + h.Expires.Add(-time.Microsecond).UTC().Format(time.DateOnly) // a hold until a day lasts to the end of that day
			if h.Expires.After(last) {
				last = h.Expires
			}
		}
		d.Reasons = append(d.Reasons, reason)
	}
	if !forever {
		d.Until = Moment{last}
	}
}

// follow copies the decision on the run's leader.
func (a *evaluation) follow(d *Decision, leader int32) {
	lead := a.leaders[leader]
	d.Reasons = []string{"follows its parent " + lead.id}
	if a.facts[leader].protected {
		d.Reasons[0] += ", which is pinned or held"
		return
	}
	from := &lead.decision
	d.Action, d.Tier, d.Over, d.Rule, d.Ledger, d.versions = from.Action, from.Tier, from.Over, from.Rule, from.Ledger, from.versions
	d.Until = Moment{earlier(from.Until.Time, lead.next)}
	d.Reasons = append(d.Reasons, from.Reasons...)
}

// setBytes computes what the decision removes. Thinning a run that is already as thin becomes keeping it, or removing the earlier
// versions that it has got since.
func (d *Decision) setBytes(r *Run) {
	switch d.Action {
	case Prune:
		d.Bytes = r.Bytes
	case Thin:
		if why := r.ThinnedTo(d.Tier); why != "" {
			d.Over = 0
			d.Reasons = append(d.Reasons, why)
			if d.Tier = TierVersions; !d.versions || r.ThinnedTo(TierVersions) != "" {
				d.Action, d.Tier = Keep, ""
				return
			}
		}
		switch d.Tier {
		case TierVersions:
			d.Bytes = r.EarlierBytes
		case TierSearch:
			d.Bytes = r.SearchBytes
		case TierPayloads:
			d.Bytes = r.SearchBytes + r.PayloadBytes
		default:
			d.Bytes = r.Bytes
		}
	}
}
