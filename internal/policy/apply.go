package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Apply decides on every run, in the order of runs. It is pure: it changes nothing and keeps nothing of runs.
func (p *Policy) Apply(runs []Run, now time.Time) []Decision {
	a := &evaluation{p: p, runs: runs, now: now, out: make([]Decision, len(runs)), rule: make([]int, len(runs)), next: make([]time.Time, len(runs))}
	a.parents()
	groups := map[group][]int{}
	for i := range runs {
		a.take(i)
	}
	a.followers()
	for i := range runs {
		d := &a.out[i]
		d.RunID, d.Action, d.Ledger = runs[i].ID, Keep, true
		if r := a.rule[i]; r >= 0 && !a.follows(i) {
			d.Group = runs[i].groupName(p.Rules[r].Per)
			if !a.protected(i) {
				g := group{r, runs[i].groupKey(p.Rules[r].Per)}
				groups[g] = append(groups[g], i)
			}
		}
	}
	for g, members := range groups {
		a.group(&p.Rules[g.rule], members)
	}
	for i := range runs {
		a.finish(i)
	}
	for i := range runs { // last: a follower repeats what its parent was to lose, whatever was left of it
		a.out[i].reach(&runs[i])
	}
	return a.out
}

// Emptied names the groups of which the decisions leave no run (thinned runs are left), in name order: a plan
// that empties a group may be a mistake in the policy.
func Emptied(decisions []Decision) []string {
	left := map[string]bool{}
	for _, d := range decisions {
		if d.Group != "" {
			left[d.Group] = left[d.Group] || d.Action != Prune
		}
	}
	var out []string
	for g, some := range left {
		if !some {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	return out
}

type group struct {
	rule int
	key  string
}

type evaluation struct {
	p      *Policy
	runs   []Run
	now    time.Time
	out    []Decision
	rule   []int       // the rule that took the run, -1 for none
	next   []time.Time // when time alone may give the run to another rule
	parent []int       // position of the parent, -1 for none
	leader []int       // whose decision the run shares, -1 for its own
}

func (a *evaluation) parents() {
	a.parent = make([]int, len(a.runs))
	var byID map[string]int
	for i := range a.runs {
		a.parent[i] = -1
		if a.runs[i].Parent != "" && byID == nil {
			byID = make(map[string]int, len(a.runs))
			for j := range a.runs {
				byID[a.runs[j].ID] = j
			}
		}
		if j, ok := byID[a.runs[i].Parent]; ok && j != i && a.runs[i].Parent != "" {
			a.parent[i] = j
		}
	}
}

// take gives the run to the first rule that matches it.
func (a *evaluation) take(i int) {
	a.rule[i] = -1
	for j := range a.p.Rules {
		ok, next := a.p.Rules[j].Match.holds(&a.runs[i], a.now)
		a.next[i] = earlier(a.next[i], next)
		if ok {
			a.rule[i] = j
			return
		}
	}
}

// followers finds whose decision each run shares: that of its parent, when the parent's rule says so, and so on
// upwards. Runs whose parents form a circle are judged by themselves.
func (a *evaluation) followers() {
	const unknown = -2
	a.leader = make([]int, len(a.runs))
	for i := range a.leader {
		a.leader[i] = unknown
	}
	var path []int
	for i := range a.runs {
		path = path[:0]
		j := i
		for a.leader[j] == unknown {
			a.leader[j] = -1 // also what a circle comes back to
			up := a.parent[j]
			if up < 0 || a.rule[up] < 0 || a.p.Rules[a.rule[up]].Children == Stay {
				break
			}
			path = append(path, j)
			j = up
		}
		if k := slices.Index(path, j); k >= 0 {
			path = path[:k] // those who lead into a circle follow the one at which they enter it
		}
		top := j
		if a.leader[j] >= 0 {
			top = a.leader[j]
		}
		for _, k := range path {
			a.leader[k] = top
		}
	}
}

func (a *evaluation) follows(i int) bool { return a.leader[i] >= 0 }

// protected says that a pin or an unexpired hold decides. Such runs take no place in any count.
func (a *evaluation) protected(i int) bool {
	r := &a.runs[i]
	if r.Pinned {
		return true
	}
	for _, h := range r.Holds {
		if h.active(a.now) {
			return true
		}
	}
	return false
}

func (h Hold) active(now time.Time) bool { return h.Expires.IsZero() || h.Expires.After(now) }

// finish gives the decision to those that no group decided.
func (a *evaluation) finish(i int) {
	d, r := &a.out[i], &a.runs[i]
	switch {
	case a.protected(i):
		a.protect(d, r)
	case a.follows(i):
		a.follow(i)
	case a.rule[i] < 0:
		d.Reasons = []string{"no rule matches"}
		d.Until = a.next[i]
	default:
		d.Until = earlier(d.Until, a.next[i])
	}
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
			reason += ", until " + h.Expires.UTC().Format(time.DateOnly)
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
func (a *evaluation) follow(i int) {
	d, lead := &a.out[i], a.leader[i]
	if !a.protected(lead) {
		from := &a.out[lead]
		d.Action, d.Tier, d.Over, d.Rule, d.Ledger, d.Until = from.Action, from.Tier, from.Over, from.Rule, from.Ledger, from.Until
		d.Reasons = []string{"follows its parent " + a.runs[lead].ID}
		d.Reasons = append(d.Reasons, from.Reasons...)
		d.Until = earlier(d.Until, a.next[lead])
		return
	}
	d.Reasons = []string{"follows its parent " + a.runs[lead].ID + ", which is pinned or held"}
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

// group decides on the runs that one rule has in one group.
func (a *evaluation) group(rule *Rule, members []int) {
	slices.SortFunc(members, func(i, j int) int {
		x, y := a.runs[i].clock(rule.By), a.runs[j].clock(rule.By)
		if c := y.Compare(x); c != 0 {
			return c
		}
		return strings.Compare(a.runs[i].ID, a.runs[j].ID)
	})
	var place, total int64
	for _, i := range members {
		r, d := &a.runs[i], &a.out[i]
		d.Rule, d.Ledger = rule.Name, rule.Ledger
		if len(rule.Steps) == 0 {
			d.Reasons = []string{fmt.Sprintf("rule %s keeps it", rule.Name)}
			continue
		}
		place++
		total += r.Bytes
		v := verdict{rule: rule, run: r, now: a.now, place: place, total: total, d: d}
		v.decide()
	}
}
