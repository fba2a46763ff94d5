package where

import (
	"slices"

	"github.com/txarchive/txarchive/internal/query"
)

// runAnd compiles a conjunction for runs: one event must meet all conditions that are about events.
func (k compiler) runAnd(of []query.Node) (Cond, error) {
	var events, rest []query.Node
	found := false // any condition that an event must meet, not only some that it must not
	for _, n := range of {
		if !isAboutEvents(n) {
			rest = append(rest, n)
			continue
		}
		events = append(events, n)
		_, not := n.(query.Not)
		found = found || !not
	}
	if !found || len(events) < 2 {
		return k.and(of)
	}
	one, err := compiler{all: k.all, eventsOfRuns: true}.and(events)
	if err != nil {
		return Cond{}, err
	}
	if !one.isTextOnly() {
		one = k.runsWith(one)
	}
	c, err := k.and(rest)
	return one.and(c), err
}

// isAboutEvents reports whether a condition on runs is about their events, and not about what the run states or is.
func isAboutEvents(n query.Node) bool {
	switch n := n.(type) {
	case query.And:
		return !slices.ContainsFunc(n.Of, func(n query.Node) bool { return !isAboutEvents(n) })
	case query.Or:
		return !slices.ContainsFunc(n.Of, func(n query.Node) bool { return !isAboutEvents(n) })
	case query.Not:
		return isAboutEvents(n.Of)
	case query.Word, query.Phrase, query.Prefix, query.Near, query.Terms:
		return true
	case query.Field:
		switch n.Name {
		case "role", "kind", "type", "tool", "touches", "from", "step", "engine", "conversation", "id":
			return true
		case "is":
			return !slices.ContainsFunc(n.Values, func(v query.Value) bool { return v.Text != "error" && v.Text != "truncated" })
		}
	}
	return false
}

// isStatedBelow reports whether conversations and events may state a field that their run does not state, or states otherwise.
// How a run ended is another matter: a step may fail in one that succeeds.
func isStatedBelow(field string) bool {
	return slices.Contains([]string{"agent", "model", "flow", "project", "attr"}, field)
}

// stated compiles such a field for runs: it matches those that state a value themselves, or have a conversation or event
// that does. No value matches runs of which nothing states any.
func (k compiler) stated(f query.Field) (Cond, error) {
	var either Cond
	if slices.Contains(f.Values, query.Value{}) {
		anything := f
		anything.Values = []query.Value{{Match: query.Starts}}
		c, err := k.stated(anything)
		either = k.not(c)
		f.Values = slices.DeleteFunc(slices.Clone(f.Values), func(v query.Value) bool { return v == query.Value{} })
		if err != nil || len(f.Values) == 0 {
			return either, err
		}
	}
	conds, err := k.statedBelow(f)
	if err != nil {
		return Cond{}, err
	}
	own, err := k.plain(f, columnsOf(f.Name).run)
	if err != nil {
		return Cond{}, err
	}
	conds = append([]Cond{either, own}, conds...)
	var sql []string
	var args []any
	for _, c := range conds {
		if !c.Empty() {
			s, a := k.predicate(c)
			sql, args = append(sql, s), append(args, a...)
		}
	}
	return Cond{sql: []string{Balanced(sql, " OR ")}, args: args}, nil
}

// statedBelow returns conditions on runs that have a conversation or an event which states a value.
func (k compiler) statedBelow(f query.Field) ([]Cond, error) {
	if f.Name == "attr" {
		c, err := compiler{all: k.all, eventsOfRuns: true}.attr(f)
		return []Cond{k.anyEvent(c)}, err
	}
	of := k.values(f.Values, []string{"c." + f.Name})
	conds := []Cond{k.runsWith(ownerCond(of.sql[0], of.args))}
	if f.Name == "project" {
		return conds, nil
	}
	scene := k.values(f.Values, []string{"nullif(" + f.Name + ", '')"})
	stated := scene.sql[0]
	scene.sql = []string{"e.scene IN (SELECT id FROM scenes WHERE " + stated + ")"}
	event := k.anyEvent(scene)
	event.sql = append([]string{"EXISTS (SELECT 1 FROM scenes WHERE " + stated + ")"}, event.sql...) // mostly none does, and no event need be read
	event.args = append(slices.Clone(scene.args), event.args...)
	return append(conds, event), nil
}

// anyEvent is runsWith for one run after the other: it ends at the first event that meets c.
func (k compiler) anyEvent(c Cond) Cond {
	sql, args := compiler{all: k.all, eventsOfRuns: true}.predicate(c)
	sql, args = Balanced(append(slices.Clone(c.HintSQL), sql), " AND "), slices.Concat(c.HintArgs, args)
	return Cond{sql: []string{`EXISTS (SELECT 1 FROM conversations c CROSS JOIN transcripts t ON t.conversation = c.id CROSS JOIN events e ON e.transcript = t.id
		WHERE c.run = r.id AND ` + sql + Visible(k.all) + ")"}, args: args}
}

// runHas compiles has: for runs. Usage and cost are those of the whole run, whichever original states them.
func (k compiler) runHas(f query.Field) (Cond, error) {
	var sql []string
	var args []any
	for _, v := range f.Values {
		var c Cond
		switch v.Text {
		case "usage":
			c.sql = []string{"EXISTS (SELECT 1 FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0)"}
		case "cost":
			c.sql = []string{runNumber("cost") + " IS NOT NULL"}
		default:
			of, err := compiler{all: k.all, eventsOfRuns: true}.field(query.Field{Name: f.Name, Values: []query.Value{v}})
			if err != nil {
				return Cond{}, err
			}
			c = k.runsWith(of)
		}
		s, a := k.predicate(c)
		sql, args = append(sql, s), append(args, a...)
	}
	return Cond{sql: []string{Balanced(sql, " OR ")}, args: args}, nil
}
