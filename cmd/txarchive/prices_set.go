package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/terminal"
)

const pricesKept = "\n\n" +
	"Prices are stored in the packs, like the originals, and are the same on every machine. Usage that a change affects is\n" +
	"repriced at once, and `reindex` gives the same costs."

const changesPrices = "10 no archive"

func newPricesSetCommand(a *app) *cobra.Command {
	var o price.Override
	var rates []string
	cmd := &cobra.Command{
		Use: "set MODEL CLASS=USD...", Short: "Set your own price of a model",
		Long: "Set your own price of a model, in US dollars per million tokens. It takes precedence over all price tables. input and\n" +
			"output are required; where cache_read, cache_write, cache_write_1h or reasoning is not given, the rules in\n" +
			"docs/prices.md apply.\n\n" +
			"input@200000=6 applies to prompts longer than 200,000 tokens, output.batch=7.5 to a service tier (priority, flex,\n" +
			"batch). The price applies to every spelling of the model name; a price for azure/gpt-5 applies only to that provider." + pricesKept +
			exitCodes(changesPrices, "11 another txarchive is writing"),
		Example: "  txarchive prices set our-model input=0.5 output=2\n  txarchive prices set claude-sonnet-4-5 input=2.4 output=12 cache_read=0.24 --from 2026-10-01 --note 'contract 2026'",
		Args:    argCount(2, unlimited), ValidArgsFunction: completeModels,
		RunE: func(cmd *cobra.Command, v []string) error {
			o.Model, rates = v[0], v[1:]
			for _, text := range rates {
				r, err := price.ParseRate(text)
				if err != nil {
					return failure.Usage(err.Error(), "input=3 output=15, in US dollars per million tokens")
				}
				if slices.ContainsFunc(o.Rates, func(q price.Rate) bool { return q.Class == r.Class && q.Service == r.Service && q.Above == r.Above }) {
					class, _, _ := strings.Cut(text, "=")
					return failure.Usage(fmt.Sprintf("%s is given twice", class), "one price for each class, service tier and length of the prompt")
				}
				o.Rates = append(o.Rates, r)
			}
			if err := o.Validate(); err != nil {
				return failure.Usage(err.Error(), "txarchive prices set our-model input=0.5 output=2 --from 2026-10-01")
			}
			return runPricesChange(cmd.Context(), a, func(*archive.Archive) ([]blob.Fact, error) { return a.overrideFacts(o) })
		},
	}
	cmd.Flags().StringVar(&o.From, "from", "", "apply the price from this `DAY` on, YYYY-MM-DD in UTC (default always)")
	cmd.Flags().StringVar(&o.Note, "note", "", "record this `TEXT` as a note")
	return cmd
}

