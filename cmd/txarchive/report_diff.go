package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/query"
)

type diffOptions struct {
	by             []string
	mode, timezone string
	limit          int
}

func newReportDiffCommand(a *app) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use: "diff A B [QUERY...]", Short: "Say what changed between two periods or two archives, and why",
		Long: "Compare what was spent in A with what was spent in B, group by group, the largest change first. Each is a period (2026-10,\n" +
			"last-month, 2026-10-01..2026-10-15, 7d; all is everything) or the directory of an archive: a backup that was restored is an\n" +
			"earlier state of this one. A change of cost is split into what the change in tokens alone would have made (volume)\n" +
			"and the rest (rate: another model, price or share of the cache); runs that are new or gone and prices that have changed\n" +
			"are listed below." + exits("4 no such directory", "10 no archive"),
		Example: "  txarchive report diff last-month this-month\n  txarchive report diff 2026-10 2026-11 --by project,model\n" +
			"  txarchive report diff 2026-11-01..2026-11-07 2026-11-08..2026-11-14 format:codex\n  txarchive report diff /mnt/backup/archive ~/.local/share/txarchive",
		Args: takes(2, many),
		RunE: func(cmd *cobra.Command, v []string) error { return runReportDiff(cmd.Context(), a, o, v) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", []string{"model"}, "group by these `KEYS`, as cost does")
	f.StringVar(&o.mode, "mode", string(cost.Auto), "which cost counts, `MODE`: reported, calculated, or auto (reported where it is, else calculated)")
	f.StringVar(&o.timezone, "timezone", "", "`ZONE` of days, as Europe/Berlin (default local)")
	f.IntVarP(&o.limit, "limit", "n", 0, "show `N` rows; 0 is no limit")
	completing(cmd, map[string]cobra.CompletionFunc{"by": fixedList(cost.Keys...), "mode": fixed("auto", "reported", "calculated")})
	return cmd
}

func runReportDiff(ctx context.Context, a *app, o diffOptions, v []string) (err error) {
	zone, err := a.zone(o.timezone)
	if err != nil {
		return err
	}
	if err := checkRows(o.limit); err != nil {
		return err
	}
	options := cost.Options{By: o.by, Mode: cost.Mode(o.mode), Location: zone}
	if text := strings.Join(v[2:], " "); text != "" {
		if options.Query, err = query.Parse(text, a.now(), zone); err != nil {
			return err
		}
	}
	var sides [2]cost.Side
	for i, text := range v[:2] {
		side, closeSide, e := a.side(ctx, text, options)
		if e != nil {
			return e
		}
		defer func() { err = errors.Join(err, closeSide()) }()
		sides[i] = side
	}
	c, err := cost.Compare(ctx, sides[0], sides[1], options, a.now())
	var wrong *cost.OptionError
	if errors.As(err, &wrong) {
		return usage("--"+wrong.Error(), "docs/cost.md describes keys and modes")
	}
	if err != nil {
		return err
	}
	left := 0
	if o.limit > 0 && len(c.Rows) > o.limit {
		left, c.Rows = len(c.Rows)-o.limit, c.Rows[:o.limit]
	}
	if a.json {
		return a.printJSON(map[string]any{"before": v[0], "after": v[1], "by": o.by, "mode": o.mode, "time_zone": a.zoneName(zone), "left_out": left, "rows": c.Rows,
			"totals": c.Totals, "runs": c.Runs, "prices": c.Prices})
	}
	a.printDiff(c, o.by, left)
	return nil
}

// age is a period until now.
var age = lazyregexp.New(`^[0-9]+(h|d|w|mo|y)$`)

