package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

type ingestOptions struct {
	dryRun bool
	all    bool
	here   bool // if there are no sources, look in default directories and below the current one
	pruned bool
}

func newIngestCommand(a *app) *cobra.Command {
	o := ingestOptions{here: true}
	cmd := &cobra.Command{
		Use:   "ingest [DIR|FILE...]",
		Short: "Archive new and changed files",
		Long: "Scan directories, and archive the files of all known formats, with every other file in the directories that belong to\n" +
			"these formats. When you run it again, only new data is stored: the end of a file that has grown, or a new version of a\n" +
			"file that was rewritten. Sources are only read. If the archive does not exist, it is created.\n\n" +
			"Files are recognised by place and content. So output that was saved from agents in CI (claude -p --output-format\n" +
			"stream-json, codex exec --json and the like) may have any name.\n\n" +
			"If you name a FILE, nothing else in its directory is archived, now or later. A .zip that ChatGPT or another chat\n" +
			"service sends as the export of your data need not be unpacked.\n\n" +
			"Without arguments, all sources are scanned (see `txarchive source`). If there are none yet, `ingest` adds those that\n" +
			"`txarchive source discover` finds, and the run directories below the current directory (unless that is your home).\n" +
			"Programs that are installed later are named, until they are added with `txarchive source add`." +
			exitCodes("3 completed, but some files had problems or a source is missing", "4 no such directory", "8 refused: the archive directory has other files in it, or DIR is excluded", "11 another txarchive is writing", "130 interrupted (what was stored is kept)"),
		Example: "  txarchive ingest ~/.local/share/awf ./swarm/runs\n" +
			"  txarchive ingest                 # scan all sources again\n" +
			"  txarchive ingest --dry-run DIR   # only count what is new\n" +
			"  txarchive ingest --json DIR | jq .new",
		RunE: func(cmd *cobra.Command, dirs []string) error { return runIngest(cmd.Context(), a, o, dirs) },
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show how much would be archived")
	cmd.Flags().BoolVar(&o.all, "all", false, "also archive files of unknown formats")
	cmd.Flags().BoolVar(&o.pruned, "pruned", false, "also archive again what was pruned and still exists")
	return cmd
}

func runIngest(ctx context.Context, a *app, o ingestOptions, dirs []string) error {
	began := time.Now()
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.Mode().IsRegular() || o.all || !strings.EqualFold(filepath.Ext(dir), ".zip") {
			continue
		}
		if err := ingest.CheckZip(all.Formats(), dir); err != nil {
			return failure.Usage(dir+" cannot be read: "+err.Error(), "download it again, or unpack it into a directory of its own and ingest that; --all stores it as it is")
		}
	}
	store, done, err := a.ingestInto(ctx, o)
	if err != nil {
		return err
	}
	m := a.meter()
	report, err := ingestSources(ctx, a, o, store, m, dirs)
	var loose []status.Place
	if err == nil && len(dirs) == 0 && (a.JSON || !a.Quiet) {
		loose, err = status.Unfollowed(ctx, a.ingester(store), a.homeOf(""))
	}
	m.Stop()
	if err := errors.Join(err, done()); err != nil {
		if report != nil && report.Packs > 0 && ctx.Err() != nil {
			a.Note("Stored so far: %s", terminal.Plural(report.New+report.Grown+report.Rewritten+report.Copies, "file", "files"))
		}
		return err
	}
	if a.JSON {
		err = a.PrintJSON(struct {
			Archive string `json:"archive"`
			DryRun  bool   `json:"dry_run"`
			*ingest.Report
			Unfollowed []status.Place `json:"unfollowed"` // null if directories were named
			Elapsed    int64          `json:"elapsed_us"`
		}{store.Dir(), o.dryRun, report, loose, time.Since(began).Microseconds()})
	} else {
		a.printIngest(o, report, time.Since(began))
		status.NoteUnfollowed(&a.Printer, loose)
	}
	return errors.Join(err, ingestVerdict(report))
}

