package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newPricesCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prices",
		Short: "Show and set model prices",
		Long: "Show the price tables, which are part of the program, and add newer tables or prices of your own. Nothing is fetched\n" +
			"over the network unless you give `prices update` a URL. docs/prices.md explains where the tables come from, how a\n" +
			"model name is matched to a row, and how a request is priced." +
			exitCodes("4 no price for the model", "10 no archive"),
		Example: "  txarchive prices list\n  txarchive prices list 'claude-*'\n  txarchive prices show gpt-5 --date 2026-11-20\n" +
			"  txarchive prices set our-model input=0.5 output=2 --from 2026-10-01",
	}
	list := &cobra.Command{
		Use: "list [PATTERN]", Short: "List price tables and used models, or rows by pattern",
		Long: "Without PATTERN, list the price tables, your own prices, and the models that the archive has usage of, each with the\n" +
			"row that prices it. With PATTERN, list the rows of the newest table whose model contains PATTERN or, if PATTERN has\n" +
			"`*` or `?`, matches it. Prices are in US dollars per million tokens." +
			exitCodes("4 no such model"),
		Example: "  txarchive prices list\n  txarchive prices list sonnet-4\n  txarchive prices list 'gpt-5*' --json | jq -r .model",
		Args:    argCount(0, 1),
		RunE: func(cmd *cobra.Command, v []string) error {
			book, err := a.book(cmd.Context())
			switch {
			case err != nil:
				return err
			case len(v) == 0:
				return runPricesUsed(cmd.Context(), a, book)
			}
			return runPricesList(a, book, v[0])
		},
		ValidArgsFunction: completeModels,
	}
	var date, provider string
	show := &cobra.Command{
		Use: "show MODEL", Short: "Show the row that matches a model name, and its prices",
		Long: "Show which row of the price tables matches a model name on a day (UTC), by which rule, and all prices of that row, in\n" +
			"US dollars per million tokens: by class, service tier and length of the prompt." +
			exitCodes("4 no price for the model"),
		Example: "  txarchive prices show claude-sonnet-4-5\n  txarchive prices show anthropic/claude-sonnet-4.5 --date 2026-11-20\n" +
			"  txarchive prices show llama3 --provider ollama",
		Args: argCount(1, 1),
		RunE: func(cmd *cobra.Command, v []string) error {
			book, err := a.book(cmd.Context())
			if err != nil {
				return err
			}
			return runPricesShow(a, book, v[0], provider, date)
		},
		ValidArgsFunction: completeModels,
	}
	show.Flags().StringVar(&date, "date", "", "use the prices of this `DAY`, YYYY-MM-DD (default today)")
	show.Flags().StringVar(&provider, "provider", "", "look up the model of this `PROVIDER`, where a transcript states it apart from the model")
	cmd.AddCommand(list, show, newPricesSetCommand(a), newPricesRemoveCommand(a), newPricesImportCommand(a), newPricesUpdateCommand(a))
	return cmd
}

// completeModels completes models of the newest price table.
func completeModels(_ *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) > 0 {
		return nil, noFiles
	}
	_, entries := newest(price.Default())
	return distinct(entries, func(e listed) string { return e.Key }, typed, nil), noFiles
}

// listed is a row of a price table, and the date of that table.
type listed struct {
	price.Entry
	date string
}

// newest returns the newest table of a book, the rows in it, and the models that tables of added ones have besides.
func newest(book *price.Book) (table price.Table, rows []listed) {
	var added []price.Table
	for _, t := range slices.Backward(book.Tables()) {
		switch {
		case t.Added:
			added = append(added, t)
		case table.Date == "":
			table = t
		}
	}
	seen := map[string]bool{}
	for _, t := range slices.Insert(added, 0, table) {
		for _, e := range t.Entries {
			if !seen[e.Key] {
				seen[e.Key] = true
				rows = append(rows, listed{e, t.Date})
			}
		}
	}
	return table, rows
}

// priceTable is a row of `prices list`.
type priceTable struct {
	Date    string `json:"date"`
	Source  string `json:"source"`
	Licence string `json:"licence"`
	Models  int    `json:"models"`
}

// usedModel is a model with usage in the archive, and the price that applied to it.
type usedModel struct {
	Model    *string `json:"model"` // null if the original states none
	Provider *string `json:"provider"`
	Records  int64   `json:"records"`
	Row      *string `json:"row"`
	Table    *string `json:"table_date"`
	Reason   *string `json:"reason"` // why there is no price, or what was assumed
}

