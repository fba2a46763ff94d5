package cost_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// explained is two runs with one request in both, a total, an unknown model and a request of its own.
func explained(t *testing.T) *sqlite.DB {
	key := func(u *transcript.Usage) *transcript.Usage { c := *u; c.Key = "one"; return &c }
	both := spent("2026-03-01T10:00:00Z", "a", 10, 2)
	both.Cost, both.CostSource = transcript.Known(25_000), "total_cost_usd"
	derived := spent("2026-03-01T12:00:00Z", "a", 500, 0)
	derived.Verdict = transcript.DerivedTotal
	t.Helper()
	return fill(t,
		file("r1", "first", key(both), derived, spent("2026-03-01T13:00:00Z", "mystery", 1, 2)),
		file("r2", "second", key(both), spent("2026-03-01T14:00:00Z", "a", 7, 0)))
}

func TestExplain(t *testing.T) {
	db := explained(t)
	for _, c := range []struct {
		what string
		o    cost.Options
		of   func() cost.Subject
		want []string
	}{
		{"a figure", cost.Options{By: []string{"day", "model"}}, func() cost.Subject {
			day, model := "2026-03-01", "a"
			return cost.Subject{Keys: []cost.Key{{Name: "day", Value: &day}, {Name: "model", Value: &model}}}
		}, []string{"first:1 counted reported 25000 of ", "second:1 duplicate left out: duplicate unknown of first:1",
			"first:2 derived total left out: derived total unknown of ", "second:2 counted calculated 7000 of "}},
		{"a run", cost.Options{Mode: cost.Calculated}, func() cost.Subject {
			r, err := db.Run(t.Context(), "r2")
			if err != nil {
				t.Fatal(err)
			}
			return cost.Subject{Run: r.ID}
		}, []string{"second:1 duplicate left out: duplicate unknown of ", "second:2 counted calculated 7000 of "}},
	} {
		e, err := cost.Explain(t.Context(), db, c.o, c.of(), book())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var sum int64
		for _, r := range e.Records {
			of := ""
			if r.Of != nil {
				of = fmt.Sprint(r.Of.Path, ":", r.Of.Line)
			}
			got = append(got, fmt.Sprint(r.Place.Path, ":", r.Place.Line, " ", r.Verdict, " ", r.Used, " ", value(r.Cost), " of ", of))
			if r.Cost != nil {
				sum += *r.Cost
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.what, got, c.want)
		}
		if e.Figures.Nano == nil || sum != *e.Figures.Nano {
			t.Errorf("%s: the records are %d, the figure is %s", c.what, sum, value(e.Figures.Nano))
		}
	}
}

func TestExplainRecord(t *testing.T) {
	db := explained(t)
	e, err := cost.Explain(t.Context(), db, cost.Options{Query: parse(t, "model:a cost>0.00001")}, cost.Subject{}, book())
	if err != nil {
		t.Fatal(err)
	}
	r := e.Records[0]
	if *r.Difference != -5000 || r.Price.Row != "a" || r.Price.Rule != "exact" || r.Price.Table != "2020-01-01" || r.Price.Outdated || r.Place.Offset != 0 || r.Place.Length != 100 ||
		!slices.Equal(r.Price.Lines, []cost.PriceLine{{Class: "input", Tokens: 10, PicoPerToken: 1e6, Pico: 1e7}, {Class: "output", Tokens: 2, PicoPerToken: 5e6, Pico: 1e7}}) {
		t.Errorf("%+v", r)
	}
	e, err = cost.Explain(t.Context(), db, cost.Options{}, cost.Subject{Usage: r.ID}, book())
	if err != nil || len(e.Records) != 2 {
		t.Errorf("one request: %+v %v", e, err)
	}
	events := index.Event{Place: index.Place{Chain: r.Place.Chain, Origin: transcript.Origin{Offset: 40, Length: 10}}}
	if e, err = cost.Explain(t.Context(), db, cost.Options{}, cost.Subject{Event: &events}, book()); err != nil || len(e.Records) != 1 || e.Records[0].Place.Line != 1 {
		t.Errorf("the request of an event: %+v %v", e, err)
	}
}

func TestReprice(t *testing.T) {
	db := fill(t, file("r1", "r1", spent("2026-03-01T10:00:00Z", "a", 10, 0), spent("2026-03-02T10:00:00Z", "a", 10, 0), spent("2026-03-02T10:00:00Z", "mystery", 10, 0)))
	newer := book().With([]price.Override{
		{Model: "mystery", Rates: []price.Rate{{Class: price.Input, Pico: 7e6}, {Class: price.Output, Pico: 7e6}}},
		{Model: "a", From: "2026-03-02", Rates: []price.Rate{{Class: price.Input, Pico: 2e6}, {Class: price.Output, Pico: 2e6}}},
	})
	for _, want := range []int64{2, 0} {
		if n, err := db.Reprice(t.Context(), newer); err != nil || n != want {
			t.Errorf("%d records changed (%v), want %d", n, err, want)
		}
	}
	for _, by := range [][]string{{"model"}, {"model", "run"}} {
		if got := fmt.Sprint(table(run(t, db, cost.Options{By: by}))); got != "map[a:30 mystery:70]" {
			t.Errorf("by %v: %s", by, got)
		}
	}
	e, err := cost.Explain(t.Context(), db, cost.Options{Query: parse(t, "model:mystery")}, cost.Subject{}, book())
	if err != nil || !e.Records[0].Price.Outdated || e.Records[0].Price.Reason == "" {
		t.Errorf("by an older book: %+v %v", e, err)
	}
}