// ingestInto opens the archive, and creates it if there is none. A dry run writes nothing; without an archive it uses an empty
// temporary one. The function that it returns closes the archive.
func (a *app) ingestInto(ctx context.Context, o ingestOptions) (*archive.Archive, func() error, error) {
	if !o.dryRun {
		store, err := a.openOrCreate(ctx)
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	store, err := a.openRead(ctx)
	if !errors.Is(err, archive.ErrNoArchive) {
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	dir, remove, err := disk.Scratch("dry-run")
	if err != nil {
		return nil, nil, err
	}
	empty := *a
	empty.archive = filepath.Join(dir, "archive") // Create needs a missing or empty directory
	if store, err = empty.openOrCreate(ctx); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return store, func() error { return errors.Join(store.Close(), remove()) }, nil
}

var errNoSources = failure.Usage("nothing to ingest: the archive has no sources yet, no known program has files in its default directories, and no run directories were found below this one", "name a directory: txarchive ingest DIR")

func ingestSources(ctx context.Context, a *app, o ingestOptions, store *archive.Archive, m *terminal.Meter, dirs []string) (*ingest.Report, error) {
	g := a.ingester(store)
	g.All, g.DryRun, g.Pruned = o.all, o.dryRun, o.pruned
	damaged, err := a.damagedPacks(ctx, store)
	if err != nil {
		return nil, err
	}
	g.Damaged = slices.Collect(maps.Keys(damaged))
	g.BuildFrom, g.Build = a.buildFrom, func(ctx context.Context) (*ingest.Building, error) { return newBuilding(ctx, store) }
	g.Progress = ingestProgress(m)
	adopted := 0
	if !o.dryRun { // before the sources are read from the index: this rebuilds an index that was lost
		if adopted, err = g.Adopt(ctx); err != nil && (!errors.Is(err, blob.ErrCorrupt) || ctx.Err() != nil) {
			return nil, err // a damaged pack only loses its own contents; Run reports it
		}
		g.Adopted = err == nil
	}
	var roots []source.Root
	if len(dirs) > 0 {
		if roots, err = source.Resolve(ctx, store.Index(), dirs); err == nil {
			err = a.noteIngestedOnce(ctx, store, roots)
		}
	} else {
		roots, err = source.Followed(ctx, store.Index())
	}
	if err == nil && len(roots) == 0 && o.here {
		roots, err = a.firstRoots(ctx, store, g)
	}
	if err != nil {
		return nil, explainExcluded(err)
	}
	if len(roots) == 0 {
		return nil, errNoSources
	}
	report, err := g.Run(ctx, roots)
	if err == nil && !o.dryRun {
		err = status.RecordScanned(ctx, store, a.Now(), roots, report)
	}
	if err == nil && !o.dryRun && len(damaged) > 0 {
		err = a.mendPacks(ctx, store, damaged, report)
	}
	if report != nil {
		report.Adopted += int64(adopted)
	}
	return report, err
}

// newBuilding returns an index of its own for a first load.
func newBuilding(ctx context.Context, store *archive.Archive) (*ingest.Building, error) {
	db, publish, abort, err := store.NewIndex(ctx)
	if err != nil {
		return nil, err
	}
	return &ingest.Building{Index: db, Abort: abort, Publish: func() (ingest.Index, error) {
		err := publish()
		return store.Index(), err
	}}, nil
}

// noteIngestedOnce notes the directories that no later ingest will scan: they are in sources that were removed.
func (a *app) noteIngestedOnce(ctx context.Context, store *archive.Archive, roots []source.Root) error {
	known, err := source.All(ctx, store.Index())
	if err != nil {
		return err
	}
	for _, r := range roots {
		if i := slices.IndexFunc(known, named(r.Source)); i >= 0 && known[i].Removed != nil {
			dir := a.DisplayPath(filepath.Join(r.Dir, filepath.FromSlash(r.Below)))
			a.Note("%s is ingested only this time: the source %q is no longer followed. To follow it again: txarchive source add %s", dir, r.Source, dir)
		}
	}
	return nil
}

// ingestVerdict returns the error for the problems of an ingest that has finished; nil for none.
func ingestVerdict(r *ingest.Report) error {
	switch bad := int64(len(r.Problems)); {
	case slices.ContainsFunc(r.Problems, func(p ingest.FileError) bool { return errors.Is(p.Err, blob.ErrCorrupt) }):
		return failure.Problems("finished; packs are damaged or missing", hintDamaged)
	case bad > 0 && !slices.ContainsFunc(r.Problems, func(p ingest.FileError) bool { return !r.Closed(p.Source) }):
		return failure.Problems(terminal.Plural(bad, "source", "sources")+" cannot be read", "check owner and mode of the directory; what was stored from it is kept")
	case bad > 0 || r.Unreadable > 0:
		text := "finished, with problems in " + terminal.Plural(bad, "file", "files")
		if bad == 0 {
			text = "finished; " + terminal.Plural(r.Unreadable, "line or document", "lines or documents") + " could not be read"
		}
		return failure.Problems(text, "all bytes that could be read are stored; `txarchive sql 'SELECT source, path, line, reason FROM v_problems'` lists what could not")
	case len(r.Missing) > 0 && !slices.ContainsFunc(r.Missing, func(name string) bool { return !strings.Contains(name, "/") }):
		return failure.Problems(terminal.Plural(len(r.Missing), "path is", "paths are")+" missing", "check the path; what was stored from it is kept")
	case len(r.Missing) > 0:
		return failure.Problems(terminal.Plural(len(r.Missing), "source is", "sources are")+" missing", "what was stored from it is kept; `txarchive source remove NAME` stops following it")
	}
	return nil
}

const problemsShown = 20

func (a *app) printIngest(o ingestOptions, r *ingest.Report, took time.Duration) {
	if a.Quiet {
		return
	}
	verb := "stored"
	if o.dryRun {
		verb = "would be stored"
	}
	taken := r.New + r.Grown + r.Rewritten + r.Copies
	said := fmt.Sprintf("%s scanned, %s %s", terminal.Plural(r.Files, "file", "files"), terminal.Count(taken), verb)
	for _, part := range []struct {
		n    int64
		word string
	}{{r.New, "new"}, {r.Grown, "grown"}, {r.Rewritten, "rewritten"}, {r.Copies, "copies"}} {
		if part.n > 0 && part.n != taken {
			said += ", " + terminal.Count(part.n) + " " + part.word
		}
	}
	a.Line("%s", said)
	switch {
	case o.dryRun && taken > 0:
		a.Line("%s to read", terminal.Bytes(r.RawBytes))
	case r.Packs > 0:
		a.Line("%s in %s (%s), %s indexed, %s", terminal.Bytes(r.RawBytes), terminal.Plural(r.Packs, "pack", "packs"), terminal.Bytes(r.StoredBytes),
			terminal.Plural(r.Events, "row", "rows"), took.Round(time.Millisecond))
	}
	if r.Adopted > 0 {
		a.Line("%s added to the index", terminal.Plural(r.Adopted, "unindexed pack", "unindexed packs"))
	}
	if r.Mended > 0 {
		a.Line("%s repaired: nothing is lost, the damaged files are kept in quarantine/", terminal.Plural(r.Mended, "damaged pack", "damaged packs"))
	}
	a.printSkipped(r)
	for _, name := range r.Missing {
		a.Line("missing: %s", name)
	}
	for i, p := range r.Problems {
		if i == problemsShown {
			a.Line("... and %s", terminal.Plural(len(r.Problems)-i, "more problem", "more problems"))
			break
		}
		a.Line("problem: %s", problemText(&p))
	}
}

// problemText returns where a problem is, unless it concerns the archive itself, and what it is.
func problemText(p *ingest.FileError) string {
	if p.Source == "" {
		return p.Reason
	}
	return fmt.Sprintf("%s: %s: %s", path.Join(p.Source, p.Path), p.Stage, p.Reason)
}

// printSkipped prints what was seen and not stored.
func (a *app) printSkipped(r *ingest.Report) {
	if r.Ignored > 0 {
		a.Line("%s skipped: unknown format (--all stores these too)", terminal.Plural(r.Ignored, "file", "files"))
	}
	if r.LeftOut > 0 {
		a.Line("%s skipped: locks, and files that hold credentials", terminal.Plural(r.LeftOut, "file", "files"))
	}
	if r.Excluded > 0 {
		a.Line("%s excluded by patterns (source list shows the patterns)", terminal.Plural(r.Excluded, "file or directory", "files and directories"))
	}
	if n := len(r.NotFollowed); n > 0 {
		first, such := r.NotFollowed[0], ":"
		if n > 1 {
			such = ", such as"
		}
		a.Line("%s not followed%s %s; to archive what it points to: txarchive ingest %s", terminal.Plural(n, "symbolic link", "symbolic links"), such,
			first.Source+"/"+first.Path, terminal.ShellQuote(first.To))
	}
	if r.Pruned > 0 {
		a.Line("%s skipped: pruned (--pruned ingests them again)", terminal.Plural(r.Pruned, "file", "files"))
	}
}