func runPricesUsed(ctx context.Context, a *app, book *price.Book) error {
	tables := []priceTable{}
	for _, t := range book.Tables() {
		tables = append(tables, priceTable{t.Date, t.Source, t.Licence, len(t.Entries)})
	}
	overrides := book.Overrides()
	store, err := a.openReadIfExists(ctx)
	if err != nil {
		return err
	}
	used := []usedModel{}
	if store != nil { // the tables of the program need no archive
		defer store.Close()
		if used, err = usedModels(ctx, store); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"tables": tables, "overrides": append([]price.Override{}, overrides...), "models": used})
	}
	g := &terminal.Table{Columns: []terminal.Column{{Head: "table of"}, {Head: "models", Right: true}, {Head: "from", Shorten: terminal.Truncate}}}
	for _, t := range tables {
		g.Add(t.Date, terminal.Count(t.Models), t.Source+" ("+t.Licence+")")
	}
	fmt.Fprintln(a.Out, a.Fit(g))
	if len(overrides) > 0 {
		g = &terminal.Table{Columns: []terminal.Column{{Head: "own price of", Shorten: terminal.TruncateMiddle}, {Head: "from", DropRank: 1}, {Head: "input", Right: true}, {Head: "output", Right: true}, {Head: "note", Shorten: terminal.Truncate, DropRank: 2}}}
		for _, o := range overrides {
			rates := base(&price.Entry{Rates: o.Rates})
			g.Add(o.Model, terminal.FirstNonEmpty(o.From, "always"), rates[price.Input], rates[price.Output], o.Note)
		}
		fmt.Fprintf(a.Out, "\n%s\n", a.Fit(g))
	}
	if len(used) == 0 {
		a.Note("The archive has no usage of any model yet. txarchive prices list '*' lists all prices")
		return nil
	}
	g = &terminal.Table{Columns: []terminal.Column{{Head: "model used", Shorten: terminal.TruncateMiddle}, {Head: "provider", DropRank: 4}, {Head: "records", Right: true, DropRank: 3}, {Head: "row", Shorten: terminal.TruncateMiddle}, {Head: "table", DropRank: 2}, {Head: "reason", Shorten: terminal.Truncate, DropRank: 1}}}
	for _, m := range used {
		row := terminal.TextOrDash(m.Row)
		if m.Row != nil && m.Model != nil && *m.Row == *m.Model {
			row = "the same" // the same name twice would be shortened in both columns, just where dated models differ
		}
		g.Add(terminal.TextOrDash(m.Model), terminal.TextOrDash(m.Provider), terminal.Count(m.Records), row, terminal.TextOrDash(m.Table), strings.ReplaceAll(strings.TrimPrefix(terminal.TextOrDash(m.Reason), "-"), "_", " "))
	}
	fmt.Fprintf(a.Out, "\n%s\n", a.Fit(g))
	return nil
}

// usedModels returns the models of counted usage with tokens, those with the most records first.
func usedModels(ctx context.Context, store *archive.Archive) ([]usedModel, error) {
	used := []usedModel{}
	err := store.Index().Query(ctx, index.Question{SQL: `SELECT model, provider, count(*), price_model, price_table, price_note FROM v_usage
		WHERE counted AND coalesce(input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens) IS NOT NULL GROUP BY 1, 2, 4, 5, 6 ORDER BY 3 DESC, 1, 2, 4, 5, 6`},
		func([]string) error { return nil },
		func(row []any) error {
			text := func(v any) *string { return printer.OrNull(rows.Text(v)) }
			n, _ := row[2].(int64)
			used = append(used, usedModel{text(row[0]), text(row[1]), n, text(row[3]), text(row[4]), text(row[5])})
			return nil
		})
	return used, err
}

// matchesModel reports whether a model contains a pattern or, if that has * or ?, matches it.
func matchesModel(pattern, model string) bool {
	pattern, model = strings.ToLower(pattern), strings.ToLower(model)
	if !strings.ContainsAny(pattern, "*?") {
		return strings.Contains(model, pattern)
	}
	flat := strings.NewReplacer("/", "\x00", "[", `\[`)
	ok, err := path.Match(flat.Replace(pattern), strings.ReplaceAll(model, "/", "\x00"))
	return ok && err == nil
}

func runPricesList(a *app, book *price.Book, pattern string) error {
	table, entries := newest(book)
	own := map[string]price.Override{} // the one in force today
	for _, o := range book.Overrides() {
		if o.From <= a.Now().UTC().Format(time.DateOnly) {
			own[o.Model] = o
		}
	}
	entries = slices.DeleteFunc(entries, func(e listed) bool { _, ok := own[e.Key]; return ok })
	for _, o := range own {
		entries = append(entries, listed{price.Entry{Key: o.Model, Provider: "own price", Rates: o.Rates, Factors: o.Factors}, o.From})
	}
	slices.SortFunc(entries, func(x, y listed) int { return strings.Compare(x.Key, y.Key) })
	entries = slices.DeleteFunc(entries, func(e listed) bool { return !matchesModel(pattern, e.Key) })
	if len(entries) == 0 {
		return failure.NotFound(fmt.Sprintf("no model in the table of %s matches %q", table.Date, pattern), "txarchive prices list '*' lists all")
	}
	l := a.Listing(terminal.Column{Head: "model", Shorten: terminal.TruncateMiddle}, terminal.Column{Head: "provider", Shorten: terminal.Truncate, DropRank: 1}, terminal.Column{Head: "input", Right: true},
		terminal.Column{Head: "output", Right: true}, terminal.Column{Head: "cache read", Right: true, DropRank: 2}, terminal.Column{Head: "cache write", Right: true, DropRank: 3})
	for i := range entries {
		e := &entries[i].Entry
		_, mine := own[e.Key]
		row := priceRow{Model: e.Key, Provider: printer.OrNull(e.Provider), Table: entries[i].date, Override: mine, Priced: e.Priced(), Rates: ratesOf(e), Factors: factorsOf(e)}
		rates := base(e)
		if err := l.Row(row, e.Key, e.Provider, rates[price.Input], rates[price.Output], rates[price.CacheRead], rates[price.CacheWrite]); err != nil {
			return err
		}
	}
	l.End("")
	if !a.JSON {
		a.Note("%s, table of %s, US dollars per million tokens", terminal.Plural(len(entries), "model", "models"), table.Date)
	}
	return nil
}

// base returns the base prices of a row by class, "-" where it has none.
func base(e *price.Entry) [6]string {
	all := [6]string{"-", "-", "-", "-", "-", "-"}
	for _, r := range e.Rates {
		if r.Service == price.Standard && r.Above == 0 && int(r.Class) < len(all) {
			all[r.Class] = price.FormatUSDPerMillion(r.Pico)
		}
	}
	return all
}

// parseDay parses a day; "" is today.
func parseDay(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now.UTC(), nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, failure.Usage(fmt.Sprintf("--date %q is not a date", text), "--date 2026-11-20")
	}
	return day, nil
}
