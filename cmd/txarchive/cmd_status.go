package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
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

// sourceStatus is a source in the report of status.
type sourceStatus struct {
	Name        string            `json:"name"`
	Root        string            `json:"root"`
	Only        []string          `json:"only,omitempty"` // the paths that are followed; all of it without
	State       string            `json:"state"`          // present, missing, removed
	Files       int64             `json:"files"`
	Bytes       int64             `json:"bytes"`
	Versions    int64             `json:"versions"`
	LastScanned printer.Timestamp `json:"last_scanned"`
	LastStored  printer.Timestamp `json:"last_stored"`
	Age         *int64            `json:"age_seconds"` // since the last scan
	Problems    int64             `json:"problems"`
	Stale       bool              `json:"stale"` // older than --max-age

	Outlook *sourceOutlook `json:"outlook"` // null with --no-scan

	roots []ingest.Root
}

// statusReport is what status prints.
type statusReport struct {
	Archive   string            `json:"archive"`
	LastPack  printer.Timestamp `json:"last_pack"`
	Sources   []*sourceStatus   `json:"sources"`
	Problems  int64             `json:"problems"`
	Unindexed int64             `json:"unindexed_packs"`
	MaxAge    *int64            `json:"max_age_seconds"`
	OK        bool              `json:"ok"`
	Storage   archive.Storage   `json:"storage"`
	Free      *int64            `json:"free_bytes"` // on the disk of the archive; null if unknown

	Growth    growth           `json:"growth"`
	Nightly   nightlyStatus    `json:"nightly"`
	Verify    nightly.Coverage `json:"verify"`
	Backup    *nightly.Backup  `json:"backup"`
	Attention []attention      `json:"attention"`
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
	s, err := a.status(ctx, store, o)
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
		a.printStatus(s)
	}
	return errors.Join(err, s.verdict(&o, table))
}

// verdict returns the error that status ends in, nil for none. said means that the findings were already printed for people.
func (s *statusReport) verdict(o *statusOptions, said bool) error {
	if s.OK && o.check && len(s.Attention) > 0 {
		text := terminal.Plural(len(s.Attention), "thing needs", "things need") + " attention"
		if said {
			return failure.LimitCrossed(text, "")
		}
		return failure.LimitCrossed(text+": "+s.Attention[0].Text, "txarchive status")
	}
	if s.OK {
		return nil
	}
	var stale []string
	for _, one := range s.Sources {
		if one.Stale {
			stale = append(stale, one.Name)
		}
	}
	if len(stale) == 0 {
		return failure.LimitCrossed("nothing has been ingested yet", "txarchive ingest DIR")
	}
	return failure.LimitCrossed(fmt.Sprintf("not scanned for %s: %s", terminal.Duration(o.maxAge), strings.Join(stale, ", ")), "txarchive ingest; `txarchive source remove NAME` stops following a source")
}

// status collects what is known about the sources and the disk.
func (a *app) status(ctx context.Context, store *archive.Archive, o statusOptions) (*statusReport, error) {
	s := &statusReport{Archive: store.Dir(), Sources: []*sourceStatus{}, OK: true}
	sources, err := a.sourceStates(ctx, store)
	if err != nil {
		return nil, err
	}
	s.Sources = sources
	if s.Problems, err = countProblems(ctx, store, sources); err != nil {
		return nil, err
	}
	if s.Storage, err = store.Storage(ctx); err != nil {
		return nil, err
	}
	if n := disk.FreeBytes(store.Dir()); n >= 0 {
		s.Free = &n
	}
	unindexed, last, err := unindexedPacks(ctx, store)
	if err != nil {
		return nil, err
	}
	s.Unindexed, s.LastPack = int64(len(unindexed)), printer.Stamp(last)
	if o.maxAge > 0 {
		s.markStale(a.Now(), o.maxAge)
	}
	if err := a.statusOfNights(ctx, store, s); err != nil {
		return nil, err
	}
	if !o.noScan {
		if err := a.previewSources(ctx, store, s); err != nil {
			return nil, err
		}
	}
	s.collectAttention(a.Now())
	return s, nil
}

// markStale marks the sources that were scanned longer ago than maxAge.
func (s *statusReport) markStale(now time.Time, maxAge time.Duration) {
	s.MaxAge = new(int64(maxAge / time.Second))
	followed := 0
	for _, one := range s.Sources {
		if one.State == "removed" {
			continue
		}
		followed++
		if one.Stale = one.LastScanned.IsZero() || now.Sub(one.LastScanned.Time) > maxAge; one.Stale {
			s.OK = false
		}
	}
	s.OK = s.OK && followed > 0
}
