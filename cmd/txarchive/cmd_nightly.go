package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/backup"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/terminal"
)

// nightlyOptions are the flags of nightly.
type nightlyOptions struct {
	backup     string
	keep       backup.Keep
	policy     string
	verifyDays int
	grace      time.Duration
	maxTime    time.Duration
	maxBytes   sizeValue
	wait       time.Duration
	skip       []string
	within     time.Duration // skip the job if the last one was less than this ago
}

const nightlyHelp = "Run the daily maintenance of the archive, in these steps:\n\n" +
	"    index     rebuild the index if it is damaged\n" +
	"    ingest    archive new and changed files of all sources\n" +
	"    policy    prune by the policy last applied, if any\n" +
	"    gc        reclaim space of what was pruned (--grace)\n" +
	"    verify    read a share of the packs (--verify-days)\n" +
	"    optimize  optimize the index\n" +
	"    backup    update the backup (with --backup)\n\n" +
	"If a step fails, the next ones still run. The outcome of each step is printed, and kept for `status`. The job can be\n" +
	"run as often as you like, while others search, and after any crash. docs/nightly.md has the details.\n\n" +
	"`txarchive schedule install` runs it every night."

func newNightlyCommand(a *app) *cobra.Command {
	var o nightlyOptions
	cmd := &cobra.Command{
		Use:   "nightly",
		Short: "Run the nightly job: ingest, prune, gc, verify, back up",
		Long: nightlyHelp + exitCodes("3 something had problems or was not done (see the report)", "5 something is damaged", "10 no archive",
			"11 the archive stayed locked, or another nightly job is running", "130 interrupted (the next run continues)"),
		Example: "  txarchive nightly\n  txarchive nightly --backup /mnt/backup/transcripts --keep-last 14\n" +
			"  txarchive nightly --verify-days 7 --max-time 2h --json\n  txarchive nightly --skip backup,verify",
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runNightly(cmd.Context(), a, o) },
	}
	nightlyFlags(a, cmd, &o)
	cmd.Flags().Var((*ageValue)(&o.within), "unless-within", "do nothing if the last job ended within this `TIME`")
	return cmd
}

func nightlyFlags(a *app, cmd *cobra.Command, o *nightlyOptions) {
	f := cmd.Flags()
	o.grace, o.wait = 7*24*time.Hour, 10*time.Minute
	a.pathVar(f, &o.backup, "backup", "update the backup in `DIR`, which txarchive backup has created")
	keepFlags(cmd, &o.keep)
	a.pathVar(f, &o.policy, "policy", "prune by the policy in `FILE` (default the policy last applied to the archive)")
	f.IntVar(&o.verifyDays, "verify-days", nightly.VerifyDays, "read every byte again within `N` days (0 = read none)")
	f.Var((*ageValue)(&o.grace), "grace", "keep what was pruned less than this `TIME` ago, so that it can be undone")
	f.Var((*ageValue)(&o.maxTime), "max-time", "limit gc and verify together to this `TIME`, such as 2h (default no limit)")
	f.Var(&o.maxBytes, "max-bytes", "limit what gc writes and verify reads to this `SIZE` each, such as 50GB (default no limit)")
	f.Var((*ageValue)(&o.wait), "wait", "wait for another writer for up to this `TIME`")
	f.StringSliceVar(&o.skip, "skip", nil, "skip these `STEPS`: "+strings.Join(stepNames(), ", "))
	completeFlags(cmd, map[string]cobra.CompletionFunc{"skip": fixedWords(stepNames()...)})
}

func (o *nightlyOptions) check() error {
	switch {
	case o.verifyDays < 0 || o.verifyDays > 3650:
		return failure.Usage("--verify-days must be between 1 and 3650, or 0 to turn verifying off", "--verify-days 30")
	case o.keep.Last < 0:
		return failure.Usage("--keep-last cannot be negative", "--keep-last 14")
	case o.backup == "" && o.keep != (backup.Keep{}):
		return failure.Usage("--keep-last and --keep-within need --backup", "--backup DIR")
	}
	for _, name := range o.skip {
		if !slices.Contains(stepNames(), name) {
			return failure.Usage(fmt.Sprintf("unknown step %q", name), "steps are "+strings.Join(stepNames(), ", "))
		}
	}
	return nil
}

