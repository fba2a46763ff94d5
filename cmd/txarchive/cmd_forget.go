package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/prune/gc"
	"github.com/txarchive/txarchive/internal/terminal"
)

type forgetOptions struct {
	match, file string
	apply, yes  bool
}

func newForgetCommand(a *app) *cobra.Command {
	var o forgetOptions
	cmd := &cobra.Command{
		Use:   "forget --match PATTERN",
		Short: "Remove a leaked secret from the archive",
		Long: "Find a text, or a /regular expression/, anywhere in the archive: in originals (also escaped as JSON, or inside gzip,\n" +
			"zstd, zip and SQLite), in file names, in tags and other facts, in the index, and in every other file of the archive.\n\n" +
			"With --apply, remove it. Each match is replaced by a mark of the same length; a version that cannot be marked is\n" +
			"removed as a whole. Packs and index are rewritten, and quarantined packs that contain the text are removed. Then every\n" +
			"byte of the archive is searched again, to prove that nothing is left.\n\n" +
			"The secret itself is never printed. Sources and backups are not changed. docs/forget.md has the details." +
			exitCodes("4 nothing was found", "7 something still contains it", "8 refused: not confirmed", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive forget --match-file secret.txt   # list the places\n" +
			"  pass show token | txarchive forget --match-file - --apply --yes\n" +
			"  txarchive forget --match '/sk-[A-Za-z0-9]{20,}/' --apply",
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runForget(cmd.Context(), a, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.match, "match", "", "find `PATTERN`: a text, or a regular expression between slashes (- = standard input)")
	a.pathVar(f, &o.file, "match-file", "read the pattern from `FILE` (- = standard input), which keeps it out of the shell history")
	f.BoolVar(&o.apply, "apply", false, "remove what was found")
	f.BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// pattern reads what is to be forgotten. Its errors never contain it.
func (a *app) pattern(ctx context.Context, o forgetOptions) (*gc.Pattern, error) {
	text := o.match
	from := o.file
	if o.match == "-" {
		text, from = "", "-"
	}
	if (text == "") == (from == "") {
		return nil, failure.Usage("no text or pattern given", "--match-file FILE, --match-file - for standard input, or --match PATTERN")
	}
	if from != "" {
		var b []byte
		var err error
		if from == "-" {
			b, err = io.ReadAll(io.LimitReader(a.input(ctx), 1<<20))
		} else {
			b, err = os.ReadFile(from)
		}
		if err != nil {
			return nil, err
		}
		text = string(bytes.TrimRight(b, "\r\n"))
	}
	p, err := gc.ParsePattern(text)
	if err != nil {
		return nil, failure.Usage(err.Error(), "use a text of 4 to 8,192 bytes, or a /regular expression/")
	}
	return p, nil
}

func runForget(ctx context.Context, a *app, o forgetOptions) error {
	p, err := a.pattern(ctx, o)
	if err != nil {
		return err
	}
	w := &forgetJob{app: a, pattern: p}
	if err := w.inArchive(ctx, o.apply, func() error { return w.show(ctx, o) }); err != nil || !o.apply || o.yes {
		return err
	}
	// Nobody waits for the answer, as with prune.
	yes, err := a.ask(ctx, "Remove it from all of these?")
	if err != nil {
		return err
	}
	if !yes {
		return failure.Refused("nothing was removed", "--yes removes it without asking")
	}
	shown := w.places()
	return w.inArchive(ctx, true, func() error {
		if err := w.search(ctx, true); err != nil {
			return err
		}
		if len(w.found) == 0 {
			return w.reportNothing(ctx, o)
		}
		if !reflect.DeepEqual(w.places(), shown) {
			return failure.Refused("nothing was removed: the archive has changed, and it is in other places than these", "run the same command again")
		}
		return w.remove(ctx, o)
	})
}

// inArchive opens the archive, for writing or not, while fn runs.
func (w *forgetJob) inArchive(ctx context.Context, writes bool, fn func() error) (err error) {
	open := w.app.openRead
	if writes {
		open = w.app.openWrite
	}
	if w.store, err = open(ctx); err != nil {
		return err
	}
	defer w.store.Close()
	return fn()
}

// show prints what is found. With --yes, it is removed at once.
func (w *forgetJob) show(ctx context.Context, o forgetOptions) error {
	if err := w.search(ctx, o.apply); err != nil {
		return err
	}
	a := w.app
	switch {
	case len(w.found) == 0:
		return w.reportNothing(ctx, o)
	case !a.JSON:
		w.print()
	case !o.apply:
		return a.PrintJSON(w.report(o))
	}
	switch {
	case !o.apply:
		a.Note("Nothing was changed. --apply removes it.")
	case o.yes:
		return w.remove(ctx, o)
	}
	return nil
}

// remove removes what was found, and prints what that did.
func (w *forgetJob) remove(ctx context.Context, o forgetOptions) (err error) {
	if err := w.apply(ctx); err != nil {
		return err
	}
	if a := w.app; a.JSON {
		err = a.PrintJSON(w.report(o))
	} else if !a.Quiet {
		w.printApplied()
	}
	if err == nil && len(w.left) > 0 {
		err = failure.Partial(fmt.Sprintf("it is still in %s", terminal.Plural(len(w.left), "place", "places")),
			"another command may have been reading the archive: run the same command again")
	}
	return err
}

// reportNothing ends a command that found nothing. An earlier one that was killed may have left words in the index in their indexed
// form: then the index records that it has to be purged.
func (w *forgetJob) reportNothing(ctx context.Context, o forgetOptions) error {
	if o.apply {
		f := w.forgetter()
		f.GC.Options.Purge = false
		if _, err := f.GC.Run(ctx); err != nil {
			return err
		}
	}
	if w.app.JSON {
		return errors.Join(w.app.PrintJSON(w.report(o)), nothingFound)
	}
	w.noteOwn()
	return nothingFound
}

var nothingFound = failure.NotFound("nothing in the archive matches", "the text must match exactly, including upper and lower case")

// forgetJob is one run of the command.
type forgetJob struct {
	app     *app
	store   *archive.Archive
	pattern *gc.Pattern

	found      []gc.Match // before apply
	runs       []string
	applied    gc.Forgotten
	gc         gc.Report
	rebuilt    bool
	aside      int64      // quarantined packs that were removed
	left       []gc.Match // after apply
	unread     int64      // damaged packs
	ownMatches int64      // matches that are the program's own, in the last search
	own        []byte     // see specimen
}

// forgetter returns the gc.Forget for the present state of the archive.
func (w *forgetJob) forgetter() *gc.Forget {
	g := w.app.gc(w.store)
	g.Options = gc.Options{Forgotten: true, Purge: true}
	return &gc.Forget{GC: g, Pattern: w.pattern, Open: ingest.Layer(all.Formats()), Compress: ingest.Compress, Hold: w.store.Hold, Specimen: w.specimen}
}

// findAll returns what Search and Files find.
func (w *forgetJob) findAll(ctx context.Context, f *gc.Forget) ([]gc.Match, error) {
	m := w.app.meter()
	defer m.Stop()
	f.Progress = m.ByteFunc("search")
	found, err := f.Search(ctx)
	if err != nil {
		return nil, err
	}
	files, err := f.Files(ctx, w.store.Dir())
	w.unread, w.ownMatches = f.Unread, f.Own
	return append(found, files...), err
}

func (w *forgetJob) search(ctx context.Context, write bool) error {
	if write {
		if _, err := w.app.ingester(w.store).Adopt(ctx); err != nil {
			return err
		}
	}
	var err error
	if w.found, err = w.findAll(ctx, w.forgetter()); err != nil {
		return err
	}
	w.runs, err = w.affectedRuns(ctx)
	return err
}

// places returns what was found without the files of the archive, whose content follows from everything else.
func (w *forgetJob) places() []gc.Match {
	return slices.DeleteFunc(slices.Clone(w.found), func(m gc.Match) bool { return m.Where == gc.InFile })
}

// affectedRuns returns the runs that refer to the originals in which something was found.
func (w *forgetJob) affectedRuns(ctx context.Context) (runs []string, err error) {
	of := map[index.VersionKey]bool{}
	for _, m := range w.found {
		if m.Where != gc.InFact && m.Where != gc.InFile {
			of[index.VersionKey{Source: m.Source, Path: m.Path, Number: m.Version}] = true
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	inventory, err := w.store.Index().Inventory(ctx, index.InventoryOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, inventory.Close()) }()
	holders := map[int]bool{}
	for v, err := range inventory.Versions() {
		if err != nil {
			return nil, err
		}
		if of[index.VersionKey{Source: v.Source, Path: v.Path, Number: v.Number}] {
			for _, run := range v.Holders {
				holders[int(run)] = true
			}
		}
	}
	for r, err := range inventory.Runs() {
		if err != nil {
			return nil, err
		}
		if holders[r.Number] {
			runs = append(runs, r.ID)
		}
	}
	slices.Sort(runs)
	return runs, nil
}

// apply removes what was found, and then searches everything again.
func (w *forgetJob) apply(ctx context.Context) error {
	f := w.forgetter()
	var err error
	if w.applied, err = f.Apply(ctx); err != nil {
		return err
	}
	if _, err := w.app.ingester(w.store).Adopt(ctx); err != nil {
		return err
	}
	if w.gc, err = f.GC.Run(ctx); err != nil {
		return err
	}
	if w.aside, err = f.Discard(ctx, w.store.Dir(), w.store.DropQuarantined); err != nil {
		return err
	}
	if w.left, err = w.findAll(ctx, w.forgetter()); err != nil || !onlyFiles(w.left) && (len(w.left) > 0 || w.ownMatches == 0) {
		return err
	}
	// What is left are rows that no original has any more, or old generations: an index that is built from the packs has none of them. Where
	// the program's own words match, they hide what is left.
	if _, _, _, err := rebuild(ctx, w.app, w.store); err != nil {
		return err
	}
	w.rebuilt = true
	if err := w.store.DropSuperseded(); err != nil {
		return err
	}
	w.left, err = w.findAll(ctx, w.forgetter())
	return err
}

// onlyFiles reports whether there are matches and all of them are in files.
func onlyFiles(found []gc.Match) bool {
	for _, m := range found {
		if m.Where != gc.InFile {
			return false
		}
	}
	return len(found) > 0
}
