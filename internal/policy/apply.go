package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Runs are those that a policy decides on: there may be a million, of which a few are in memory.
type Runs interface {
	// Len is how many there are: they are called by the numbers below it, and are in the order of their ids.
	Len() int
	// Each calls do for every run, in any order, the same each time. Parent is the number of the run that made it, -1 for none. The
	// run is only good until the next.
	Each(do func(i, parent int, r *Run) error) error
}

// Decide decides on every run, and calls each for them in the order in which they come. It goes through runs twice, a third
// time when some follow others. The error is that of runs or of each.
func (p *Policy) Decide(runs Runs, now time.Time, each func(i int, r *Run, d *Decision) error) error {
	n := runs.Len()
	a := &evaluation{p: p, now: now, facts: make([]runFacts, n), groups: map[group]int32{}}
	if err := runs.Each(func(i, parent int, r *Run) error { a.take(i, parent, r); return nil }); err != nil {
		return err
	}
	a.followers()
	a.line()
	if len(a.leads) > 0 {
		if err := runs.Each(func(i, _ int, r *Run) error {
			if _, leads := a.leads[int32(i)]; leads {
				_, next := p.taker(r, now)
				a.leads[int32(i)] = leading{r.ID, a.decide(i, r), next}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return runs.Each(func(i, _ int, r *Run) error {
		d := a.decide(i, r)
		d.reach(r) // last: a follower repeats what its parent was to lose, whatever was left of it
		return each(i, r, &d)
	})
}

// Groups says of the groups of decisions whether they leave a run (thinned runs are left). A plan that empties a group may be a
// mistake in the policy.
type Groups map[string]bool

// Add takes in a decision.
func (g Groups) Add(d *Decision) {
	if d.Group != "" {
		g[d.Group] = g[d.Group] || d.Action != Prune
	}
}

// Emptied names those that no run is left of, in name order.
func (g Groups) Emptied() []string {
	var out []string
	for name, some := range g {
		if !some {
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

// runFacts is what is kept of every run.
type runFacts struct {
	clock  int64 // by which its rule sorts, in microseconds
	bytes  int64
	total  int64 // of its group up to and with it
	place  int32 // in its group, newest first, from 1
	group  int32 // -1 for none
	parent int32 // -1 for none
	leader int32 // whose decision the run shares, -1 for its own
	rule   int32 // the rule that took the run, -1 for none
	safe   bool  // a pin or an unexpired hold decides
}

// leading is the decision of a run that others follow.
type leading struct {
	id       string
	decision Decision
	next     time.Time // when time alone may give it to another rule
}

type evaluation struct {
	p      *Policy
	now    time.Time
	facts  []runFacts
	groups map[group]int32
	leads  map[int32]leading
}

// taker is the first rule that matches the run, -1 for none, and when time alone may give it to another.
func (p *Policy) taker(r *Run, now time.Time) (rule int32, next time.Time) {
	for j := range p.Rules {
		ok, change := p.Rules[j].Match.holds(r, now)
		next = earlier(next, change)
		if ok {
			return int32(j), next
		}
	}
	return -1, next
}

// take notes what decides on other runs.
func (a *evaluation) take(i, parent int, r *Run) {
	f := &a.facts[i]
	f.rule, _ = a.p.taker(r, a.now)
	f.parent, f.group, f.bytes, f.safe = int32(parent), -1, r.Bytes, r.protected(a.now)
	if parent == i {
		f.parent = -1
	}
	if f.rule < 0 {
		return
	}
	rule := &a.p.Rules[f.rule]
	f.clock = r.clock(rule.By).UnixMicro()
	if len(rule.Steps) == 0 {
		return // they all stay
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

// followers finds whose decision each run shares: that of its parent, unless the rule that takes the parent says otherwise, or its
// own where none takes the parent; and so on upwards, as far as a pin or a hold. Runs whose parents form a circle are judged by
// themselves.
func (a *evaluation) followers() {
	const unknown = -2
	for i := range a.facts {
		a.facts[i].leader = unknown
	}
	a.leads = map[int32]leading{}
	var path []int32
	for i := range a.facts {
		path = path[:0]
		j := int32(i)
		for a.facts[j].leader == unknown {
			a.facts[j].leader = -1 // also what a circle comes back to
			up := a.facts[j].parent
			if up < 0 || a.facts[j].safe || a.stays(a.facts[up].rule, a.facts[j].rule) {
				break
			}
			path = append(path, j)
			j = up
		}
		if k := slices.Index(path, j); k >= 0 {
			path = path[:k] // those who lead into a circle follow the one at which they enter it
		}
		top := j
		if a.facts[j].leader >= 0 {
			top = a.facts[j].leader
		}
		for _, k := range path {
			a.facts[k].leader, a.leads[top] = top, leading{}
		}
	}
}

// stays says whether the rules of a parent and of its child let the child be judged by itself.
func (a *evaluation) stays(parent, child int32) bool {
	if parent < 0 {
		parent = child
	}
	return parent >= 0 && a.p.Rules[parent].Children == Stay
}

// line gives each run its place in its group, newest first. Those that follow others or that nothing may take have none.
func (a *evaluation) line() {
	var members []int32
	for i := range a.facts {
		if f := &a.facts[i]; f.group >= 0 && f.leader < 0 && !f.safe {
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

// protected says that a pin or an unexpired hold decides. Such runs take no place in any count.
func (r *Run) protected(now time.Time) bool {
	return r.Pinned || slices.ContainsFunc(r.Holds, func(h Hold) bool { return h.active(now) })
}

func (h Hold) active(now time.Time) bool { return h.Expires.IsZero() || h.Expires.After(now) }

// decide is what becomes of a run, before it is seen what is left of it.
func (a *evaluation) decide(i int, r *Run) Decision {
	f := &a.facts[i]
	d := Decision{RunID: r.ID, Action: Keep, Ledger: true}
	_, next := a.p.taker(r, a.now)
	if f.rule >= 0 && f.leader < 0 {
		rule := &a.p.Rules[f.rule]
		d.Group = r.groupName(rule.Per)
		if !f.safe {
			a.judge(rule, f, r, &d)
		}
	}
	switch {
	case f.safe:
		a.protect(&d, r)
	case f.leader >= 0:
		a.follow(&d, f.leader)
	case f.rule < 0:
		d.Reasons = []string{"no rule matches"}
		d.Until = next
	default:
		d.Until = earlier(d.Until, next)
	}
	return d
}

// judge says what the rule of a run makes of it.
func (a *evaluation) judge(rule *Rule, f *runFacts, r *Run, d *Decision) {
	d.Rule, d.Ledger = rule.Name, rule.Ledger
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
			reason += ", until " + h.Expires.Add(-time.Microsecond).UTC().Format(time.DateOnly) // a day that is named is held to its end
			if h.Expires.After(last) {
				last = h.Expires
			}
		}
		d.Reasons = append(d.Reasons, reason)
	}
	if !forever {
		d.Until = last
	}
}

// follow repeats the decision of the run's leader.
func (a *evaluation) follow(d *Decision, leader int32) {
	lead := a.leads[leader]
	d.Reasons = []string{"follows its parent " + lead.id}
	if a.facts[leader].safe {
		d.Reasons[0] += ", which is pinned or held"
		return
	}
	from := &lead.decision
	d.Action, d.Tier, d.Over, d.Rule, d.Ledger = from.Action, from.Tier, from.Over, from.Rule, from.Ledger
	d.Until = earlier(from.Until, lead.next)
	d.Reasons = append(d.Reasons, from.Reasons...)
}

// reach sets what goes; thinning a run that is as thin already is keeping it.
func (d *Decision) reach(r *Run) {
	switch d.Action {
	case Prune:
		d.Bytes = r.Bytes
	case Thin:
		if r.Thinned != "" && strength(Thin, r.Thinned) >= strength(Thin, d.Tier) {
			d.Action, d.Over = Keep, 0
			d.Reasons = append(d.Reasons, "already thinned to tier "+string(r.Thinned))
			d.Tier = ""
			return
		}
		switch d.Tier {
		case TierSearch:
			d.Bytes = r.SearchBytes
		case TierPayloads:
			d.Bytes = r.SearchBytes + r.PayloadBytes
		default:
			d.Bytes = r.Bytes
		}
	}
}
