package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune/gc"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newGCCommand(a *app) *cobra.Command {
	var o gc.Options
	var unused string
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Reclaim space and merge small packs",
		Long: "Rewrite packs without the data that was pruned, merge small packs, and reclaim free space in the index.\n\n" +
			"A prune can be undone until gc has removed its data. By default gc removes everything that was pruned; with --grace 7d\n" +
			"it keeps what was pruned less than seven days ago. If gc is interrupted, the next gc continues. docs/gc.md has the\n" +
			"details." +
			exitCodes("5 packs are damaged or missing", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive gc --dry-run\n" +
			"  txarchive gc --grace 7d\n" +
			"  txarchive gc --grace 7d --max-unused 10% --max-time 5m   # every night\n" +
			"  txarchive gc --json | jq .freed_bytes",
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.MaxUnused, err = parseUnused(unused); err != nil {
				return err
			}
			return runGC(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.Var((*ageValue)(&o.Grace), "grace", "keep what was pruned less than this `TIME` ago, such as 7d or 12h")
	f.StringVar(&unused, "max-unused", "0", "leave up to this `SIZE` of unused data in packs, such as 10% or 500MB")
	f.Var((*ageValue)(&o.MaxTime), "max-time", "begin no further work after this `TIME`, such as 10m or 2h")
	f.Var((*sizeValue)(&o.MaxBytes), "max-bytes", "rewrite packs of about this total `SIZE` at most, such as 2GB")
	f.BoolVar(&o.DryRun, "dry-run", false, "only show what would be done")
	return cmd
}

// parseUnused parses how much unused space may remain: a share of everything, or bytes.
func parseUnused(text string) (u gc.Limit, err error) {
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		u.Percent, err = strconv.ParseFloat(percent, 64)
		if err == nil && !(u.Percent >= 0 && u.Percent <= 100) {
			err = errors.New("a percentage must be between 0% and 100%")
		}
	} else {
		u.Bytes, err = policy.ParseBytes(text)
	}
	if err != nil {
		err = failure.Usage("--max-unused: "+err.Error(), "write 10% or 500MB")
	}
	return u, err
}

func runGC(ctx context.Context, a *app, o gc.Options) error {
	store, err := a.openWrite(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	began := time.Now()
	r, err := a.collect(ctx, store, o)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(gcReport(&r, o.DryRun, time.Since(began)))
	} else if !a.Quiet {
		a.printGC(&r, o.DryRun, time.Since(began))
	}
	if err == nil && len(r.Damaged) > 0 {
		err = failure.Corrupt(terminal.Plural(len(r.Damaged), "pack is damaged and was", "packs are damaged and were")+" skipped",
			hintDamaged)
	}
	return err
}

// gc returns the garbage collector of an open archive.
func (a *app) gc(store *archive.Archive) *gc.GC {
	return &gc.GC{Packs: store.Packs(), Index: store.Index(), Writer: store.WriterID(), Now: a.Now, Log: a.log}
}

// collect adopts the packs that other writers and crashes have left, and then collects garbage.
func (a *app) collect(ctx context.Context, store *archive.Archive, o gc.Options) (gc.Report, error) {
	m := a.meter()
	defer m.Stop()
	ing, g := a.ingester(store), a.gc(store)
	g.Options = o
	ing.Progress, g.Progress = ingestProgress(m), m.ByteFunc("gc")
	if _, err := ing.Adopt(ctx); err != nil {
		return gc.Report{}, err
	}
	return g.Run(ctx)
}

type gcJSON struct {
	DryRun           bool     `json:"dry_run"`
	PacksBefore      int64    `json:"packs_before"`
	PacksAfter       int64    `json:"packs_after"`
	PackBytesBefore  int64    `json:"pack_bytes_before"`
	PackBytesAfter   int64    `json:"pack_bytes_after"`
	IndexBytesBefore *int64   `json:"index_bytes_before"`
	IndexBytesAfter  *int64   `json:"index_bytes_after"`
	FreedBytes       int64    `json:"freed_bytes"`
	UnusedBytes      int64    `json:"unused_bytes"`
	PacksRewritten   int64    `json:"packs_rewritten"`
	PacksMerged      int64    `json:"packs_merged"`
	PacksRemoved     int64    `json:"packs_removed"`
	VersionsGone     int64    `json:"versions_gone"`
	VersionsSpared   int64    `json:"versions_spared"`
	DamagedPacks     []string `json:"damaged_packs"`
	More             bool     `json:"more"`
	IndexRebuilt     bool     `json:"index_rebuilt"`
	LogKept          bool     `json:"log_kept"`
	ElapsedUS        int64    `json:"elapsed_us"`
}

func gcReport(r *gc.Report, dryRun bool, took time.Duration) gcJSON {
	j := gcJSON{
		DryRun: dryRun, PacksBefore: r.PacksBefore, PacksAfter: r.PacksAfter, PackBytesBefore: r.Before, PackBytesAfter: r.After,
		FreedBytes: r.Freed(), UnusedBytes: r.Unused, PacksRewritten: r.Rewritten, PacksMerged: r.Merged, PacksRemoved: r.Removed,
		VersionsGone: r.Dead, VersionsSpared: r.Spared, DamagedPacks: append([]string{}, r.Damaged...), More: r.More,
		IndexRebuilt: r.Index.Rebuilt, LogKept: r.Index.LogKept, ElapsedUS: took.Microseconds(),
	}
	if !dryRun {
		j.IndexBytesBefore, j.IndexBytesAfter = &r.Index.Before, &r.Index.After
	}
	return j
}

func (a *app) printGC(r *gc.Report, dryRun bool, took time.Duration) {
	would, became := "", "became"
	if dryRun {
		would, became = "would be ", "would become"
	}
	if r.Rewritten+r.Merged+r.Removed == 0 {
		a.Line("No pack needs rewriting: %s (%s)", terminal.Plural(r.PacksBefore, "pack", "packs"), terminal.Bytes(r.Before))
	} else {
		a.Line("%s %srewritten, %s merged: %s %s %s, %s -> %s", terminal.Plural(r.Rewritten, "pack", "packs"), would, terminal.Count(r.Merged),
			terminal.Count(r.PacksBefore), became, terminal.Count(r.PacksAfter), terminal.Bytes(r.Before), terminal.Bytes(r.After))
	}
	if r.Dead > 0 {
		a.Line("%s %sremoved permanently", terminal.Plural(r.Dead, "pruned original", "pruned originals"), would)
	}
	if r.Spared > 0 {
		a.Line("%s can still be restored, until the grace period ends", terminal.Plural(r.Spared, "pruned original", "pruned originals"))
	}
	for _, name := range r.Damaged {
		fmt.Fprintln(a.Out, a.Style().Red("skipped because it is damaged: "+terminal.OneLine(name)))
	}
	if dryRun {
		return
	}
	a.Line("index %s -> %s", terminal.Bytes(r.Index.Before), terminal.Bytes(r.Index.After))
	a.Line("%s freed, %s", terminal.Bytes(r.Freed()), took.Round(time.Millisecond))
	if r.Index.LogKept {
		a.Note("the log of the index could not be truncated while a reader uses it; the next gc truncates it")
	}
	if r.More {
		a.Note("a limit was reached: the next gc continues")
	}
}
