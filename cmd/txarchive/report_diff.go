package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/report"
)

type diffOptions struct {
	by             []string
	mode, timezone string
	limit          int
	fileTimes      bool
}

func newReportDiffCommand(a *app) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use: "diff A B [QUERY...]", Short: "Compare the cost of two periods or two archives",
		Long: "Compare the cost of A with that of B, group by group, largest change first. A and B are periods (2026-10, last-month,\n" +
			"2026-10-01..2026-10-15, 7d, or all) or directories of archives: a restored backup is an earlier state of this archive.\n\n" +
			"A change of cost is split into the part that the change in tokens alone explains (volume) and the rest (rate: another\n" +
			"model, price or share of the cache). Below are the runs that are new or gone, and the prices that have changed." +
			exitCodes("4 no such directory", "10 no archive"),
		Example: "  txarchive report diff last-month this-month\n  txarchive report diff 2026-10 2026-11 --by project,model\n" +
			"  txarchive report diff 2026-11-01..2026-11-07 2026-11-08..2026-11-14 format:codex\n  txarchive report diff /mnt/backup/archive ~/.local/share/txarchive",
		Args: argCount(2, unlimited),
		RunE: func(cmd *cobra.Command, v []string) error { return runReportDiff(cmd.Context(), a, o, v) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", []string{"model"}, "group by these `KEYS`, as in cost")
	f.StringVar(&o.mode, "mode", string(cost.Auto), "use cost `MODE`: reported, calculated, or auto (reported if there is one, else calculated)")
	f.StringVar(&o.timezone, "timezone", "", "time `ZONE` of days, such as Europe/Berlin (default local)")
	f.BoolVar(&o.fileTimes, "file-times", false, "date requests that state no time by the last change of their file")
	f.IntVarP(&o.limit, "limit", "n", 0, "show at most `N` rows (0 = no limit)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"by": fixedWords(cost.Keys...), "mode": fixed("auto", "reported", "calculated")})
	return cmd
}

func runReportDiff(ctx context.Context, a *app, o diffOptions, v []string) (err error) {
	zone, err := a.zone(o.timezone)
	if err != nil {
		return err
	}
	if err := printer.CheckLimit(o.limit); err != nil {
		return err
	}
	options := cost.Options{By: o.by, Mode: cost.Mode(o.mode), Location: zone, FileTimes: o.fileTimes}
	if text := strings.Join(v[2:], " "); text != "" {
		if options.Query, err = query.Parse(text, a.Now(), zone); err != nil {
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
	c, err := cost.Compare(ctx, sides[0], sides[1], options, a.Now())
	if err != nil {
		return optionError(err)
	}
	left := 0
	if o.limit > 0 && len(c.Rows) > o.limit {
		left, c.Rows = len(c.Rows)-o.limit, c.Rows[:o.limit]
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"before": v[0], "after": v[1], "by": o.by, "mode": o.mode, "time_zone": a.ZoneName(zone), "left_out": left, "rows": c.Rows,
			"totals": c.Totals, "runs": c.Runs, "prices": c.Prices})
	}
	report.Diff(&a.Printer, c, o.by, left)
	return nil
}

// age matches a period that ends now.
var age = lazyregexp.New(`^[0-9]+(h|d|w|mo|y)$`)

// side returns one side of the comparison: a period of the archive, or another archive.
func (a *app) side(ctx context.Context, text string, o cost.Options) (cost.Side, func() error, error) {
	s := cost.Side{}
	dir := ""
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		dir = text
	} else if strings.ContainsRune(text, filepath.Separator) {
		return s, nil, failure.NotFound(text+" is not a directory", "A and B are periods (2026-10, 7d) or directories of archives")
	}
	open := a.openRead
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
		if s.Since, s.Until, err = timeRange(since, until, query.Calendar{Now: a.Now(), Location: o.Location}); err != nil {
			return s, nil, failure.Usage(fmt.Sprintf("%q is not a period", text), "write 2026-10, last-month, 7d, 2026-10-01..2026-10-15, or the directory of an archive")
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
