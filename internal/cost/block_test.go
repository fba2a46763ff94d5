package cost_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestBlocks(t *testing.T) {
	var records []transcript.Record
	for _, when := range []string{"2026-03-01T10:20:00Z", "2026-03-01T15:00:00Z", "2026-03-01T15:00:01Z", "2026-03-01T20:00:01Z", "2026-03-02T10:00:00Z"} {
		records = append(records, spent(when, "a", 1, 0))
	}
	records = append(records, &transcript.Usage{Model: "a", Input: transcript.Known(9), Output: transcript.Known(0)})
	db := fill(t, file("r1", "r1", records...))
	blocks, err := cost.Blocks(t.Context(), db, cost.Options{}, time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range blocks {
		got = append(got, fmt.Sprint(b.Start.Format("02T15:04:05 "), b.End.Format("02T15:04:05 "), b.Requests, b.Gap, b.Active))
	}
	want := []string{
		"01T10:00:00 01T15:00:00 2 false false", // five hours after its begin is not more than five hours
		"01T15:00:00 01T20:00:00 1 false false",
		"01T20:00:00 02T01:00:00 1 false false",
		"02T01:00:01 02T10:00:00 0 true false",
		"02T10:00:00 02T15:00:00 1 false true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("blocks\n%q, want\n%q", got, want)
	}
	if blocks, err := cost.Blocks(t.Context(), fill(t), cost.Options{}, time.Now()); err != nil || blocks == nil || len(blocks) != 0 {
		t.Errorf("of nothing: %v %v", blocks, err)
	}
}

func TestForecast(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, berlin) }
	from, to := cost.MonthOf(day(20), berlin)
	if !from.Equal(day(1)) || !to.Equal(time.Date(2026, 4, 1, 0, 0, 0, 0, berlin)) || to.Sub(from) != 743*time.Hour {
		t.Fatalf("the month is %v to %v", from, to)
	}
	for _, c := range []struct {
		now              time.Time
		spent, want      int64
		over, willBeOver bool
	}{
		{day(1), 100, 100, false, false},                         // nothing is over yet
		{from.Add(743 * time.Hour / 2), 500, 1000, false, false}, // the limit itself is not over it
		{from.Add(743 * time.Hour / 2), 501, 1002, false, true},
		{day(11), 1001, 3099, true, true}, // 743/240, half up
		{to, 999, 999, false, false},
		{to.AddDate(0, 1, 0), 2000, 2000, true, true},
		{day(2), 0, 0, false, false},
	} {
		b := cost.Forecast(c.spent, 1000, from, to, c.now)
		if b.Forecast != c.want || b.Over != c.over || b.WillBe != c.willBeOver {
			t.Errorf("%v: %+v", c.now, b)
		}
	}
	db := fill(t, file("r1", "r1", spent("2026-02-28T22:59:59Z", "a", 1000, 0), spent("2026-02-28T23:00:00Z", "a", 5, 0),
		spent("2026-03-31T21:59:59Z", "a", 7, 0), spent("2026-03-31T22:00:00Z", "a", 1000, 0), spent("2026-03-05T00:00:00Z", "mystery", 1, 1)))
	b, err := cost.MonthBudget(t.Context(), db, cost.Options{Location: berlin}, 10, day(31))
	if err != nil || b.Spent != 12 || !b.Over || b.Unpriced != 1 {
		t.Errorf("%+v %v", b, err)
	}
}

func TestDiff(t *testing.T) {
	db := fill(t, file("r1", "r1",
		spent("2026-03-01T10:00:00Z", "a", 100, 0), spent("2026-03-01T11:00:00Z", "b", 1000, 0),
		spent("2026-03-02T10:00:00Z", "a", 100, 50), spent("2026-03-02T11:00:00Z", "a", 100, 0), spent("2026-03-02T11:00:00Z", "free", 1, 1)))
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	d := cost.Diff(run(t, db, cost.Options{By: []string{"model"}, Until: midnight}), run(t, db, cost.Options{By: []string{"model"}, Since: midnight}))
	var got []string
	for _, c := range d.Rows {
		got = append(got, fmt.Sprint(*c.Keys[0].Value, " ", value(c.Cost), " ", value(c.Volume), " ", value(c.Rate), " ", c.Why))
	}
	want := []string{
		"a 350 150 200 [more requests more tokens per request dearer tokens]", // 100 to 450, with 2.5 times the tokens
		"b -333 unknown unknown [gone]",
		"free 0 unknown unknown [new]",
	}
	if !slices.Equal(got, want) || *d.Totals.Cost != 17 {
		t.Errorf("%q, want %q; in all %s", got, want, value(d.Totals.Cost))
	}
	// Where nothing was spent on one side, all of the other is the change.
	nothing := run(t, db, cost.Options{By: []string{"model"}, Until: midnight.AddDate(0, 0, -9)})
	some := run(t, db, cost.Options{By: []string{"model"}, Until: midnight})
	if more, less := cost.Diff(nothing, some).Totals, cost.Diff(some, nothing).Totals; value(more.Cost) != "433" || value(less.Cost) != "-433" || more.Rate != nil {
		t.Errorf("from nothing %s, to nothing %s", value(more.Cost), value(less.Cost))
	}
}
