package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/backup"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// backupOptions are the flags of backup.
type backupOptions struct {
	keep  backup.Keep
	moved bool
}

func newBackupCommand(a *app) *cobra.Command {
	var o backupOptions
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up the archive to another directory",
		Long: "Copy the packs that DIR lacks, read each copy back, check it against its hashes, and record a snapshot: the list of\n" +
			"packs that make up the archive now. Packs never change, so each is copied only once. Other processes may read and\n" +
			"write the archive meanwhile.\n\n" +
			"DIR must be missing, empty, or a backup of this archive, preferably on another disk. docs/backup.md explains how to\n" +
			"restore from it.\n\n" +
			"By default all snapshots are kept. With --keep-last, --keep-within or both, snapshots that neither keeps are removed\n" +
			"(never the newest), and then the packs that no other snapshot needs. What prune and gc have removed from the archive\n" +
			"stays in older snapshots until these are removed." +
			exitCodes("5 packs of the archive are damaged or missing (all others were copied)", "8 DIR is not a backup of this archive", "10 no archive", "11 another backup is running"),
		Example: "  txarchive backup /mnt/backup/transcripts\n  txarchive backup /mnt/backup/transcripts --keep-last 14 --keep-within 60d\n" +
			"  txarchive backup verify /mnt/backup/transcripts --full\n  txarchive backup restore /mnt/backup/transcripts --to ~/again",
		Args: argCount(1, 1),
		RunE: func(cmd *cobra.Command, v []string) error { return runBackup(cmd.Context(), a, o, v[0]) },
		// beside the subcommands, after which cobra completes no files
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	keepFlags(cmd, &o.keep)
	cmd.Flags().BoolVar(&o.moved, "moved", false, "accept that the archive has moved, or is an older state of itself")
	cmd.AddCommand(newBackupListCommand(a), newBackupVerifyCommand(a), newBackupRestoreCommand(a))
	return cmd
}

func keepFlags(cmd *cobra.Command, keep *backup.Keep) {
	cmd.Flags().IntVar(&keep.Last, "keep-last", 0, "keep the `N` newest snapshots")
	cmd.Flags().Var((*ageValue)(&keep.Within), "keep-within", "keep snapshots newer than this `TIME`, such as 30d or 12h")
}

func (a *app) backupOptions() backup.Options {
	return backup.Options{Command: a.command, Now: a.Now, FS: a.options().FS}
}

func runBackup(ctx context.Context, a *app, o backupOptions, dir string) error {
	a.beginWork(hintUndone)
	if o.keep.Last < 0 {
		return failure.Usage("--keep-last cannot be negative", "--keep-last 14")
	}
	store, err := a.openPacks(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	b, err := backup.Create(dir, origin(store), o.moved, a.backupOptions())
	if err != nil {
		return err
	}
	m := a.meter()
	r, err := b.Take(ctx, store.Packs(), backup.TakeOptions{Keep: o.keep, AsIs: o.moved, Progress: m.ByteFunc("back up")})
	m.Stop()
	if r.Snapshot == "" {
		return err
	}
	if len(r.Lost) > 0 {
		err = failure.Corrupt(err.Error(), "`txarchive verify --repair --from "+terminal.ShellPath(b.Dir())+"` restores what is missing")
	}
	if a.JSON {
		return errors.Join(a.PrintJSON(backupReport{b.Dir(), r}), err)
	}
	if !a.Quiet {
		a.printBackup(b, &r)
	}
	return err
}

// missingPack introduces the name of a pack that only the backup still has.
const missingPack = "missing from the archive, kept in the backup: pack "

// backupReport is what backup prints.
type backupReport struct {
	Backup string `json:"backup"`
	backup.Report
}

// origin returns what identifies the archive in its backups.
func origin(store *archive.Archive) backup.Origin {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return backup.Origin{Archive: store.Dir(), Host: host}
}

func (a *app) printBackup(b *backup.Backup, r *backup.Report) {
	a.Line("%s (%s) backed up, %s (%s) new", terminal.Plural(r.Packs, "pack", "packs"), terminal.Bytes(r.Bytes), terminal.Count(r.Copied), terminal.Bytes(r.CopiedBytes))
	if r.Expired+r.Removed > 0 {
		a.Line("%s expired, %s (%s) removed", terminal.Plural(r.Expired, "snapshot", "snapshots"), terminal.Plural(r.Removed, "pack", "packs"), terminal.Bytes(r.RemovedBytes))
	}
	for _, d := range r.Damaged {
		fmt.Fprintln(a.Out, a.Style().Red("not backed up: "+terminal.OneLine(d.Reason)))
	}
	for _, p := range r.Lost {
		fmt.Fprintln(a.Out, a.Style().Red(missingPack+terminal.OneLine(p.Name)))
	}
	a.Line("%s in %s", terminal.Plural(r.Snapshots, "snapshot", "snapshots"), a.DisplayPath(b.Dir()))
}

func newBackupListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list DIR", Short: "List the snapshots in a backup", Args: argCount(1, 1),
		Example: "  txarchive backup list /mnt/backup/transcripts",
		RunE: func(_ *cobra.Command, v []string) error {
			b, err := backup.Open(v[0], a.backupOptions())
			if err != nil {
				return err
			}
			all, err := b.Snapshots()
			l := a.Listing(terminal.Column{Head: "snapshot"}, terminal.Column{Head: "taken"}, terminal.Column{Head: "unchanged until", DropRank: 1},
				terminal.Column{Head: "packs", Right: true, DropRank: 3}, terminal.Column{Head: "size", Right: true, DropRank: 2})
			for _, s := range all {
				packs := int64(len(s.Packs))
				if err := l.Row(backupSnapshot{s.ID, printer.Stamp(s.Time), printer.Stamp(s.Until), packs, s.Bytes},
					s.ID, a.FormatMinute(s.Time), a.FormatMinute(s.Until), terminal.Count(packs), terminal.Bytes(s.Bytes)); err != nil {
					return err
				}
			}
			l.End("")
			return err
		},
	}
}

// backupSnapshot is a row of backup list.
type backupSnapshot struct {
	Snapshot string            `json:"snapshot"`
	Time     printer.Timestamp `json:"time"`
	Until    printer.Timestamp `json:"until"`
	Packs    int64             `json:"packs"`
	Bytes    int64             `json:"bytes"`
}
