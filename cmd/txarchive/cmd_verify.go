package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newVerifyCommand(a *app) *cobra.Command {
	var (
		o    archive.VerifyOptions
		deep bool
		mend bool
		r    repairOptions
	)
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify the integrity of the archive, or repair it",
		Long: "Read every pack, check every byte against its hashes, and check the index against the packs. Damage is reported with\n" +
			"the files and runs that it affects. Nothing is changed. `status` shows what was found, and the next `ingest` repairs\n" +
			"what is intact elsewhere.\n\n" +
			"--deep also builds a second index from the packs, compares every row and word of the two, and discards it. This takes\n" +
			"as long as `reindex`, and locks out other writers.\n\n" +
			"--repair saves everything that is not itself damaged. It writes what is good in damaged packs to new packs; searches\n" +
			"for the rest by hash in other packs, in the sources and, with --from, in a backup; records which bytes are lost; moves\n" +
			"the damaged packs to quarantine/; and corrects the index. It shows its plan first, and gives nothing up without\n" +
			"confirmation. docs/reliability.md has the details." +
			exitCodes("5 something is damaged or missing", "8 --repair: bytes would be given up, and this was not confirmed; --deep: an ingest must come first", "10 no archive", "11 --deep, --repair: another txarchive is writing", "12 a newer txarchive wrote some of the packs (all others are intact)"),
		Example: "  txarchive verify\n" +
			"  txarchive verify --quick              # sizes, names and manifests only\n" +
			"  txarchive verify --deep               # also every row of the index\n" +
			"  txarchive verify --repair --dry-run   # show what could be saved\n" +
			"  txarchive verify --repair --from /mnt/backup/transcripts\n" +
			"  txarchive verify --json | jq .list",
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if mend && (o.Quick || deep) || o.Quick && deep {
				return failure.Usage("--quick, --deep and --repair cannot be combined", "use one at a time")
			}
			if mend {
				return runRepair(cmd.Context(), a, r)
			}
			if r != (repairOptions{}) {
				return failure.Usage("--dry-run, --from and --yes need --repair", "txarchive verify --repair")
			}
			return runVerify(cmd.Context(), a, o, deep)
		},
	}
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "do not read contents, and do not check the integrity of the index file")
	cmd.Flags().BoolVar(&deep, "deep", false, "also rebuild the index separately, and compare every row")
	cmd.Flags().BoolVar(&mend, "repair", false, "save what is not damaged, and record what is lost")
	cmd.Flags().BoolVar(&r.dryRun, "dry-run", false, "with --repair: only show what would be done")
	a.pathVar(cmd.Flags(), &r.from, "from", "with --repair: also search the archive or backup in `DIR`")
	cmd.Flags().BoolVar(&r.yes, "yes", false, "with --repair: do not ask before giving up lost bytes")
	return cmd
}

func runVerify(ctx context.Context, a *app, o archive.VerifyOptions, deep bool) error {
	options := a.options()
	options.NoIndex = true // packs can be verified without it
	a.beginWork("nothing was changed")
	mode := archive.Read
	if deep {
		mode = archive.Write // for the lock: the packs must stay as they are
	}
	store, err := a.openWith(ctx, mode, options)
	if err != nil {
		return err
	}
	defer store.Close()
	var unfinished error // why there is nothing to compare
	if deep && store.Index() != nil {
		var drop func()
		if drop, unfinished, err = scratchIndex(ctx, a, store, &o); err != nil {
			return err
		}
		defer drop()
	}
	packs, err := status.Packs(ctx, store)
	if err != nil {
		return err
	}
	m := a.meter()
	o.Progress = m.ByteFunc("verify")
	findings := []archive.Finding{}
	report, err := store.Verify(ctx, o, func(f archive.Finding) {
		f.Hint = a.completeCommands(f.Hint)
		findings = append(findings, f)
	})
	m.Stop()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && report.Findings == 0 {
		return err
	}
	a.recordVerified(ctx, store, packs, &report, findings)
	if a.JSON {
		err := a.PrintJSON(struct {
			OK bool `json:"ok"`
			archive.VerifyReport
			Elapsed int64             `json:"elapsed_us"`
			List    []archive.Finding `json:"list"`
		}{report.Findings == 0 && unfinished == nil, report, report.Duration.Microseconds(), findings})
		if err != nil {
			return err
		}
	} else {
		a.printVerify(&report, findings)
	}
	return cmp.Or(verifyError(&report, findings, store.IndexError()), unfinished)
}

// verifyError returns the error for what a verify has found, nil for nothing. indexErr is why the index could not be opened.
func verifyError(report *archive.VerifyReport, findings []archive.Finding, indexErr error) error {
	switch {
	case report.DamagedPacks+report.LostFiles == 0 && indexErr != nil && !errors.Is(indexErr, archive.ErrNoIndex):
		return indexErr // the packs are intact, and the index may be
	case report.Findings == 0:
		return nil
	case !slices.ContainsFunc(findings, func(f archive.Finding) bool { return !f.Notice() && f.Kind != archive.KindNewer }):
		return archive.ErrTooNew
	}
	return failure.Corrupt(terminal.Plural(report.Findings, "error", "errors")+" found", verifyHint(report))
}