// side is a period of the archive that is meant, or another archive.
func (a *app) side(ctx context.Context, text string, o cost.Options) (cost.Side, func() error, error) {
	s := cost.Side{}
	dir := ""
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		dir = text
	} else if strings.ContainsRune(text, filepath.Separator) {
		return s, nil, notFound(text+" is no directory", "A and B are periods (2026-10, 7d) or directories of archives")
	}
	open := a.read
	if dir != "" {
		open = func(ctx context.Context) (*archive.Archive, error) {
			return archive.Open(ctx, dir, archive.Read, a.options())
		}
	} else if text != "all" {
		since, until, ok := strings.Cut(text, "..")
		if !ok && !age.MatchString(text) {
			until = since
		}
		var err error
		if s.Since, s.Until, err = period(since, until, a.now(), o.Location); err != nil {
			return s, nil, usage(fmt.Sprintf("%q is no period", text), "write 2026-10, last-month, 7d, 2026-10-01..2026-10-15, or the directory of an archive")
		}
	}
	store, err := open(ctx)
	if err != nil {
		return s, nil, err
	}
	s.Accounts = store.Index()
	if s.Book, err = index.Prices(ctx, store.Index(), price.Default()); err != nil {
		return s, nil, errors.Join(err, store.Close())
	}
	return s, store.Close, nil
}

func (a *app) printDiff(c *cost.Comparison, by []string, left int) {
	g := &grid{footer: true}
	for _, key := range by {
		g.columns = append(g.columns, column{head: key, flex: cutMiddle})
	}
	g.columns = append(g.columns, column{head: "before", right: true, spare: 2}, column{head: "after", right: true}, column{head: "change", right: true},
		column{head: "volume", right: true, spare: 3}, column{head: "rate", right: true, spare: 4})
	g.columns = append(g.columns, column{head: "why", flex: cut, spare: 1})
	add := func(keys []string, ch *cost.Change) {
		g.add(slices.Concat(keys, []string{dollars(ch.Before.Cost), dollars(ch.After.Cost), change(ch.Cost), change(ch.Volume), change(ch.Rate), strings.Join(ch.Why, ", ")})...)
	}
	for i := range c.Rows {
		var keys []string
		for _, k := range c.Rows[i].Keys {
			keys = append(keys, keyText(k.Value))
		}
		add(keys, &c.Rows[i])
	}
	keys := make([]string, len(by))
	if len(by) > 0 {
		keys[0] = "total"
	}
	add(keys, &c.Totals)
	fmt.Fprintln(a.out, a.fitted(g))
	if left > 0 {
		a.note("%s: --limit 0 shows all", plural(left, "more row", "more rows"))
	}
	runs := fmt.Sprintf("%s new (%s), %s gone (%s)", plural(c.Runs.New.Runs, "run is", "runs are"), dollars(c.Runs.New.After),
		plural(c.Runs.Gone.Runs, "is", "are"), dollars(c.Runs.Gone.Before))
	if n := c.Runs.Both.Runs; n > 0 {
		runs += fmt.Sprintf(", %s on both sides (%s, %s before)", plural(n, "is", "are"), dollars(c.Runs.Both.After), dollars(c.Runs.Both.Before))
	}
	fmt.Fprintf(a.out, "\n%s\n", a.wrapped("", runs, "  "))
	for _, p := range c.Prices {
		class := strings.ReplaceAll(p.Class, "_", " ")
		switch {
		case p.After == nil:
			fmt.Fprintf(a.out, "%s: %s has no price of its own, was $%s per million tokens\n", line(p.Model), class, price.FormatUSDPerMillion(*p.Before))
		case p.Before == nil:
			fmt.Fprintf(a.out, "%s: %s costs $%s per million tokens, had no price of its own\n", line(p.Model), class, price.FormatUSDPerMillion(*p.After))
		default:
			fmt.Fprintf(a.out, "%s: %s costs $%s per million tokens, was $%s\n", line(p.Model), class, price.FormatUSDPerMillion(*p.After), price.FormatUSDPerMillion(*p.Before))
		}
	}
	if c.Totals.Before.Unpriced+c.Totals.After.Unpriced > 0 {
		a.note("Without %s before and %s after whose cost is unknown", plural(c.Totals.Before.Unpriced, "request", "requests"), number(c.Totals.After.Unpriced))
	}
}

// change is a difference of money for people, with its sign.
func change(micro *int64) string {
	switch {
	case micro == nil || *micro == 0:
		return dollars(micro)
	case *micro < 0:
		return "-" + dollars(new(-*micro))
	}
	return "+" + dollars(micro)
}
