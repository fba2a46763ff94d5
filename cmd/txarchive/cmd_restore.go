package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// restoreOptions are the flags of restore, besides those that the archive takes as they are.
type restoreOptions struct {
	archive.RestoreOptions
	at, run, children string
	inPlace           bool
}

func newRestoreCommand(a *app) *cobra.Command {
	var o restoreOptions
	cmd := &cobra.Command{
		Use:   "restore [SOURCE/PATH...] --to DIR",
		Short: "Restore original files, byte for byte",
		Long: "Write original files to DIR/SOURCE/PATH, with their contents, times and modes. Select them with --all, --source or\n" +
			"--run, or by path: SOURCE/PATH, or the path on this machine (/home/ada/.codex/...). With --in-place, files are written\n" +
			"to where they came from. Existing files with other contents are left alone, unless --overwrite is given.\n\n" +
			"--run also restores the files of all sub-agents and other sub-runs, at any depth, unless --children stay is given. It\n" +
			"does not restore forks (`tree` shows both), nor logs that mention the run among others, such as a history of prompts.\n\n" +
			"--at restores the state that was archived at a given time: of each file the version of that time, as far as it had\n" +
			"grown. A date means its end.\n\n" +
			"An original that has lost bytes to damage is not restored. With --damaged, what is left of it is written as\n" +
			"NAME@damaged, with every byte in its place and zeros for lost bytes, and the lost ranges are named. It still counts as\n" +
			"failed." +
			exitCodes("4 a name matches nothing (all others were restored)", "5 some originals are damaged (all others were restored)", "8 files are in the way", "10 no archive"),
		Example: "  txarchive restore --all --to /tmp/back\n  txarchive restore --run r7sk2 --to .\n  txarchive restore --source awf --dry-run --to /tmp/back\n" +
			"  txarchive restore awf/storage/audit.jsonl --version 1 --to /tmp/old\n  txarchive restore --source claude-code --in-place --dry-run\n" +
			"  txarchive restore --all --at 2026-11-20T08:00 --to /tmp/then\n" +
			"  txarchive restore --all --damaged --to /tmp/left",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return a.completePath(cmd, nil, typed) // completes each of several arguments
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			o.Paths = paths
			return runRestore(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	a.pathVar(f, &o.To, "to", "write files below `DIR`")
	f.BoolVar(&o.inPlace, "in-place", false, "write files to where they came from")
	f.BoolVar(&o.All, "all", false, "restore all files, the newest version of each")
	f.StringVar(&o.Source, "source", "", "restore the files of the source `NAME`")
	f.StringVar(&o.run, "run", "", "restore the files of the run `ID` (or of a conversation or event in it) and its sub-runs")
	f.StringVar(&o.children, "children", "follow", "with --run: `MODE` for child runs: follow (restore them too) or stay")
	f.StringVar(&o.at, "at", "", "restore the state archived at this `TIME` (2026-11-20, 2026-11-20T08:00, 7d)")
	f.IntVar(&o.Version, "version", 0, "restore version `N` instead of the newest")
	f.BoolVar(&o.AllVersions, "all-versions", false, "restore every version; earlier ones get names of their own beside the newest")
	f.BoolVar(&o.DryRun, "dry-run", false, "only show what would be written")
	f.BoolVar(&o.Damaged, "damaged", false, "write what is left of originals that have lost bytes, as NAME@damaged")
	f.BoolVar(&o.Overwrite, "overwrite", false, "replace files that are in the way")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"source": a.completeValues("source"), "run": a.completeSome(""), "children": fixed("follow", "stay")})
	return cmd
}

// check rejects flags that do not go together, and parses --at.
func (o *restoreOptions) check(a *app) error {
	switch {
	case o.To == "" && !o.inPlace:
		return failure.Usage("no target directory given", "--to DIR, or --in-place")
	case o.To != "" && o.inPlace:
		return failure.Usage("--to and --in-place cannot be combined", "use only one of them")
	case o.Version < 0:
		return failure.Usage("versions start at 1", "--version 1 is the first")
	case o.inPlace && o.AllVersions:
		return failure.Usage("--in-place can restore only one version of a file", "--to DIR restores all versions")
	case o.inPlace && o.Damaged:
		return failure.Usage("--damaged cannot be combined with --in-place", "use --to DIR instead")
	case !o.All && o.Source == "" && o.run == "" && len(o.Paths) == 0:
		return failure.Usage("what?", "--all, --source NAME, --run ID, or SOURCE/PATH")
	case o.children != "follow" && o.children != "stay":
		return failure.Usage(fmt.Sprintf("--children cannot be %q", o.children), "--children follow or --children stay")
	case o.run == "" && o.children == "stay":
		return failure.Usage("--children needs --run", "--run ID")
	case o.All && (o.Source != "" || o.run != "" || len(o.Paths) > 0):
		return failure.Usage("--all restores everything: it cannot be combined with other selections", "omit --all")
	}
	if o.at == "" {
		return nil
	}
	var err error
	if o.At, err = time.Parse(time.RFC3339Nano, o.at); err == nil {
		return nil
	}
	if _, o.At, err = timeRange("", o.at, a.calendar()); err != nil {
		return failure.Usage(fmt.Sprintf("--at %q is not a time", o.at), "write 2026-11-20, 2026-11-20T08:00, 2026-11-20T08:00:05Z, 7d or yesterday")
	}
	return nil
}

