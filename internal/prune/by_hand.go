package prune

import (
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// byHand decides on runs that were named.
func (s *snapshot) byHand(plan *Plan, c Choice, now time.Time) error {
	missing := map[string]bool{}
	for _, id := range c.Runs {
		missing[id] = true
	}
	chosen, err := s.chosen(c, missing)
	if err != nil {
		return err
	}
	for _, id := range c.Runs {
		if missing[id] {
			return fmt.Errorf("run %s: %w", id, index.ErrNotFound)
		}
	}
	return s.Each(func(number, _ int, r *policy.Run) error {
		how := chosen[number]
		if how == 0 {
			return nil
		}
		reason := "selected by " + c.By
		if how == follows {
			reason = "follows its parent " + r.Parent
		}
		d := policy.Decision{RunID: r.ID, Action: c.Action, Ledger: !c.Drop, Bytes: r.Bytes, Reasons: []string{reason}}
		if c.Action == policy.Thin {
			if d.Tier, d.Over = c.Tier, c.Over; d.Tier == policy.TierVersions {
				d.Bytes = r.EarlierBytes
			}
		}
		why := protection(r, now)
		if why == "" && d.Action == policy.Thin {
			why = r.ThinnedTo(d.Tier)
		}
		if why != "" {
			d.Action, d.Tier, d.Over, d.Bytes, d.Reasons = policy.Keep, "", 0, 0, []string{why}
			return s.plan(&plan.spared, &plan.Spared, number, r, &d)
		}
		return s.plan(&plan.runs, &plan.Runs, number, r, &d)
	})
}

// How a run was chosen.
const (
	named   = 1
	follows = 2
)

// chosen returns for each run, by number, whether it was named, or is a descendant of a named run if c.Follow is set.
// It deletes the names that it finds.
func (s *snapshot) chosen(c Choice, names map[string]bool) ([]uint8, error) {
	all, parents := make([]uint8, s.Len()), []int32(nil)
	if c.Follow {
		parents = make([]int32, s.Len())
	}
	if err := s.Each(func(number, parent int, r *policy.Run) error {
		if names[r.ID] {
			all[number] = named
			delete(names, r.ID)
		}
		if c.Follow {
			parents[number] = int32(parent)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for more := true; more; {
		more = false
		for number, parent := range parents {
			if all[number] == 0 && parent >= 0 && all[parent] > 0 {
				all[number], more = follows, true
			}
		}
	}
	return all, nil
}
