package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Diff prints a comparison by keys. left is how many rows were cut off.
func Diff(p *printer.Printer, c *cost.Comparison, by []string, left int) {
	g := &terminal.Table{Footer: true}
	for _, key := range by {
		g.Columns = append(g.Columns, terminal.Column{Head: key, Shorten: terminal.TruncateMiddle})
	}
	g.Columns = append(g.Columns, terminal.Column{Head: "before", Right: true, DropRank: 2}, terminal.Column{Head: "after", Right: true}, terminal.Column{Head: "change", Right: true},
		terminal.Column{Head: "volume", Right: true, DropRank: 3}, terminal.Column{Head: "rate", Right: true, DropRank: 4})
	g.Columns = append(g.Columns, terminal.Column{Head: "why", Shorten: terminal.Truncate, DropRank: 1})
	add := func(keys []string, ch *cost.Change) {
		g.Add(slices.Concat(keys, []string{terminal.Dollars(ch.Before.Cost), terminal.Dollars(ch.After.Cost), signedDollars(ch.Cost), signedDollars(ch.Volume), signedDollars(ch.Rate), strings.Join(ch.Why, ", ")})...)
	}
	for i := range c.Rows {
		var keys []string
		for _, k := range c.Rows[i].Keys {
			keys = append(keys, terminal.TextOrDash(k.Value))
		}
		add(keys, &c.Rows[i])
	}
	keys := make([]string, len(by))
	if len(by) > 0 {
		keys[0] = "total"
	}
	add(keys, &c.Totals)
	fmt.Fprintln(p.Out, p.Fit(g))
	if left > 0 {
		p.Note("%s: --limit 0 shows all", terminal.Plural(left, "more row", "more rows"))
	}
	runs := fmt.Sprintf("%s new (%s), %s gone (%s)", terminal.Plural(c.Runs.New.Runs, "run is", "runs are"), terminal.Dollars(c.Runs.New.After),
		terminal.Plural(c.Runs.Gone.Runs, "is", "are"), terminal.Dollars(c.Runs.Gone.Before))
	if n := c.Runs.Both.Runs; n > 0 {
		runs += fmt.Sprintf(", %s on both sides (%s, %s before)", terminal.Plural(n, "is", "are"), terminal.Dollars(c.Runs.Both.After), terminal.Dollars(c.Runs.Both.Before))
	}
	fmt.Fprintf(p.Out, "\n%s\n", p.Wrap("", runs, "  "))
	for _, x := range c.Prices {
		class := strings.ReplaceAll(x.Class, "_", " ")
		switch {
		case x.After == nil:
			p.Line("%s: %s has no price of its own, was $%s per million tokens", x.Model, class, price.FormatUSDPerMillion(*x.Before))
		case x.Before == nil:
			p.Line("%s: %s costs $%s per million tokens, had no price of its own", x.Model, class, price.FormatUSDPerMillion(*x.After))
		default:
			p.Line("%s: %s costs $%s per million tokens, was $%s", x.Model, class, price.FormatUSDPerMillion(*x.After), price.FormatUSDPerMillion(*x.Before))
		}
	}
	if c.Totals.Before.Unpriced+c.Totals.After.Unpriced > 0 {
		p.Note("Excludes %s before and %s after of unknown cost", terminal.Plural(c.Totals.Before.Unpriced, "request", "requests"), terminal.Count(c.Totals.After.Unpriced))
	}
}

// signedDollars formats a difference of money with its sign.
func signedDollars(micro *int64) string {
	switch {
	case micro == nil || *micro == 0:
		return terminal.Dollars(micro)
	case *micro < 0:
		return "-" + terminal.Dollars(new(-*micro))
	}
	return "+" + terminal.Dollars(micro)
}
