package cost

import (
	"context"
	"math/big"
	"time"

	"github.com/txarchive/txarchive/internal/index"
)

// Budget compares what was spent with a limit, and projects spending to the end of the period.
type Budget struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"` // exclusive
	Limit    int64     `json:"budget_microusd"`
	Spent    int64     `json:"spent_microusd"`
	Forecast int64     `json:"forecast_microusd"` // projected spending at To
	Over     bool      `json:"over"`              // spent more than the limit
	WillBe   bool      `json:"forecast_over"`
	// Unpriced counts requests whose cost is unknown. If there are any, Spent is a lower bound.
	Unpriced int64 `json:"unpriced_requests"`
	// Undated counts requests that state no time, so that no month includes them.
	Undated int64 `json:"undated_requests"`
}

// MonthOf returns the calendar month of now in loc: its first instant and that of the next month.
func MonthOf(now time.Time, loc *time.Location) (from, to time.Time) {
	year, month, _ := now.In(loc).Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, loc), time.Date(year, month+1, 1, 0, 0, 0, 0, loc)
}

// Forecast projects spending linearly to the end of a period: spent times the length of the period divided by the
// elapsed part, in real time, so that a month with a clock change has its true length. Outside the period the
// forecast is what was spent. Amounts are micro-USD.
func Forecast(spent, limit int64, from, to, now time.Time) Budget {
	b := Budget{From: from, To: to, Limit: limit, Spent: spent, Forecast: spent}
	length, over := to.Sub(from), now.Sub(from)
	if over > 0 && over < length {
		n := new(big.Int).Mul(big.NewInt(spent), big.NewInt(int64(length)))
		n.Add(n, big.NewInt(int64(over)/2)).Div(n, big.NewInt(int64(over)))
		if b.Forecast = spent; n.IsInt64() {
			b.Forecast = n.Int64()
		}
	}
	b.Over, b.WillBe = b.Spent > limit, b.Forecast > limit
	return b
}

// MonthBudget compares this month's usage with a limit in micro-USD. Since, Until and By of o are ignored.
func MonthBudget(ctx context.Context, accounts index.Accounts, o Options, limit int64, now time.Time) (Budget, error) {
	from, to := MonthOf(now, o.location())
	o.Since, o.Until, o.By, o.Limit = from, to, nil, 0
	r, err := Run(ctx, accounts, o)
	if err != nil {
		return Budget{}, err
	}
	spent := int64(0)
	if r.Totals.Cost != nil {
		spent = *r.Totals.Cost
	}
	b := Forecast(spent, limit, from, to, now)
	b.Unpriced, b.Undated = r.Totals.Unpriced, r.Undated
	return b, nil
}
