package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// priceRow is a row of a price table in JSON.
type priceRow struct {
	Model    string         `json:"model"`
	Provider *string        `json:"provider"`
	Table    string         `json:"table_date"`
	Priced   bool           `json:"priced"` // false: the table lists the model without prices
	Rates    []priceRate    `json:"rates"`
	Factors  []price.Factor `json:"factors"`
	Override bool           `json:"override"` // set with prices set; table_date is its first day
}

// priceRate is one price, in micro-USD per million tokens.
type priceRate struct {
	Class   string `json:"class"`
	Service string `json:"service"`
	Above   int64  `json:"above"` // applies above this number of prompt tokens
	Price   int64  `json:"microusd_per_million_tokens"`
}

// foundRow is a row and how it was found.
type foundRow struct {
	Asked    string  `json:"asked"`
	Day      string  `json:"day"`
	Rule     string  `json:"rule"`
	Override bool    `json:"override"` // as in priceRow
	Stale    bool    `json:"price_of_another_day"`
	Source   *string `json:"source"`
	Licence  *string `json:"licence"`
	priceRow
}

func ratesOf(e *price.Entry) []priceRate {
	rates := []priceRate{}
	for _, r := range e.Rates {
		rates = append(rates, priceRate{r.Class.String(), r.Service.String(), r.Above, r.Pico})
	}
	return rates
}

func factorsOf(e *price.Entry) []price.Factor { return append([]price.Factor{}, e.Factors...) }

func runPricesShow(a *app, book *price.Book, model, provider, date string) error {
	day, err := parseDay(date, a.Now())
	if err != nil {
		return err
	}
	m, ok := book.Resolve(model, provider, day)
	if !ok {
		return failure.NotFound(terminal.FirstNonEmpty(m.Reason, "no price for model "+model), "txarchive prices list PATTERN lists models; docs/prices.md has the rules")
	}
	e, _ := m.Entry()
	row := foundRow{Asked: model, Day: day.Format("2006-01-02"), Rule: string(m.Rule), Override: m.Override, Stale: m.Stale,
		priceRow: priceRow{Model: m.Key, Provider: printer.OrNull(m.Provider), Table: m.TableDate, Priced: e.Priced(), Rates: ratesOf(&e), Factors: factorsOf(&e)}}
	for _, t := range book.Tables() {
		if t.Date == m.TableDate && !m.Override {
			row.Source, row.Licence = printer.OrNull(t.Source), printer.OrNull(t.Licence)
		}
	}
	if a.JSON {
		return a.PrintJSON(row)
	}
	a.printFound(&row, &e)
	return nil
}

func (a *app) printFound(r *foundRow, e *price.Entry) {
	c := a.Style()
	fmt.Fprintln(a.Out, c.Bold(terminal.OneLine(r.Model)))
	table := "table of " + r.Table
	if r.Override {
		table = "own price from " + terminal.FirstNonEmpty(r.Table, "the beginning") + " on"
	}
	if r.Stale {
		table += ", not that of " + r.Day
	}
	fields := [][2]string{{"asked", r.Asked}, {"rule", r.Rule}, {"provider", terminal.TextOrDash(r.Provider)}, {"prices", table}}
	if r.Source != nil {
		fields = append(fields, [2]string{"source", *r.Source})
	}
	if r.Licence != nil {
		fields = append(fields, [2]string{"licence", *r.Licence})
	}
	for _, f := range fields {
		fmt.Fprintln(a.Out, c.Dim(fmt.Sprintf("%-10s", f[0]))+terminal.Truncate(terminal.OneLine(f[1]), max(a.Width()-10, 0)))
	}
	if !r.Priced {
		fmt.Fprintln(a.Out, "Listed without prices for input and output: no other row is used instead.")
	}
	if len(r.Rates) > 0 {
		fmt.Fprintf(a.Out, "\n%s\n", a.Fit(tierGrid(e)))
		a.Note("US dollars per million tokens. What has no price of its own is priced by the rules in docs/prices.md")
	}
	for _, f := range r.Factors {
		a.Line("%s: all times %s", f.Name, strconv.FormatFloat(float64(f.PPM)/1e6, 'f', -1, 64))
	}
}

// tierGrid returns a table with a row for each service tier and prompt length, and a column for each class that has a price.
func tierGrid(e *price.Entry) *terminal.Table {
	type tier struct {
		service price.Service
		above   int64
	}
	cells := map[tier]map[price.Class]string{}
	var tiers []tier
	var classes []price.Class
	for _, r := range e.Rates {
		t := tier{r.Service, r.Above}
		if cells[t] == nil {
			cells[t] = map[price.Class]string{}
			tiers = append(tiers, t)
		}
		if !slices.Contains(classes, r.Class) {
			classes = append(classes, r.Class)
		}
		cells[t][r.Class] = price.FormatUSDPerMillion(r.Pico)
	}
	slices.SortFunc(tiers, func(a, b tier) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.above, b.above))
	})
	slices.Sort(classes)
	g := &terminal.Table{Columns: []terminal.Column{{Head: "tier"}, {Head: "prompt", Right: true}}}
	for _, class := range classes {
		g.Columns = append(g.Columns, terminal.Column{Head: strings.ReplaceAll(class.String(), "_", " "), Right: true})
	}
	for _, t := range tiers {
		row := []string{t.service.String(), "any"}
		if t.above > 0 {
			row[1] = "> " + terminal.CompactCount(t.above)
		}
		for _, class := range classes {
			row = append(row, terminal.FirstNonEmpty(cells[t][class], "-"))
		}
		g.Add(row...)
	}
	return g
}
