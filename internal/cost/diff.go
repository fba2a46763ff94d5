package cost

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// Delta is the difference between two reports, and its reasons.
type Delta struct {
	Rows   []Change `json:"rows"` // the largest change of cost first
	Totals Change   `json:"totals"`
}

// Change is one group before and after.
type Change struct {
	Keys          []Key
	Before, After Figures
	Cost          *int64 // micro-USD; nil if either side has usage whose cost is unknown
	// Volume and Rate break down the change of cost: Volume is the change that different numbers of tokens alone
	// would have caused, and Rate is the rest, because tokens became dearer or cheaper (another model, price, or
	// share of the cache). Both are nil if one side has no tokens or no cost.
	Volume, Rate *int64
	Why          []string
}

// MarshalJSON puts the keys before the rest.
func (c Change) MarshalJSON() ([]byte, error) {
	return withKeys(c.Keys, struct {
		Before Figures  `json:"before"`
		After  Figures  `json:"after"`
		Cost   *int64   `json:"change_microusd"`
		Volume *int64   `json:"by_volume_microusd"`
		Rate   *int64   `json:"by_rate_microusd"`
		Why    []string `json:"why"`
	}{c.Before, c.After, c.Cost, c.Volume, c.Rate, c.Why})
}

// Diff compares two reports with the same grouping: of two periods, or of two states of an archive. Groups are
// matched by their keys, so reports of two periods should not be grouped by time.
func Diff(before, after *Report) *Delta {
	d := &Delta{Rows: []Change{}, Totals: change(nil, &before.Totals, &after.Totals)}
	type pair struct {
		keys          []Key
		before, after *Figures
	}
	pairs := map[string]*pair{}
	at := func(r *Row) *pair {
		id := identity(r.Keys)
		if pairs[id] == nil {
			pairs[id] = &pair{keys: r.Keys}
		}
		return pairs[id]
	}
	for i := range before.Rows {
		at(&before.Rows[i]).before = &before.Rows[i].Figures
	}
	for i := range after.Rows {
		at(&after.Rows[i]).after = &after.Rows[i].Figures
	}
	for _, p := range pairs {
		d.Rows = append(d.Rows, change(p.keys, p.before, p.after))
	}
	size := func(c Change) int64 {
		if c.Cost == nil {
			return -1
		}
		return max(*c.Cost, -*c.Cost)
	}
	slices.SortFunc(d.Rows, func(a, b Change) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(b.After.All(), a.After.All()), strings.Compare(identity(a.Keys), identity(b.Keys)))
	})
	return d
}

// change compares one group; a side is nil if the group is missing there.
func change(keys []Key, before, after *Figures) Change {
	c := Change{Keys: keys, Why: []string{}}
	switch {
	case before == nil:
		c.After, c.Cost, c.Why = *after, after.Cost, append(c.Why, "new")
		return c
	case after == nil:
		c.Before, c.Why = *before, append(c.Why, "gone")
		if before.Cost != nil {
			c.Cost = new(-*before.Cost)
		}
		return c
	}
	c.Before, c.After = *before, *after
	switch {
	case before.Requests == 0: // only in the totals: there was no usage before
		c.Cost = after.Cost
	case after.Requests == 0 && before.Cost != nil:
		c.Cost = new(-*before.Cost)
	case before.Cost != nil && after.Cost != nil:
		c.Cost = new(*after.Cost - *before.Cost)
		if b, a := before.All(), after.All(); b > 0 && a > 0 {
			c.Volume = new(scale(*before.Cost, a-b, b))
			c.Rate = new(*c.Cost - *c.Volume)
		}
	}
	c.Why = append(c.Why, reasons(before, after, c.Rate)...)
	return c
}

// reasons describes in words why the cost changed.
func reasons(before, after *Figures, rate *int64) (why []string) {
	say := func(a, b int64, more, less string) {
		switch {
		case b > a:
			why = append(why, more)
		case b < a:
			why = append(why, less)
		}
	}
	say(before.Requests, after.Requests, "more requests", "fewer requests")
	if before.Requests > 0 && after.Requests > 0 {
		say(scale(before.All(), 1000, before.Requests), scale(after.All(), 1000, after.Requests), "more tokens per request", "fewer tokens per request")
	}
	if rate != nil {
		say(0, *rate, "dearer tokens", "cheaper tokens")
	}
	say(before.Unpriced, after.Unpriced, "more requests without a price", "fewer requests without a price")
	return why
}

// scale returns n*a/b, rounded half up; b is positive.
func scale(n, a, b int64) int64 {
	x := new(big.Int).Mul(big.NewInt(n), big.NewInt(a))
	x.Lsh(x, 1).Add(x, big.NewInt(b)).Div(x, new(big.Int).Lsh(big.NewInt(b), 1))
	return x.Int64()
}