func runRestore(ctx context.Context, a *app, o restoreOptions) error {
	if err := o.check(a); err != nil {
		return err
	}
	if !o.DryRun {
		a.beginWork("files restored so far are complete; run the command again to continue")
	}
	open := a.openPacks // the manifests have all originals, but not their runs and the directories of their sources
	if o.run != "" || o.inPlace || slices.ContainsFunc(o.Paths, filepath.IsAbs) {
		open = a.openRead
	}
	store, err := open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if o.run != "" {
		if o.Runs, err = o.runTree(ctx, store); err != nil {
			return err
		}
	}
	var known []source.Named
	if store.Index() != nil {
		if known, err = source.All(ctx, store.Index()); err != nil {
			return err
		}
	}
	for i, p := range o.Paths {
		if !filepath.IsAbs(p) {
			continue
		}
		if o.Paths[i], err = lookup.Name(ctx, store.Index(), known, p); err != nil {
			return err
		}
	}
	if o.inPlace {
		o.Roots, o.Apart = map[string]string{}, ingest.Apart(all.Formats())
		for _, s := range known {
			o.Roots[s.Name] = s.Root
		}
	}
	return restoreFiles(ctx, a, o, store)
}

// runTree returns the run of --run, and its children if they follow.
func (o *restoreOptions) runTree(ctx context.Context, store *archive.Archive) ([]string, error) {
	run, err := lookup.Run(ctx, store.Index(), o.run)
	if err != nil || o.children == "stay" {
		return []string{run}, err
	}
	return index.Family(ctx, store.Index(), run)
}

// restoreSum counts what a restore did.
type restoreSum struct {
	To        *string           `json:"to"` // null with --in-place
	At        printer.Timestamp `json:"at"`
	DryRun    bool              `json:"dry_run"`
	Files     int64             `json:"files"` // restored, or planned
	Bytes     int64             `json:"bytes"`
	Unchanged int64             `json:"unchanged"` // were there already, byte for byte
	Marked    int64             `json:"marked"`    // files among these in which marks replace payloads
	Removed   int64             `json:"removed"`   // from the archive, while they were restored
	Failed    []restoreFail     `json:"failed"`
	Runs      []string          `json:"runs"` // with --run: the run, and its children that follow
}

type restoreFail struct {
	Source  string      `json:"source"`
	Path    string      `json:"path"`
	Version int         `json:"version"`
	Action  string      `json:"action"`
	Reason  string      `json:"reason"`
	Name    *string     `json:"name"` // of the file with what is left, below the directory
	Lost    []lostBytes `json:"lost"` // replaced by zeros
}

type lostBytes struct {
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"`
}

// notRestored describes an original that was not restored completely.
func notRestored(r *archive.Restored) restoreFail {
	reason := r.Err.Error()
	if there, ok := errors.AsType[*fs.PathError](r.Err); ok && r.Action == archive.ActionRefused {
		reason = there.Err.Error() // the path is in a field of its own
	}
	f := restoreFail{r.Source, r.Path, r.Version, r.Action, reason, nil, []lostBytes{}}
	if r.Action == archive.ActionDamaged {
		f.Name = &r.Name
	}
	for _, l := range r.Lost {
		f.Lost = append(f.Lost, lostBytes{l.Offset, l.Size})
	}
	return f
}

func restoreFiles(ctx context.Context, a *app, o restoreOptions, store *archive.Archive) error {
	sum := restoreSum{To: printer.OrNull(o.To), At: printer.Stamp(o.At), DryRun: o.DryRun, Failed: []restoreFail{}, Runs: append([]string{}, o.Runs...)}
	marked := map[index.VersionKey]bool{}
	if o.At.IsZero() {
		var err error
		if marked, err = markedOriginals(ctx, store); err != nil {
			return err
		}
	}
	m := a.meter()
	failed := store.Restore(ctx, o.RestoreOptions, func(r archive.Restored) {
		switch {
		case r.Err != nil && errors.Is(r.Err, context.Canceled):
			return // after an interruption, the files that were next are not listed
		case r.Err != nil:
			sum.Failed = append(sum.Failed, notRestored(&r))
			return
		case r.Action == archive.ActionRemoved:
			sum.Removed++
			return
		case r.Action == archive.ActionUnchanged:
			sum.Unchanged++
		default:
			sum.Files++
			sum.Bytes += r.Size
		}
		if marked[index.VersionKey{Source: r.Source, Path: r.Path, Number: r.Version}] {
			sum.Marked++
		}
		m.Show(terminal.Progress{Stage: "restore", Path: r.Path, Done: sum.Files + sum.Unchanged})
		if (o.DryRun || a.verbose) && !a.JSON {
			name := r.Name
			if o.inPlace { // names are below the directories of several sources
				name = a.DisplayPath(filepath.Join(o.Roots[r.Source], filepath.FromSlash(r.Name)))
			}
			fmt.Fprintf(a.Out, "%-9s  %9s  %s\n", terminal.OneLine(r.Action), terminal.Bytes(r.Size), terminal.OneLine(name))
		}
	})
	m.Stop()
	if errors.Is(failed, index.ErrNotFound) {
		failed = notFoundError(o, failed, sum.Files+sum.Unchanged > 0 || len(sum.Failed) > 0)
	}
	if a.JSON {
		if failed != nil && sum.Files+sum.Unchanged == 0 && len(sum.Failed) == 0 {
			return failed
		}
		return errors.Join(a.PrintJSON(sum), failed)
	}
	a.printRestored(o, &sum)
	if errors.Is(failed, blob.ErrLost) && !o.Damaged && !o.inPlace {
		a.Note("--damaged restores what is left of originals that have lost bytes")
	}
	return failed
}

