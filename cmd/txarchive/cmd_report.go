package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/report"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

func newReportCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Run named reports, and compare two periods",
		Long: "Run built-in and saved reports. Saved reports are stored in the packs, like the originals, and are the same on every\n" +
			"machine. `report diff` shows what changed between two periods or two archives, and why." +
			exitCodes("4 no such report", "7 stopped at a limit", "10 no archive"),
		Example: "  txarchive report list\n  txarchive report run tool-errors --param since=2026-11-01\n  txarchive report diff 2026-10 2026-11\n" +
			"  txarchive report save weekly -- cost --by week,model\n  txarchive report save slow sql 'SELECT * FROM v_steps ORDER BY duration_us DESC LIMIT 5'",
	}
	list := &cobra.Command{Use: "list", Short: "List the reports", Example: "  txarchive report list",
		Long: "List the built-in and saved reports, with their parameters.", Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runReportList(cmd.Context(), a) }}
	cmd.AddCommand(list, newReportRunCommand(a), newReportSaveCommand(a), newReportRemoveCommand(a), newReportDiffCommand(a))
	return cmd
}

func runReportList(ctx context.Context, a *app) error {
	all, err := a.knownReports(ctx)
	if err != nil {
		return err
	}
	l := a.Listing(terminal.Column{Head: "report"}, terminal.Column{Head: "what", Shorten: terminal.Truncate}, terminal.Column{Head: "parameters", Shorten: terminal.Truncate, DropRank: 1}, terminal.Column{Head: "from", DropRank: 2})
	for _, r := range all {
		from := "built-in"
		if !r.Shipped {
			from = "you"
		}
		what := terminal.FirstNonEmpty(string(r.Description), strings.Join(append([]string{r.Kind}, r.Args...), " "))
		if err := l.Row(r, r.Name, what, strings.Join(slices.Sorted(maps.Keys(r.Parameters)), " "), from); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(all, func(r report.Saved) bool { return !r.Shipped }) {
		l.Table = *l.Without(3)
	}
	l.End("")
	return nil
}

func newReportRunCommand(a *app) *cobra.Command {
	var o sqlOptions
	cmd := &cobra.Command{
		Use: "run NAME [COST FLAGS]", Short: "Run a report",
		Long: "Run a report. Parameters that are not given have the defaults that `report list --json` shows. If the report is a call\n" +
			"of `cost`, the flags after -- are added to its own." +
			exitCodes("4 no such report", "7 stopped at a limit", "10 no archive"),
		Example: "  txarchive report run cost-by-step\n  txarchive report run expensive-conversations --param limit=5 --param since=2026-11-01 --format markdown\n" +
			"  txarchive report run weekly -- --since 2026-11",
		Args: argCount(1, unlimited), ValidArgsFunction: a.completeReports,
		RunE: func(cmd *cobra.Command, v []string) error { return runReport(cmd.Context(), a, o, v) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "output `FORMAT`: table, csv, json, ndjson or markdown (default table)")
	f.StringArrayVar(&o.params, "param", nil, "set a parameter of the report, `NAME=VALUE` (repeatable)")
	f.IntVar(&o.limit, "limit", 0, "stop after `N` rows with exit code 7 (0 = no limit)")
	f.Var((*ageValue)(&o.timeout), "timeout", "stop after this `TIME` with exit code 7 (default "+strings.TrimSuffix(index.ConsoleTime.String(), "0s")+")")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"format": fixed(rows.Formats...), "param": a.completeParams})
	cmd.SetFlagErrorFunc(a.costFlagError("txarchive report run NAME --"))
	return cmd
}

// costFlagError returns a flagError that, for a flag of cost, names the line after which those are taken.
func (a *app) costFlagError(line string) func(*cobra.Command, error) error {
	return func(c *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			if name := unknown.GetSpecifiedName(); newCostCommand(a).Flags().Lookup(name) != nil {
				return failure.Usage(err.Error(), "flags of cost go after --: "+line+" --"+name)
			}
		}
		return flagError(c, err)
	}
}

