package cost

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
)

// Side is one side of a comparison: a period of an archive, or an archive.
type Side struct {
	Accounts     index.Accounts
	Book         *price.Book
	Since, Until time.Time // zero means unbounded
}

// Comparison says what changed and why: group by group, by new and missing runs, and by changed prices.
type Comparison struct {
	Delta
	Runs   RunChanges    `json:"runs"`
	Prices []PriceChange `json:"prices"`
}

// RunChanges breaks down the change of cost by runs. Amounts are micro-USD, null if unknown.
type RunChanges struct {
	New  RunChange `json:"new"`  // usage on the second side only
	Gone RunChange `json:"gone"` // usage on the first side only
	Both RunChange `json:"both"`
}

// RunChange is how many runs there are, and what they cost.
type RunChange struct {
	Runs   int    `json:"runs"`
	Before *int64 `json:"before_microusd"`
	After  *int64 `json:"after_microusd"`
}

// PriceChange is a token class of a model whose price differs at the end of the second side.
type PriceChange struct {
	Model  string `json:"model"`
	Class  string `json:"class"`
	Before *int64 `json:"before_picodollars_per_token"` // null: no price
	After  *int64 `json:"after_picodollars_per_token"`
}

// Compare runs the report of o on both sides. now is the end of unbounded sides. Grouping by time makes every group
// new or gone, since its keys differ between periods.
func Compare(ctx context.Context, before, after Side, o Options, now time.Time) (*Comparison, error) {
	run := func(s Side, by []string) (*Report, error) {
		one := o
		one.Since, one.Until, one.By, one.Limit = s.Since, s.Until, by, 0
		return Run(ctx, s.Accounts, one)
	}
	var sides [2][3]*Report
	for i, s := range []Side{before, after} {
		for j, by := range [][]string{o.By, {string(index.ByRun)}, {string(index.ByModel)}} {
			r, err := run(s, by)
			if err != nil {
				return nil, err
			}
			sides[i][j] = r
		}
	}
	return &Comparison{Delta: *Diff(sides[0][0], sides[1][0]), Runs: runChanges(sides[0][1], sides[1][1]),
		Prices: priceChanges(before, after, sides[0][2], sides[1][2], now)}, nil
}

func runChanges(before, after *Report) (c RunChanges) {
	add := func(to *RunChange, b, a *Figures) {
		to.Runs++
		if b != nil && b.Cost != nil {
			to.Before = sumOf(to.Before, b.Cost)
		}
		if a != nil && a.Cost != nil {
			to.After = sumOf(to.After, a.Cost)
		}
	}
	left := map[string]*Figures{}
	for i := range before.Rows {
		left[identity(before.Rows[i].Keys)] = &before.Rows[i].Figures
	}
	for i := range after.Rows {
		id := identity(after.Rows[i].Keys)
		if b := left[id]; b != nil {
			add(&c.Both, b, &after.Rows[i].Figures)
			delete(left, id)
		} else {
			add(&c.New, nil, &after.Rows[i].Figures)
		}
	}
	for _, b := range left {
		add(&c.Gone, b, nil)
	}
	return c
}

// priceChanges compares the prices of every model that either side used, on the last day of each side.
func priceChanges(before, after Side, usedBefore, usedAfter *Report, now time.Time) []PriceChange {
	changes := []PriceChange{}
	if before.Book == nil || after.Book == nil {
		return changes
	}
	last := func(s Side) time.Time {
		if s.Until.IsZero() || s.Until.After(now) {
			return now
		}
		return s.Until.Add(-time.Microsecond)
	}
	models := map[string]bool{}
	for _, row := range slices.Concat(usedBefore.Rows, usedAfter.Rows) {
		if v := row.Keys[0].Value; v != nil && !models[*v] {
			models[*v] = true
			changes = append(changes, ratesChanged(*v, rates(before.Book, *v, last(before)), rates(after.Book, *v, last(after)))...)
		}
	}
	slices.SortStableFunc(changes, func(a, b PriceChange) int { return strings.Compare(a.Model, b.Model) })
	return changes
}

// rates returns the base prices of a model on a day.
func rates(book *price.Book, model string, day time.Time) map[price.Class]int64 {
	found := map[price.Class]int64{}
	m, ok := book.Resolve(model, "", day)
	if !ok {
		return found
	}
	e, _ := m.Entry()
	for _, r := range e.Rates {
		if r.Service == price.Standard && r.Above == 0 {
			found[r.Class] = r.Pico
		}
	}
	return found
}

func ratesChanged(model string, before, after map[price.Class]int64) (changes []PriceChange) {
	for _, class := range []price.Class{price.Input, price.Output, price.CacheRead, price.CacheWrite, price.CacheWrite1h, price.Reasoning} {
		b, had := before[class]
		a, has := after[class]
		if had == has && a == b {
			continue
		}
		c := PriceChange{Model: model, Class: class.String()}
		if had {
			c.Before = &b
		}
		if has {
			c.After = &a
		}
		changes = append(changes, c)
	}
	return changes
}
