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
	"github.com/txarchive/txarchive/internal/nightly"
)

const defaultVerifyDays = 30

// nightlyOptions say what the job does besides what it always does.
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
	within     time.Duration // nothing is done unless the last job is so long ago
}

const nightlyHelp = `Take what is new in all sources, prune by the policy that was applied to the archive last, if there is one, give back
the space of what was pruned longer ago than --grace, read a share of the packs again so that every byte is read within
--verify-days, tidy the index, and back up if --backup says where to. A step that fails does not keep the
next from running; how each went is printed, and kept for ` + "`status`" + `. It may be run as often
as you like, while others search, and after any crash.

` + "`txarchive schedule install`" + ` runs it every night.`

func newNightlyCommand(a *app) *cobra.Command {
	var o nightlyOptions
	cmd := &cobra.Command{
		Use:   "nightly",
		Short: "Do all that an archive needs once a day",
		Long: nightlyHelp + exits("3 something had problems or was not done, the report says what", "5 something is damaged", "10 no archive",
			"11 another txarchive went on writing, or another nightly job is running", "130 interrupted: the next run goes on"),
		Example: "  txarchive nightly\n  txarchive nightly --backup /mnt/backup/transcripts --keep-last 14\n" +
			"  txarchive nightly --verify-days 7 --max-time 2h --json\n  txarchive nightly --skip backup,verify",
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runNightly(cmd.Context(), a, o) },
	}
	nightlyFlags(a, cmd, &o)
	cmd.Flags().Var((*ageValue)(&o.within), "unless-within", "do nothing when a job came to its end within this `TIME`")
	return cmd
}

func nightlyFlags(a *app, cmd *cobra.Command, o *nightlyOptions) {
	f := cmd.Flags()
	o.grace, o.wait = 7*24*time.Hour, 10*time.Minute
	a.pathVar(f, &o.backup, "backup", "back up to this `DIR`, which txarchive backup has made")
	keepFlags(cmd, &o.keep)
	a.pathVar(f, &o.policy, "policy", "prune by the policy in this `FILE` (default: the one that was applied to the archive last)")
	f.IntVar(&o.verifyDays, "verify-days", defaultVerifyDays, "read every byte again within `N` days; 0 reads none")
	f.Var((*ageValue)(&o.grace), "grace", "leave what was pruned restorable for this `TIME`")
	f.Var((*ageValue)(&o.maxTime), "max-time", "the `TIME` that gc and verify may take together, such as 2h (default no limit)")
	f.Var(&o.maxBytes, "max-bytes", "the `SIZE` that gc may write and verify may read, each, such as 50GB (default no limit)")
	f.Var((*ageValue)(&o.wait), "wait", "the `TIME` to wait for another writer")
	f.StringSliceVar(&o.skip, "skip", nil, "leave out `STEPS`: "+strings.Join(stepNames(), ", "))
	completing(cmd, map[string]cobra.CompletionFunc{"skip": fixedList(stepNames()...)})
}

func (o *nightlyOptions) check() error {
	switch {
	case o.verifyDays < 0 || o.verifyDays > 3650:
		return usage("verify within 1 to 3650 days, or 0 for never", "--verify-days 30")
	case o.keep.Last < 0:
		return usage("a number of backups cannot be negative", "--keep-last 14")
	case o.backup == "" && o.keep != (backup.Keep{}):
		return usage("backups of where?", "--backup DIR")
	}
	for _, name := range o.skip {
		if !slices.Contains(stepNames(), name) {
			return usage(fmt.Sprintf("there is no step %q", name), "steps are "+strings.Join(stepNames(), ", "))
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
	a.works(hintUndone)
	store, err := a.packsOnly(ctx) // is there an archive at all?
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
		if age := a.now().Sub(state.Last.Finished); age >= 0 && age < o.within {
			a.note("The last one is %s ago: nothing to do.", span(age))
			return nil
		}
	}
	n := &night{app: a, opts: o, began: a.now()}
	job := nightly.Job{Dir: dir, Steps: n.steps(), FS: a.fs(), Now: a.now}
	if !a.json && !a.quiet {
		said := ""
		job.OnStep = func(s nightly.StepReport) { said = a.printStep(s, said) }
	}
	report, err := job.Run(ctx)
	if report == nil {
		return err
	}
	if a.json {
		err = errors.Join(a.printJSON(nightlyReport{dir, report}), err)
	}
	if ctx.Err() != nil {
		return err
	}
	return nightlyVerdict(ctx, report, err)
}

// nightlyVerdict is what a job ends in: the gravest of what its steps say. Of some it may be that it could not be
// remembered.
func nightlyVerdict(ctx context.Context, r *nightly.Report, forgotten error) error {
	var bad []string
	code, hint := exitProblems, "the report says what was not; `txarchive status` shows it until a night went well"
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
		case c == exitCorrupt:
			code = c
		case c == exitLocked && code != exitCorrupt:
			code = c
		}
	}
	if len(bad) == 0 {
		return forgotten
	}
	text := "not all was done: " + strings.Join(bad, ", ")
	if forgotten != nil {
		text += "; and status will not know: " + forgotten.Error()
	}
	return &failure{code: code, text: text, hint: hint, err: forgotten}
}

// printStep says what became of a step, and returns its error. One that was said of the step before is not said again.
func (a *app) printStep(s nightly.StepReport, said string) string {
	paint := a.ink()
	outcome := fmt.Sprintf("%-8s", s.Outcome)
	switch s.Outcome {
	case nightly.OK:
		outcome = paint.green(outcome)
	case nightly.Failed:
		outcome = paint.red(outcome)
	case nightly.Problems:
		outcome = paint.yellow(outcome)
	}
	fmt.Fprintln(a.out, strings.TrimRight(fmt.Sprintf("%-8s  %s  %s", s.Step, outcome, line(s.Summary)), " "))
	switch {
	case s.Error == nil:
		said = ""
	case *s.Error == said:
		fmt.Fprintln(a.out, "  likewise")
	default:
		said = *s.Error
		fmt.Fprintln(a.out, a.wrapped("  ", line(said), "    "))
		if _, hint := explain(context.Background(), s.Err); hint != "" {
			fmt.Fprintln(a.out, a.wrapped("  hint: ", line(hint), "    "))
		}
	}
	for i, p := range s.Problems {
		if i == problemsShown {
			fmt.Fprintf(a.out, "  ... and %s\n", plural(len(s.Problems)-i, "more problem", "more problems"))
			break
		}
		fmt.Fprintln(a.out, a.wrapped("  ", line(p), "    "))
	}
	return said
}

// writeSoon opens the archive to write, and waits for another writer as long as the job may.
func (n *night) writeSoon(ctx context.Context) (*archive.Archive, error) {
	for began := time.Now(); ; {
		store, err := n.app.write(ctx)
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
