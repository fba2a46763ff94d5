package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/status"
)

// statusOptions are the flags of status.
type statusOptions struct {
	maxAge     time.Duration
	check      bool
	noScan     bool
	prometheus string
}

func newStatusCommand(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how current the archive is, and what needs attention",
		Long: "Show the state of each source: where it is, when it was last scanned, when new data was last stored, its problems,\n" +
			"what is not archived yet, and what its program will delete before the next nightly run. The last two are derived from\n" +
			"names, sizes and times; no file is opened, and --no-scan leaves them out.\n\n" +
			"Also show how the last nightly run went and when the next is due, how much of the packs was verified recently, and how\n" +
			"much disk space the archive takes and how it grows.\n\n" +
			"For cron and monitoring: with --max-age, exit with code 6 if a source was not scanned for that long, or nothing was\n" +
			"ever ingested; with --check, if anything needs attention." +
			exitCodes("6 older than --max-age, or --check found something", "10 no archive"),
		Example: "  txarchive status\n  txarchive status --max-age 26h --quiet || mail -s 'transcripts are not archived' me\n" +
			"  txarchive status --check --json | jq .attention\n  txarchive status --quiet --prometheus /var/lib/node_exporter/txarchive.prom\n" +
			"  txarchive status --json | jq '.sources[] | select(.state == \"missing\")'",
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a, o) },
	}
	f := cmd.Flags()
	f.Var((*ageValue)(&o.maxAge), "max-age", "exit with code 6 if the last scan of a source is older than `AGE`")
	f.BoolVar(&o.check, "check", false, "exit with code 6 if anything needs attention")
	f.BoolVar(&o.noScan, "no-scan", false, "do not look at the sources")
	a.pathVar(f, &o.prometheus, "prometheus", "write the figures to `FILE`, for the textfile collector of node_exporter (- = only them, to standard output)")
	return cmd
}

func runStatus(ctx context.Context, a *app, o statusOptions) error {
	if o.maxAge < 0 {
		return failure.Usage("--max-age cannot be negative", "--max-age 26h")
	}
	if a.JSON && o.prometheus == "-" {
		return failure.Usage("--prometheus - cannot be combined with --json", "--prometheus FILE")
	}
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := status.Collect(ctx, &a.Printer, store, a.statusOptions(store, o))
	if err != nil {
		return err
	}
	if o.prometheus != "" {
		if err := a.writeMetrics(s, o.prometheus); err != nil {
			return err
		}
	}
	table := !a.JSON && !a.Quiet && o.prometheus != "-"
	if a.JSON {
		err = a.PrintJSON(s)
	} else if table {
		s.Print(&a.Printer)
	}
	return errors.Join(err, s.Verdict(o.check, table))
}

// statusOptions returns what a status covers, by the flags.
func (a *app) statusOptions(store *archive.Archive, o statusOptions) status.Options {
	s := status.Options{MaxAge: o.maxAge, Next: func(ctx context.Context) (time.Time, string) {
		r, err := a.scheduleState(ctx, &scheduleOptions{})
		if err != nil || !r.Scheduled {
			return time.Time{}, ""
		}
		return r.Next.Time, *r.With
	}}
	if !o.noScan {
		g := a.ingester(store)
		s.Outlook = g.Outlook
		s.Unfollowed = func(ctx context.Context) ([]status.Place, error) { return status.Unfollowed(ctx, g, a.homeOf("")) }
	}
	return s
}

// writeMetrics writes the metrics to a file for node_exporter, completely or not at all, or to standard output for "-". Others may read the
// file: it has names of sources and nothing of their contents.
func (a *app) writeMetrics(s *status.Report, file string) error {
	var text strings.Builder
	if _, err := s.Metrics(a.Now()).WriteTo(&text); err != nil {
		return err
	}
	if file == "-" {
		_, err := io.WriteString(a.Out, text.String())
		return err
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // which a file would take the place of: /dev/stdout
		return failure.Usage(fmt.Sprintf("--prometheus %s: not a regular file", file), "--prometheus - writes to standard output")
	}
	if err := a.fs().WriteFile(file, []byte(text.String())); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return os.Chmod(file, 0o644)
}