// notFoundError returns the error for names that match nothing; restored says that others were restored.
func notFoundError(o restoreOptions, err error, restored bool) error {
	switch {
	case restored:
		return failure.NotFound(err.Error(), lookup.HintFiles)
	case !o.At.IsZero():
		return failure.NotFound("nothing that matches was in the archive at that time", "--at is the time when originals were stored, not when they were written")
	case o.Version > 0:
		return failure.NotFound(fmt.Sprintf("no original that matches has a version %d", o.Version), "--all-versions restores every version")
	case o.All:
		return failure.NotFound("the archive holds no originals", "txarchive ingest DIR")
	case len(o.Paths) > 0:
		return failure.NotFound("no original has that name", lookup.HintFiles+"; a run is restored with --run ID")
	case o.Source != "":
		return failure.NotFound(fmt.Sprintf("no originals of source %q in the archive", o.Source), "txarchive source list")
	}
	return failure.NotFound("no original matches", lookup.HintFiles)
}

// printRestored prints what was restored and what was not.
func (a *app) printRestored(o restoreOptions, sum *restoreSum) {
	for _, f := range sum.Failed {
		a.Note("%s: %s/%s: %s", f.Action, f.Source, f.Path, f.Reason)
		if f.Name != nil {
			a.Note("  what is left of it is in %s, with zeros for %s", terminal.OneLine(*f.Name), byteRanges(f.Lost))
		}
	}
	if sum.Removed > 0 {
		a.Note("%s not restored: a prune and a gc removed them from the archive meanwhile", terminal.Plural(sum.Removed, "file is", "files are"))
	}
	if a.Quiet || sum.Files+sum.Unchanged == 0 {
		return
	}
	verb := "restored to"
	if o.inPlace {
		verb = "restored"
	}
	if o.DryRun {
		verb = "would be " + verb
	}
	where := terminal.OneLine(o.To)
	if o.inPlace {
		where = "to their original locations"
		if sum.Files == 1 {
			where = "to its original location"
		}
	}
	of := ""
	if n := int64(len(sum.Runs)); n > 1 {
		of = fmt.Sprintf(" of %d runs", n)
	}
	already := ""
	if sum.Unchanged > 0 {
		already = fmt.Sprintf(", %s already there", terminal.Plural(sum.Unchanged, "is", "are"))
	}
	a.Line("%s (%s)%s %s %s%s", terminal.Plural(sum.Files, "file", "files"), terminal.Bytes(sum.Bytes), of, verb, where, already)
	if sum.Marked > 0 {
		a.Note("%s marks in place of large payloads that a policy dropped: see docs/retention.md.", terminal.Plural(sum.Marked, "of them has", "of them have"))
	}
}

// byteRanges formats ranges of lost bytes.
func byteRanges(all []lostBytes) string {
	const shown = 8
	var ranges []string
	for _, l := range all[:min(len(all), shown)] {
		ranges = append(ranges, fmt.Sprintf("%d-%d", l.Offset, l.Offset+l.Size-1))
	}
	text := "bytes " + strings.Join(ranges, ", ")
	if len(all) > shown {
		text += fmt.Sprintf(" and %d more ranges (--json lists all)", len(all)-shown)
	}
	return text
}

// markedOriginals returns the originals in which marks have replaced payloads.
func markedOriginals(ctx context.Context, store *archive.Archive) (map[index.VersionKey]bool, error) {
	all := map[index.VersionKey]bool{}
	if store.Index() == nil {
		return nil, nil
	}
	for f, err := range store.Index().Facts(ctx, blob.FactTombstone) {
		if err != nil {
			return nil, err
		}
		if t, err := blob.ParseTombstone(f); err == nil && t.Redacted != nil && t.Redacted.Payloads {
			all[index.VersionKey{Source: t.Source, Path: t.Path, Number: t.Number}] = true
		}
	}
	return all, nil
}
