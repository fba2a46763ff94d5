package policy

import (
	"path"
	"slices"
	"strings"
	"time"
)

// field is a property of runs that is matched by patterns.
type field string

// The fields, by their names in policies.
const (
	fieldID      field = "id"
	fieldFormat  field = "format"
	fieldSource  field = "source"
	fieldThread  field = "thread"
	fieldProject field = "project"
	fieldFlow    field = "flow"
	fieldAgent   field = "agent"
	fieldStatus  field = "status"
	fieldOutcome field = "outcome"
	fieldTag     field = "tag"
	fieldModel   field = "model"
	fieldTitle   field = "title"
)

var matchFields = []field{fieldID, fieldFormat, fieldSource, fieldThread, fieldProject, fieldFlow, fieldAgent, fieldStatus,
	fieldOutcome, fieldTag, fieldModel, fieldTitle}

// Match says which runs a rule applies to. All of its conditions must hold; of a list of patterns, one must match.
type Match struct {
	patterns []fieldPatterns // in the order of matchFields
	age      span            // nanoseconds since the run started
	idle     span            // nanoseconds since its last activity
	size     span            // stored bytes
	cost     span            // nano-USD
	not      *Match
}

type fieldPatterns struct {
	field field
	globs []glob
}

// glob is a pattern in which * stands for any characters, including /, ? for one character and [a-z] for one of a
// set. A value that a run does not state matches only the empty pattern.
type glob struct {
	text    string
	literal bool
}

// slash replaces / while matching, so that * matches it: titles, models and directories are plain text here.
const slash = "\x01"

func newGlob(s string) (glob, error) {
	g := glob{text: strings.ReplaceAll(s, "/", slash), literal: !strings.ContainsAny(s, `*?[\`)}
	_, err := path.Match(g.text, "")
	return g, err
}

func (g glob) match(s string) bool {
	if s == "" {
		return g.text == ""
	}
	if strings.Contains(s, "/") {
		s = strings.ReplaceAll(s, "/", slash)
	}
	if g.literal {
		return g.text == s
	}
	ok, _ := path.Match(g.text, s)
	return ok
}

// covers reports whether g certainly matches everything that o matches. It may return false although g does.
func (g glob) covers(o glob) bool {
	if g.text == o.text {
		return true
	}
	if o.text == "" {
		return false
	}
	if g.text == "*" {
		return true
	}
	if o.literal {
		ok, _ := path.Match(g.text, o.text)
		return ok
	}
	prefix, isPrefix := strings.CutSuffix(g.text, "*")
	plain := strings.IndexAny(o.text, `*?[\`)
	return isPrefix && !strings.ContainsAny(prefix, `*?[\`) && strings.HasPrefix(o.text[:plain], prefix)
}

func (m *Match) empty() bool {
	return len(m.patterns) == 0 && !m.age.set && !m.idle.set && !m.size.set && !m.cost.set && m.not == nil
}

// covers reports whether m certainly matches every run that o matches. It may return false although m does.
func (m *Match) covers(o *Match) bool {
	for _, p := range m.patterns {
		if !p.coveredIn(o) {
			return false
		}
	}
	if !m.age.covers(o.age) || !m.idle.covers(o.idle) || !m.size.covers(o.size) || !m.cost.covers(o.cost) {
		return false
	}
	return m.not == nil || o.not != nil && o.not.covers(m.not) // o excludes at least what m excludes
}

func (p fieldPatterns) coveredIn(o *Match) bool {
	for _, q := range o.patterns {
		if q.field != p.field {
			continue
		}
		return !slices.ContainsFunc(q.globs, func(want glob) bool {
			return !slices.ContainsFunc(p.globs, func(g glob) bool { return g.covers(want) })
		})
	}
	return false
}

// holds reports whether the run matches now, and when that changes just because time passes (zero for never).
func (m *Match) holds(r *Run, now time.Time) (ok bool, next time.Time) {
	for _, p := range m.patterns {
		if !p.holds(r) {
			return false, time.Time{}
		}
	}
	if !m.size.contains(r.Bytes) || m.cost.set && (!r.CostNanoUSD.Known || !m.cost.contains(r.CostNanoUSD.N)) {
		return false, time.Time{}
	}
	ok, next = true, time.Time{}
	for _, c := range [2]struct {
		span
		from time.Time
	}{{m.age, r.clock(ByStarted)}, {m.idle, r.clock(ByActivity)}} {
		if !c.set {
			continue
		}
		holds, at := c.at(c.from, now)
		if !holds && at.IsZero() {
			return false, time.Time{}
		}
		ok, next = both(ok, next, holds, at)
	}
	if m.not != nil {
		holds, at := m.not.holds(r, now)
		if holds && at.IsZero() {
			return false, time.Time{}
		}
		ok, next = both(ok, next, !holds, at)
	}
	return ok, next
}

// both combines two conditions that must both hold, each with the time at which it changes: while one fails, the
// later change decides; while both hold, the earlier one.
func both(a bool, at time.Time, b bool, bt time.Time) (bool, time.Time) {
	switch {
	case a && b:
		return true, earlier(at, bt)
	case a:
		return false, bt
	case b:
		return false, at
	case bt.After(at):
		return false, bt
	}
	return false, at
}

// earlier returns the earlier time; zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// at reports whether the age since from is in the range, and when that changes.
func (s span) at(from, now time.Time) (bool, time.Time) {
	if from.IsZero() {
		return false, time.Time{} // an unknown age is in no range
	}
	age := max(0, int64(now.Sub(from)))
	switch {
	case age < s.lo:
		return false, from.Add(time.Duration(s.lo))
	case age > s.hi:
		return false, time.Time{}
	case s.hi > int64(maxDuration):
		return true, time.Time{}
	}
	return true, from.Add(time.Duration(s.hi) + 1)
}

func (p fieldPatterns) holds(r *Run) bool {
	if p.field == fieldTag {
		return slices.ContainsFunc(r.Tags, p.any)
	}
	if p.field == fieldID && p.any(r.ID) {
		return true
	}
	return p.any(p.field.of(r))
}

func (p fieldPatterns) any(s string) bool {
	return slices.ContainsFunc(p.globs, func(g glob) bool { return g.match(s) })
}

func (f field) of(r *Run) string {
	switch f {
	case fieldID:
		return r.Native
	case fieldFormat:
		return r.Format
	case fieldSource:
		return r.Source
	case fieldThread:
		return r.Group
	case fieldProject:
		return r.Project
	case fieldFlow:
		return r.Flow
	case fieldAgent:
		return r.Agent
	case fieldStatus:
		return r.Status
	case fieldOutcome:
		if r.Outcome == "" {
			return "unknown"
		}
		return string(r.Outcome)
	case fieldModel:
		return r.Model
	}
	return r.Title
}

// UsesVersions reports whether any rule has the tier versions, for which the versions of each original must be compared.
func (p *Policy) UsesVersions() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool {
		return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Tier == TierVersions })
	})
}

// UsesCost reports whether any rule depends on the cost of runs, which is expensive to compute.
func (p *Policy) UsesCost() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool {
		return r.Match.usesCost() || slices.ContainsFunc(r.Except, func(e Exception) bool { return e.Match.usesCost() })
	})
}

func (m *Match) usesCost() bool { return m.cost.set || m.not != nil && m.not.usesCost() }