// nightlyReport is what nightly prints.
type nightlyReport struct {
	Archive string `json:"archive"`
	*nightly.Report
}

func runNightly(ctx context.Context, a *app, o nightlyOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	a.beginWork(hintUndone)
	store, err := a.openPacks(ctx) // fails if there is no archive
	if err != nil {
		return err
	}
	if o.backup != "" {
		if o.backup, err = filepath.Abs(o.backup); err != nil {
			return errors.Join(err, store.Close())
		}
	}
	dir := store.Dir()
	if err := store.Close(); err != nil {
		return err
	}
	if state, err := nightly.Load(dir); err == nil && o.within > 0 && state.Last != nil {
		if age := a.Now().Sub(state.Last.Finished); age >= 0 && age < o.within {
			a.Note("The last run finished %s ago: nothing to do.", terminal.Duration(age))
			return nil
		}
	}
	n := &nightlyJob{app: a, opts: o, began: a.Now()}
	job := nightly.Job{Dir: dir, Steps: n.steps(), FS: a.fs(), Now: a.Now}
	if !a.JSON && !a.Quiet {
		previous := ""
		job.OnStep = func(s nightly.StepReport) { previous = a.printStep(s, previous) }
	}
	report, err := job.Run(ctx)
	if report == nil {
		return err
	}
	if a.JSON {
		err = errors.Join(a.PrintJSON(nightlyReport{dir, report}), err)
	}
	if ctx.Err() != nil {
		return err
	}
	return nightlyVerdict(ctx, report, err)
}

// nightlyVerdict returns the gravest error of the steps of a job. forgotten is the error of recording what they did.
func nightlyVerdict(ctx context.Context, r *nightly.Report, forgotten error) error {
	var bad []string
	code, hint := failure.ExitProblems, "see the report; `txarchive status` shows this until a nightly run succeeds"
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.Bad() {
			continue
		}
		bad = append(bad, s.Step)
		c, h := explain(ctx, s.Err)
		if h == hintFull {
			hint = h
		}
		switch {
		case c == failure.ExitCorrupt:
			code = c
		case c == failure.ExitLocked && code != failure.ExitCorrupt:
			code = c
		}
	}
	if len(bad) == 0 {
		return forgotten
	}
	text := "some steps did not succeed: " + strings.Join(bad, ", ")
	if forgotten != nil {
		text += "; this could not be recorded for status: " + forgotten.Error()
	}
	return &failure.Error{Code: code, Text: text, Hint: hint, Err: forgotten}
}

// printStep prints how a step ended, and returns its error. An error that the step before had, too, is not printed again.
func (a *app) printStep(s nightly.StepReport, previous string) string {
	paint := a.Style()
	outcome := fmt.Sprintf("%-8s", s.Outcome)
	switch s.Outcome {
	case nightly.OK:
		outcome = paint.Green(outcome)
	case nightly.Failed:
		outcome = paint.Red(outcome)
	case nightly.Problems:
		outcome = paint.Yellow(outcome)
	}
	fmt.Fprintln(a.Out, strings.TrimRight(fmt.Sprintf("%-8s  %s  %s", s.Step, outcome, terminal.OneLine(s.Summary)), " "))
	switch {
	case s.Error == nil:
		previous = ""
	case *s.Error == previous:
		fmt.Fprintln(a.Out, "  same error")
	default:
		previous = *s.Error
		a.Line("  %s", previous)
		if _, hint := explain(context.Background(), s.Err); hint != "" {
			a.Line("  hint: %s", a.completeCommands(hint))
		}
	}
	for i, p := range s.Problems {
		if i == problemsShown {
			a.Line("  ... and %s", terminal.Plural(len(s.Problems)-i, "more problem", "more problems"))
			break
		}
		a.Line("  %s", p)
	}
	return previous
}

// openWriteWaiting opens the archive to write. It waits for another writer as long as --wait allows.
func (n *nightlyJob) openWriteWaiting(ctx context.Context) (*archive.Archive, error) {
	for began := time.Now(); ; {
		store, err := n.app.openWrite(ctx)
		if !errors.Is(err, archive.ErrLocked) || time.Since(began) >= n.opts.wait {
			return store, err
		}
		select {
		case <-time.After(min(time.Second, n.opts.wait)):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
