package usage

import (
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Package time has days that end before they began; a clock over all years must come to an end.
func TestZoneClockEnds(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"} {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		if c := zoneClock(loc, time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(lastYear, 1, 1, 0, 0, 0, 0, time.UTC)); len(c.offset) < 100 {
			t.Errorf("%s: only %d changes", name, len(c.offset))
		}
	}
}

func TestZoneClock(t *testing.T) {
	for name, want := range map[string]int{"UTC": 1, "Europe/Berlin": 4, "Asia/Kolkata": 1, "America/New_York": 4} {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := zoneClock(loc, from, from.AddDate(1, 4, 0))
		if len(c.offset) != want || c.wholeHours() != (name != "Asia/Kolkata") {
			t.Errorf("%s: %+v", name, c)
		}
		for at := from; at.Before(from.AddDate(1, 4, 0)); at = at.Add(997 * time.Minute) {
			_, offset := at.In(loc).Zone()
			got := c.offset[0]
			for i, begin := range c.from {
				if i > 0 && at.Unix() >= begin {
					got = c.offset[i]
				}
			}
			if got != int64(offset) {
				t.Fatalf("%s at %v: %d, want %d", name, at, got, offset)
			}
		}
	}
}

// TestRollupOf: what usage_days or usage_threads know is answered by them, and nothing else is.
func TestRollupOf(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 3, 1, 10, 17, 0, 0, time.UTC)
	for _, c := range []struct {
		query string
		by    []index.Dimension
		loc   *time.Location
		want  bool
	}{
		{"", nil, berlin, true},
		{"", []index.Dimension{index.ByModel}, berlin, true},
		{"", []index.Dimension{index.ByFormat, index.ByAgent}, berlin, true},
		{"model:claude-sonnet-4-5", []index.Dimension{index.ByProject}, berlin, true},
		{"agent:coder", []index.Dimension{index.ByRun}, berlin, true},
		{"flow:build OR step:test", []index.Dimension{index.ByConversation}, berlin, true},
		{"-status:failed", []index.Dimension{index.ByStep, index.ByFlow}, berlin, true},
		{"run:file-3", []index.Dimension{index.ByStatus, index.ByModel}, berlin, true},
		{"", []index.Dimension{index.BySource}, berlin, true},
		{"", []index.Dimension{index.ByTool}, berlin, false},
		{"", []index.Dimension{index.ByUsage}, berlin, false},
		{"tool:bash", nil, berlin, false},
		{"", nil, kolkata, false},
	} {
		tree, err := query.Parse(c.query, from, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []index.Unit{index.NoTime, index.Day, index.Hour} {
			q := index.SumQuery{By: c.by, Unit: unit, Location: c.loc, UsageFilter: index.UsageFilter{Query: tree, From: from}}
			if _, got := rollupOf(q, zoneClock(c.loc, from, from.AddDate(1, 0, 0))); got != c.want {
				t.Errorf("%q by %v and unit %d: %v", c.query, c.by, unit, got)
			}
		}
	}
}
