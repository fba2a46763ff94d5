package policy

import (
	"fmt"
	"time"
)

// verdict applies a rule's limits to one run.
type verdict struct {
	rule  *Rule
	run   *Run
	now   time.Time
	place int64 // position in its group, newest first, from 1
	total int64 // bytes of the group up to and including it
	d     *Decision
}

func (v *verdict) decide() {
	from := v.run.clock(v.rule.By)
	within, maxAge := v.ages()
	if from.IsZero() && v.rule.limited(within, maxAge) {
		v.keep("rule %s: kept, the run has no time that the limits could apply to", v.rule.Name)
		return
	}
	if v.rule.KeepLast != nil && v.place <= *v.rule.KeepLast {
		v.keep("rule %s: %s of the newest %d, which are kept", v.rule.Name, ordinal(v.place), *v.rule.KeepLast)
		return
	}
	age := max(0, v.now.Sub(from))
	if within != nil && age <= *within {
		v.keep("rule %s: %s old, kept within %s", v.rule.Name, formatAge(age), formatLimit(*within))
		v.d.Until = Moment{from.Add(*within + 1)}
		return
	}
	if v.rule.Tiered {
		v.tiers(from, age, within)
		return
	}
	if why := v.over(age, maxAge); len(why) > 0 {
		v.act(v.rule.Steps[0], why)
		return
	}
	v.keep("rule %s: within its limits (%s)", v.rule.Name, v.limits(age, maxAge))
	if maxAge != nil {
		v.d.Until = Moment{from.Add(*maxAge + 1)}
	}
}

// limited reports whether the rule decides by age or by order, both of which need a time.
func (r *Rule) limited(within, maxAge *time.Duration) bool {
	return r.KeepLast != nil || within != nil || maxAge != nil || r.MaxCount != nil || r.MaxBytes != nil || r.Tiered
}

// ages returns the age limits for the run: those of the first matching exception, or else the rule's own.
func (v *verdict) ages() (within, maxAge *time.Duration) {
	within, maxAge = v.rule.KeepWithin, v.rule.MaxAge
	for i := range v.rule.Except {
		e := &v.rule.Except[i]
		if ok, _ := e.Match.holds(v.run, v.now); ok {
			if e.KeepWithin != nil {
				within = e.KeepWithin
			}
			if e.MaxAge != nil {
				maxAge = e.MaxAge
			}
			break
		}
	}
	return within, maxAge
}

// over describes the limits that the run exceeds. A rule without such limits applies to every run.
func (v *verdict) over(age time.Duration, maxAge *time.Duration) []string {
	r := v.rule
	var why []string
	if maxAge != nil && age > *maxAge {
		why = append(why, fmt.Sprintf("rule %s: %s old, over max_age %s", r.Name, formatAge(age), formatLimit(*maxAge)))
	}
	if r.MaxCount != nil && v.place > *r.MaxCount {
		why = append(why, fmt.Sprintf("rule %s: %s newest%s, over max_count %d", r.Name, ordinal(v.place), v.ofGroup(), *r.MaxCount))
	}
	if r.MaxBytes != nil && v.total > *r.MaxBytes {
		why = append(why, fmt.Sprintf("rule %s: %s%s up to it, over max_bytes %s", r.Name, formatSize(v.total), v.ofGroup(), formatSize(*r.MaxBytes)))
	}
	if maxAge != nil || r.MaxCount != nil || r.MaxBytes != nil {
		return why
	}
	switch {
	case r.KeepLast != nil:
		return []string{fmt.Sprintf("rule %s: %s newest%s, beyond keep_last %d", r.Name, ordinal(v.place), v.ofGroup(), *r.KeepLast)}
	case r.KeepWithin != nil:
		return []string{fmt.Sprintf("rule %s: %s old, beyond keep_within", r.Name, formatAge(age))}
	}
	return []string{fmt.Sprintf("rule %s matches", r.Name)}
}

// tiers applies the last tier whose time has come. A run that keep_within protected for longer enters at the tier of
// its age.
func (v *verdict) tiers(from time.Time, age time.Duration, within *time.Duration) {
	reached := -1
	var next time.Time
	for i, s := range v.rule.Steps {
		if age > s.After {
			reached = i
		} else if next.IsZero() {
			next = from.Add(max(s.After, deref(within)) + 1)
		}
	}
	if reached < 0 {
		v.keep("rule %s: %s old, the first tier begins after %s", v.rule.Name, formatAge(age), formatLimit(v.rule.Steps[0].After))
	} else {
		s := v.rule.Steps[reached]
		v.act(s, []string{fmt.Sprintf("rule %s: %s old, over %s", v.rule.Name, formatAge(age), formatLimit(s.After))})
		v.d.versions = v.rule.Steps[0].Tier == TierVersions // the weakest comes first
	}
	v.d.Until = Moment{next}
}

func deref(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

func (v *verdict) act(s Step, why []string) {
	v.d.Action, v.d.Tier, v.d.Over, v.d.Reasons = s.Action, s.Tier, s.Over, why
}

func (v *verdict) keep(format string, args ...any) {
	v.d.Action, v.d.Reasons = Keep, []string{fmt.Sprintf(format, args...)}
}

func (v *verdict) limits(age time.Duration, maxAge *time.Duration) string {
	s, sep := "", ""
	add := func(format string, args ...any) {
		s += sep + fmt.Sprintf(format, args...)
		sep = ", "
	}
	if maxAge != nil {
		add("%s of %s", formatAge(age), formatLimit(*maxAge))
	}
	if v.rule.MaxCount != nil {
		add("%d of %d runs", v.place, *v.rule.MaxCount)
	}
	if v.rule.MaxBytes != nil {
		add("%s of %s", formatSize(v.total), formatSize(*v.rule.MaxBytes))
	}
	return s
}

func (v *verdict) ofGroup() string {
	if v.d.Group == "" {
		return ""
	}
	return " of " + string(v.d.Group)
}

func ordinal(n int64) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
