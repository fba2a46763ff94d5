package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
)

func newRestoreCommand(a *app) *cobra.Command {
	var o archive.RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore [SOURCE/PATH...] --to DIR",
		Short: "Get original files back, byte for byte",
		Long: "Write original files below a directory as DIR/SOURCE/PATH, with their bytes, times and modes. Say which: --all, a\n" +
			"--source, a --run, or paths. Files that are there already with other content are left alone unless --overwrite." +
			exits("4 nothing by that name", "5 some originals are damaged, all others were restored", "8 files are in the way", "10 no archive"),
		Example: "  txarchive restore --all --to /tmp/back\n  txarchive restore --run r7sk2 --to .\n  txarchive restore --source awf --dry-run --to /tmp/back\n" +
			"  txarchive restore awf/storage/audit.jsonl --version 1 --to /tmp/old",
		RunE: func(cmd *cobra.Command, paths []string) error {
			o.Paths = paths
			return runRestore(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.To, "to", "", "directory to write below")
	f.BoolVar(&o.All, "all", false, "everything, the newest version of each file")
	f.StringVar(&o.Source, "source", "", "files of this source")
	f.StringVar(&o.Run, "run", "", "files of this run")
	f.IntVar(&o.Version, "version", 0, "this version instead of the newest")
	f.BoolVar(&o.AllVersions, "all-versions", false, "every version; earlier ones beside the newest under names of their own")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be written, write nothing")
	f.BoolVar(&o.Overwrite, "overwrite", false, "replace files that are in the way")
	_ = cmd.RegisterFlagCompletionFunc("source", a.completeSources)
	_ = cmd.RegisterFlagCompletionFunc("run", a.completeIDs)
	return cmd
}

func runRestore(ctx context.Context, a *app, o archive.RestoreOptions) error {
	switch {
	case o.To == "":
		return usage("where to?", "--to DIR")
	case !o.All && o.Source == "" && o.Run == "" && len(o.Paths) == 0:
		return usage("what?", "--all, --source NAME, --run ID, or SOURCE/PATH")
	case o.All && (o.Source != "" || o.Run != "" || len(o.Paths) > 0):
		return usage("--all is everything: nothing else can be named beside it", "leave out --all")
	}
	open := a.packsOnly // the manifests tell of all originals; only of which run they are they do not know
	if o.Run != "" {
		open = a.read
	}
	store, err := open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if o.Run != "" {
		what, err := find(ctx, store, o.Run)
		if err != nil {
			return err
		}
		if what.run == "" {
			return usage(fmt.Sprintf("%q is no run", o.Run), "`txarchive show ID` says which run it belongs to")
		}
		o.Run = what.run
	}
	return restoreFiles(ctx, a, o, store)
}

// restoreSum is what a restore did.
type restoreSum struct {
	To        string        `json:"to"`
	DryRun    bool          `json:"dry_run"`
	Files     int64         `json:"files"` // restored, or planned
	Bytes     int64         `json:"bytes"`
	Unchanged int64         `json:"unchanged"` // stand there already, byte for byte
	Failed    []restoreFail `json:"failed"`
}

type restoreFail struct {
	Source  string `json:"source"`
	Path    string `json:"path"`
	Version int    `json:"version"`
	Action  string `json:"action"`
	Reason  string `json:"reason"`
}

func restoreFiles(ctx context.Context, a *app, o archive.RestoreOptions, store *archive.Archive) error {
	sum := restoreSum{To: o.To, DryRun: o.DryRun, Failed: []restoreFail{}}
	m := a.meter()
	failed := store.Restore(ctx, o, func(r archive.Restored) {
		switch {
		case r.Err != nil:
			sum.Failed = append(sum.Failed, restoreFail{r.Source, r.Path, r.Version, r.Action, r.Err.Error()})
			return
		case r.Action == archive.ActionUnchanged:
			sum.Unchanged++
		default:
			sum.Files++
			sum.Bytes += r.Size
		}
		m.files("restore", r.Path, sum.Files+sum.Unchanged, 0)
		if (o.DryRun || a.verbose) && !a.json {
			fmt.Fprintf(a.out, "%-9s  %9s  %s\n", line(r.Action), size(r.Size), line(r.Name))
		}
	})
	m.stop()
	if a.json {
		if failed != nil && sum.Files+sum.Unchanged == 0 && len(sum.Failed) == 0 {
			return failed
		}
		return errors.Join(a.printJSON(sum), failed)
	}
	for _, f := range sum.Failed {
		a.note("%s: %s/%s: %s", f.Action, f.Source, f.Path, f.Reason)
	}
	if !a.quiet && sum.Files+sum.Unchanged > 0 {
		verb := "restored to"
		if o.DryRun {
			verb = "would be restored to"
		}
		fmt.Fprintf(a.out, "%s (%s) %s %s", plural(sum.Files, "file", "files"), size(sum.Bytes), verb, line(o.To))
		if sum.Unchanged > 0 {
			fmt.Fprintf(a.out, ", %s there already", plural(sum.Unchanged, "is", "are"))
		}
		fmt.Fprintln(a.out)
	}
	return failed
}