func newPricesRemoveCommand(a *app) *cobra.Command {
	var from, table string
	cmd := &cobra.Command{
		Use: "remove MODEL", Short: "Remove your own prices of a model",
		Long: "Remove all your own prices of a model, or only the one that applies from a given day (--from). With --table, remove\n" +
			"instead a price table that `prices update` has added." + pricesKept +
			exitCodes("4 no such price", changesPrices, "11 another txarchive is writing"),
		Example: "  txarchive prices remove our-model\n  txarchive prices remove our-model --from 2026-10-01\n  txarchive prices remove --table 2026-11-01",
		Args: func(cmd *cobra.Command, v []string) error {
			if table == "" {
				return argCount(1, 1)(cmd, v)
			}
			return argCount(0, 0)(cmd, v)
		},
		RunE: func(cmd *cobra.Command, v []string) error {
			any := !cmd.Flags().Changed("from")
			if table != "" {
				if !any {
					return failure.Usage("--from and --table cannot be combined", "txarchive prices remove --table "+table)
				}
				return runPricesChange(cmd.Context(), a, func(store *archive.Archive) ([]blob.Fact, error) {
					return a.removedTable(cmd.Context(), store, table)
				})
			}
			return runPricesChange(cmd.Context(), a, func(store *archive.Archive) ([]blob.Fact, error) {
				return a.removedPrices(cmd.Context(), store, v[0], func(o price.Override) bool { return any || o.From == from })
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "remove only the price that applies from this `DAY` (\"\" = the one that always applies)")
	cmd.Flags().StringVar(&table, "table", "", "remove the price table of this `DAY` (see prices list)")
	return cmd
}

func newPricesImportCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Set your own prices from a CSV file",
		Long: "Set your own prices from a CSV file (- = standard input). The first line names the columns: model, from, note, and\n" +
			"classes as in `prices set` (input, output, cache_read, output.batch, ...), in US dollars per million tokens. If a line\n" +
			"is wrong, nothing is imported." + pricesKept +
			exitCodes("4 no such file", changesPrices, "11 another txarchive is writing"),
		Example: "  txarchive prices import contract.csv\n  printf 'model,from,input,output\\nour-model,2026-10-01,0.5,2\\n' | txarchive prices import -",
		Args:    argCount(1, 1),
		RunE: func(cmd *cobra.Command, v []string) error {
			in := a.input(cmd.Context())
			if v[0] != "-" {
				file, err := os.Open(v[0])
				if err != nil {
					return err
				}
				defer file.Close()
				in = file
			}
			overrides, err := price.ReadOverrides(in)
			if err != nil {
				return failure.Usage(fmt.Sprintf("%s: %v", v[0], err), "`txarchive prices import --help` shows an example")
			}
			return runPricesChange(cmd.Context(), a, func(*archive.Archive) ([]blob.Fact, error) { return a.overrideFacts(overrides...) })
		},
	}
}

func (a *app) overrideFacts(all ...price.Override) (facts []blob.Fact, err error) {
	for _, o := range all {
		f, err := a.newFact(index.FactPrice, index.PriceFactKey(o.Model, o.From), o)
		if err != nil {
			return nil, err
		}
		facts = append(facts, f)
	}
	return facts, nil
}

// removedPrices returns the facts that remove the overrides of a model that are meant.
func (a *app) removedPrices(ctx context.Context, store *archive.Archive, model string, meant func(price.Override) bool) (facts []blob.Fact, err error) {
	for f, err := range store.Index().Facts(ctx, index.FactPrice) {
		if err != nil {
			return nil, err
		}
		var o price.Override
		if err := json.Unmarshal(f.Value, &o); err != nil {
			return nil, fmt.Errorf("price %s: %w", f.Key, err)
		}
		if o.Model == model && meant(o) {
			if f, err = a.newFact(f.Kind, f.Key, nil); err != nil {
				return nil, err
			}
			facts = append(facts, f)
		}
	}
	if len(facts) == 0 {
		return nil, failure.NotFound(fmt.Sprintf("no price of your own for %q", model), "txarchive prices list shows them")
	}
	return facts, nil
}

// removedTable returns the facts that remove the table of a day.
func (a *app) removedTable(ctx context.Context, store *archive.Archive, day string) ([]blob.Fact, error) {
	for f, err := range store.Index().Facts(ctx, index.FactPriceTable) {
		if err != nil {
			return nil, err
		}
		if f.Key == day {
			f, err = a.newFact(f.Kind, f.Key, nil)
			return []blob.Fact{f}, err
		}
	}
	return nil, failure.NotFound(fmt.Sprintf("no table of %q was added by prices update", day), "txarchive prices list shows them; built-in tables cannot be removed")
}

// runPricesChange writes facts about prices and computes the costs in the index again.
func runPricesChange(ctx context.Context, a *app, what func(*archive.Archive) ([]blob.Fact, error)) error {
	var facts []blob.Fact
	var changed int64
	err := a.update(ctx, a.openWrite, func(store *archive.Archive, ing *ingest.Ingester) (err error) {
		if facts, err = what(store); err != nil {
			return err
		}
		slices.SortStableFunc(facts, func(a, b blob.Fact) int { return strings.Compare(a.Key, b.Key) })
		if err = ing.WriteFacts(ctx, facts); err == nil {
			changed, err = ing.Price(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"prices": len(facts), "repriced_records": changed})
	}
	a.Note("%s; %s repriced", terminal.Plural(len(facts), "price changed", "prices changed"), terminal.Plural(changed, "record", "records"))
	return nil
}

// book returns the prices of the archive; without an archive, those of the program.
func (a *app) book(ctx context.Context) (*price.Book, error) {
	store, err := a.openReadIfExists(ctx)
	if store == nil || err != nil {
		return price.Default(), err
	}
	defer store.Close()
	return index.Prices(ctx, store.Index(), price.Default())
}