func runReport(ctx context.Context, a *app, o sqlOptions, v []string) error {
	all, err := a.knownReports(ctx)
	if err != nil {
		return err
	}
	r, err := report.Find(all, v[0])
	if err != nil {
		return err
	}
	if r.Kind == "cost" {
		if len(o.params) > 0 || o.limit != 0 || o.timeout != 0 {
			return failure.Usage(r.Name+" is a cost report: --param, --limit and --timeout are for SQL reports", "flags of cost go after --: txarchive report run "+r.Name+" -- --since 7d")
		}
		cmd := newCostCommand(a)
		flags := slices.Concat(r.Args, v[1:])
		if o.format != "" {
			flags = append(flags, "--format", o.format)
		}
		return runAs(a.page(ctx), cmd, flags)
	}
	if len(v) > 1 {
		return failure.Usage(fmt.Sprintf("%s is an SQL report and does not take %q", r.Name, v[1]), "--param name=value sets its parameters")
	}
	given, err := parseParams(o.params)
	if err != nil {
		return err
	}
	since, _ := given["since"].(string)
	until, _ := given["until"].(string)
	for name, value := range given {
		if _, ok := r.Parameters[name]; !ok {
			return failure.Usage(fmt.Sprintf("%s has no parameter %q", r.Name, name), "it has: "+terminal.FirstNonEmpty(strings.Join(slices.Sorted(maps.Keys(r.Parameters)), ", "), "none"))
		}
		if text, ok := value.(string); ok && r.Shipped {
			if given[name], err = a.reportValue(name, text); err != nil {
				return err
			}
		}
	}
	if _, _, err := timeRange(since, until, a.calendar()); err != nil && r.Shipped {
		return failure.Usage(fmt.Sprintf("until=%q is before since=%q", until, since), "give the earlier date to since")
	}
	for name, value := range r.Parameters {
		if _, ok := given[name]; !ok {
			given[name] = value
		}
	}
	if err := o.applyDefaults(a); err != nil {
		return err
	}
	o.spare, o.money = true, r.Shipped
	return runStatement(a.page(ctx), a, o, *r.SQL, given)
}

// dayPrefix matches a day, a month or a year.
var dayPrefix = lazyregexp.New(`^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$`)

// reportValue checks a value for one of the shipped reports. They compare dates as text, to which an age, a word or no date at all would be
// greater or less than any: days stay as they are (UTC), all else becomes a time.
func (a *app) reportValue(name, text string) (string, error) {
	switch name {
	case "limit":
		if n, err := strconv.Atoi(text); err != nil || n < 0 {
			return "", failure.Usage(fmt.Sprintf("%s=%q is not a number of rows", name, text), "write for example limit=20")
		}
		return text, nil
	case "since", "until":
	default:
		return text, nil
	}
	ends := map[string]string{name: text}
	from, to, err := timeRange(ends["since"], ends["until"], a.calendar())
	switch {
	case err != nil || text == "":
		return "", failure.Usage(fmt.Sprintf("%s=%q is not a date", name, text), "write 2026-11, 2026-11-20, 2026-11-20T10:00, 7d, yesterday or last-month")
	case dayPrefix.MatchString(text):
		return text, nil
	case name == "until":
		from = to.Add(-time.Microsecond)
	}
	return from.UTC().Format(transcript.TimeLayout), nil
}

// runAs runs a command that is not part of the command tree.
func runAs(ctx context.Context, cmd *cobra.Command, flags []string) error {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return failure.Usage("cost: "+err.Error(), "txarchive cost --help lists the flags")
	})
	cmd.SetArgs(append([]string{}, flags...)) // with nil, cobra takes os.Args
	return cmd.ExecuteContext(ctx)
}

