package cost

import (
	"context"
	"math/big"
	"time"

	"github.com/txarchive/txarchive/internal/index"
)

// Budget is what was spent of a limit, and what it comes to when it goes on as it did.
type Budget struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"` // the first instant after it
	Limit    int64     `json:"budget_microusd"`
	Spent    int64     `json:"spent_microusd"`
	Forecast int64     `json:"forecast_microusd"` // at To
	Over     bool      `json:"over"`              // spent more than the limit
	WillBe   bool      `json:"forecast_over"`
	// Unpriced counts requests whose cost is unknown, so that Spent is at least what it says.
	Unpriced int64 `json:"unpriced_requests"`
}

// MonthOf is the calendar month of now in loc: its first instant and that of the next one.
func MonthOf(now time.Time, loc *time.Location) (from, to time.Time) {
	year, month, _ := now.In(loc).Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, loc), time.Date(year, month+1, 1, 0, 0, 0, 0, loc)
}

// Forecast says where spending ends when it goes on to the end of a period as it did until now: spent times the
// length of the period by the part of it that is over, counted in real time, so that a month with a change of
// clocks is as long as it is. Before the period and after it, what was spent is all that is known. Amounts are
// micro-USD.
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

// MonthBudget holds this month's usage against a limit in micro-USD. Since, Until and By of o are not looked at.
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
	b.Unpriced = r.Totals.Unpriced
	return b, nil
}