// scratchIndex builds an index from the packs that only this verify uses. What it lacks because of damaged packs, verify names anyway. It is
// not compared if the archive's index is behind, for which unfinished is the error.
func scratchIndex(ctx context.Context, a *app, store *archive.Archive, o *archive.VerifyOptions) (drop func(), unfinished, err error) {
	g := a.ingester(store)
	switch outdated, err := g.Outdated(ctx); {
	case err != nil:
		return nil, nil, err
	case outdated > 0: // they differ, and nothing is wrong
		return nil, nil, failure.Refused(terminal.Plural(outdated, "original was", "originals were")+" parsed by another version of txarchive: there is nothing to compare with",
			"`txarchive ingest` parses them again; then --deep compares everything")
	}
	db, _, drop, err := store.NewIndex(ctx)
	if err != nil {
		return nil, nil, err
	}
	g.Index = db
	if _, _, err = refill(ctx, a, g); err == nil {
		err = db.Rest(ctx)
	}
	if err == nil {
		unfinished, err = checkFinished(ctx, a.ingester(store), db)
	}
	if err != nil {
		drop()
		return nil, nil, err
	}
	if unfinished == nil {
		o.Rebuilt = db
	}
	return drop, unfinished, nil
}

// checkFinished returns an error if an index that was built from the packs has what the next command that writes takes over.
func checkFinished(ctx context.Context, g *ingest.Ingester, built ingest.Index) (unfinished, err error) {
	packs, versions, err := g.Unfinished(ctx, built)
	if err != nil || packs == 0 && versions == 0 {
		return nil, err
	}
	return failure.Refused(fmt.Sprintf("a command that wrote was not finished, and the rows of the index were not compared: %s and %s are still to be indexed",
		terminal.Plural(packs, "pack", "packs"), terminal.Plural(versions, "original", "originals")),
		"the next command that writes takes them over, for example: txarchive ingest; then --deep compares everything"), nil
}

func verifyHint(r *archive.VerifyReport) string {
	if r.DamagedPacks == 0 && r.LostFiles == 0 {
		return "no original is lost; `txarchive reindex` rebuilds the index"
	}
	if r.DamagedPacks == 0 {
		return "`txarchive verify --repair` saves what is elsewhere, with --from BACKUP also what a backup has"
	}
	return "the next ingest repairs what is intact elsewhere; `txarchive verify --repair` saves all that is not damaged, with --from BACKUP also what a backup has"
}

// maxTouched is how many runs are named for a damaged original: a log may be part of all runs.
const maxTouched = 10

func (a *app) printVerify(r *archive.VerifyReport, findings []archive.Finding) {
	alike := func(i, j int) bool { // originals that the same damage has hit
		return j >= 0 && j < len(findings) && findings[i].Place() == findings[j].Place() && findings[i].Reason == findings[j].Reason &&
			findings[i].Original() != "" && findings[j].Original() != "" && !findings[i].Notice()
	}
	for i := range findings {
		f := &findings[i]
		text := terminal.OneLine(f.String())
		if before := alike(i, i-1); before || alike(i, i+1) { // print the damage once
			if text = "  " + strings.TrimSpace(terminal.OneLine(f.Original())); !before {
				fmt.Fprintln(a.Out, a.Style().Red(terminal.OneLine(f.Place()+": "+f.Reason)))
			}
		}
		if f.Notice() {
			a.Note("%s", text)
			continue
		}
		if n := len(f.Runs); n > maxTouched {
			text += ", affects " + strings.Join(f.Runs[:maxTouched], " ") + " and " + terminal.Plural(n-maxTouched, "more run", "more runs") + " (--json lists all)"
		} else if n > 0 {
			text += ", affects " + strings.Join(f.Runs, " ")
		}
		fmt.Fprintln(a.Out, a.Style().Red(a.Wrap("", text, "  ")))
		if f.Hint != "" && (i+1 == len(findings) || findings[i+1].Hint != f.Hint) { // once for consecutive findings with the same hint
			a.Line("  %s", f.Hint)
		}
	}
	if a.Quiet {
		return
	}
	checked, fine := "read and compared", "No errors found."
	if r.Quick {
		checked, fine = "listed and compared, contents not read", "Nothing is missing."
	}
	if !r.Quick || r.Index != "sound" { // a quick verify does not prove the index
		checked += ", index " + map[string]string{"sound": "ok", "unsound": "has errors", "missing": "missing"}[r.Index]
	}
	a.Line("%s (%s), %s (%s) %s, %s", terminal.Plural(r.Packs, "pack", "packs"), terminal.Bytes(r.PackBytes), terminal.Plural(r.Versions, "original", "originals"),
		terminal.Bytes(r.OriginalBytes), checked, r.Duration.Round(time.Millisecond))
	switch {
	case r.Findings > 0:
	case r.KnownBytes > 0:
		a.Line("No new errors found: an earlier repair recorded %s as lost.", terminal.Plural(r.KnownBytes, "byte", "bytes"))
	default:
		fmt.Fprintln(a.Out, a.Style().Green(fine))
	}
}