func newReportSaveCommand(a *app) *cobra.Command {
	var description string
	var params []string
	cmd := &cobra.Command{
		Use: "save NAME sql QUERY | save NAME -- cost [FLAGS] [QUERY]", Short: "Save a report",
		Long: "Save an SQL statement or a call of `cost` as a report. :NAME in the statement is a parameter, and --param sets its\n" +
			"default. A saved report of the same name is replaced. The report is tried first: what fails is not saved." +
			exitCodes("8 a built-in report has this name", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive report save slow sql 'SELECT name, duration_us FROM v_steps WHERE started > :since' --param since=2026-11-01\n" +
			"  txarchive report save weekly --description 'what the weeks cost' -- cost --by week,model",
		Args: argCount(2, unlimited),
		RunE: func(cmd *cobra.Command, v []string) error {
			return runReportSave(cmd.Context(), a, v[0], report.Fact{Description: description, Saved: nowMicro(a)}, params, v[1:])
		},
	}
	cmd.Flags().StringVar(&description, "description", "", "describe the report with this `TEXT`")
	cmd.Flags().StringArrayVar(&params, "param", nil, "default of a parameter of the statement, `NAME=DEFAULT` (repeatable)")
	cmd.SetFlagErrorFunc(a.costFlagError("txarchive report save NAME -- cost"))
	return cmd
}

func runReportSave(ctx context.Context, a *app, name string, f report.Fact, params, what []string) error {
	if checkTag(name) != nil || strings.Contains(name, "/") {
		return failure.Usage(fmt.Sprintf("invalid report name %q", name), "a name is one word, such as weekly")
	}
	if _, err := report.Shipped(name); err == nil {
		return failure.Refused(name+" is already the name of a built-in report", "choose another name")
	}
	switch {
	case what[0] == "cost" && len(params) == 0:
		f.Args = what[1:]
	case what[0] == "sql" && len(what) == 2 && strings.TrimSpace(what[1]) != "":
		f.SQL, f.Parameters = what[1], map[string]string{}
		given, err := parseParams(params)
		if err != nil {
			return err
		}
		for key, value := range given {
			text, ok := value.(string)
			if !ok {
				return failure.Usage("the default of a parameter must be a text: "+key, fmt.Sprintf("--param %s=%v, and CAST(:%s AS NUMERIC) in the statement", key, value, key))
			}
			f.Parameters[key] = text
		}
	default:
		return failure.Usage("a report is an SQL statement or a call of cost", "txarchive report save NAME sql 'SELECT ...', or: txarchive report save NAME -- cost --by week")
	}
	if err := tryReport(ctx, a, f); err != nil {
		return err
	}
	return writeReport(ctx, a, name, f, "saved")
}

// tryReport runs a report up to its first row: a report that fails is not saved.
func tryReport(ctx context.Context, a *app, f report.Fact) error {
	quiet := *a
	quiet.Out, quiet.Err, quiet.Quiet = io.Discard, io.Discard, true
	if f.SQL == "" {
		return runAs(ctx, newCostCommand(&quiet), slices.Clone(f.Args))
	}
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	params := map[string]any{}
	for key, value := range f.Parameters {
		params[key] = value
	}
	err = store.Index().Query(ctx, index.Question{SQL: f.SQL, Params: params, Rows: 1}, func([]string) error { return nil }, func([]any) error { return nil })
	if errors.Is(err, index.ErrLimit) {
		return nil
	}
	return err
}

func newReportRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a saved report", Example: "  txarchive report remove weekly",
		Long: "Remove a report that you saved." +
			exitCodes("4 no such report", "8 it is a built-in report", "10 no archive", "11 another txarchive is writing"),
		Args: argCount(1, 1), ValidArgsFunction: a.completeReports,
		RunE: func(cmd *cobra.Command, v []string) error {
			all, err := a.knownReports(cmd.Context())
			if err != nil {
				return err
			}
			r, err := report.Find(all, v[0])
			switch {
			case err != nil:
				return err
			case r.Shipped:
				return failure.Refused(r.Name+" is a built-in report", "built-in reports cannot be removed")
			}
			return writeReport(cmd.Context(), a, r.Name, nil, "removed")
		},
	}
}

// writeReport saves a report, a report.Fact, under its name; nil deletes it.
func writeReport(ctx context.Context, a *app, name string, value any, did string) error {
	f, err := a.newFact(index.FactReport, name, value)
	if err != nil {
		return err
	}
	err = a.update(ctx, a.openWrite, func(_ *archive.Archive, ing *ingest.Ingester) error { return ing.WriteFacts(ctx, []blob.Fact{f}) })
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"name": name, "done": did})
	}
	a.Note("Report %s is %s", name, did)
	return nil
}

// completeReports completes names of reports.
func (a *app) completeReports(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) > 0 {
		return nil, noFiles
	}
	all, err := a.knownReports(cmd.Context())
	if err != nil {
		return nil, noFiles
	}
	if cmd.Name() == "remove" {
		all = slices.DeleteFunc(all, func(r report.Saved) bool { return r.Shipped })
	}
	return distinct(all, func(r report.Saved) string { return r.Name }, typed, nil), noFiles
}

// completeParams completes the name of a parameter of the report that is named, with its default as the description.
func (a *app) completeParams(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := a.knownReports(cmd.Context())
	if err != nil || len(v) == 0 {
		return nil, noFiles
	}
	r, err := report.Find(all, v[0])
	if err != nil {
		return nil, noFiles
	}
	var names []cobra.Completion
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		if strings.HasPrefix(name, typed) {
			names = append(names, cobra.CompletionWithDesc(name+"=", terminal.OneLine(r.Parameters[name])))
		}
	}
	return names, noFiles | cobra.ShellCompDirectiveNoSpace
}

// knownReports is reports for commands that need no archive.
func (a *app) knownReports(ctx context.Context) ([]report.Saved, error) {
	store, err := a.openReadIfExists(ctx)
	if err != nil {
		return nil, err
	}
	if store == nil {
		return report.All(ctx, nil)
	}
	defer store.Close()
	return report.All(ctx, store.Index())
}
