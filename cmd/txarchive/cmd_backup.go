package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/backup"
)

// backupOptions are where a backup goes and what stays there.
type backupOptions struct {
	keep  backup.Keep
	moved bool
}

func newBackupCommand(a *app) *cobra.Command {
	var o backupOptions
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy what is new in the archive to another directory",
		Long: "Copy the packs that DIR lacks, read each back and compare it with its hashes, and write down which packs make up the\n" +
			"archive now. Packs never change, so each is copied once. Others may read and write the archive meanwhile. DIR must\n" +
			"be missing, empty or a backup of this archive; best on another disk. docs/backup.md says how to get back from it.\n\n" +
			"Without --keep-last and --keep-within all backups stay. With either, a backup that neither keeps goes, with the packs\n" +
			"that no other needs. What prune and gc have taken away stays in older backups until they go." +
			exits("5 packs of the archive are damaged or missing; all others were copied", "8 DIR is something else", "10 no archive", "11 another backup is at work"),
		Example: "  txarchive backup /mnt/backup/transcripts\n  txarchive backup /mnt/backup/transcripts --keep-last 14 --keep-within 60d\n" +
			"  txarchive backup verify /mnt/backup/transcripts --full\n  txarchive backup restore /mnt/backup/transcripts --to ~/again",
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, v []string) error { return runBackup(cmd.Context(), a, o, v[0]) },
	}
	keepFlags(cmd, &o.keep)
	cmd.Flags().BoolVar(&o.moved, "moved", false, "the archive has moved, or is an older state: this is the same one, take it as it is")
	cmd.AddCommand(newBackupListCommand(a), newBackupVerifyCommand(a), newBackupRestoreCommand(a))
	return cmd
}

func keepFlags(cmd *cobra.Command, keep *backup.Keep) {
	cmd.Flags().IntVar(&keep.Last, "keep-last", 0, "keep the newest `N` backups")
	cmd.Flags().Var((*ageValue)(&keep.Within), "keep-within", "keep the backups of this `TIME`, such as 30d or 12h")
}

func (a *app) backupOptions() backup.Options {
	return backup.Options{Command: a.command, Now: a.now, FS: a.options().FS}
}

func runBackup(ctx context.Context, a *app, o backupOptions, dir string) error {
	a.works(hintUndone)
	if o.keep.Last < 0 {
		return usage("a number of backups cannot be negative", "--keep-last 14")
	}
	store, err := a.packsOnly(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	b, err := backup.Create(dir, origin(store), o.moved, a.backupOptions())
	if err != nil {
		return err
	}
	m := a.meter()
	r, err := b.Take(ctx, store.Packs(), backup.TakeOptions{Keep: o.keep, AsIs: o.moved, Progress: m.reading("back up")})
	m.stop()
	if r.Snapshot == "" {
		return err
	}
	if len(r.Lost) > 0 {
		err = corrupt(err.Error(), "txarchive verify --repair --from "+quotedPath(b.Dir())+" brings back what is missing")
	}
	if a.json {
		return errors.Join(a.printJSON(backupReport{b.Dir(), r}), err)
	}
	if !a.quiet {
		a.printBackup(b, &r)
	}
	return err
}

// missingPack is said of a pack that only the backup has any more.
const missingPack = "missing in the archive, and kept in the backup: pack "

// backupReport is what backup prints.
type backupReport struct {
	Backup string `json:"backup"`
	backup.Report
}

// origin says which archive it is.
func origin(store *archive.Archive) backup.Origin {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return backup.Origin{Archive: store.Dir(), Host: host}
}

func (a *app) printBackup(b *backup.Backup, r *backup.Report) {
	fmt.Fprintf(a.out, "%s (%s) backed up, %s (%s) new\n", plural(r.Packs, "pack", "packs"), size(r.Bytes), number(r.Copied), size(r.CopiedBytes))
	if r.Expired+r.Removed > 0 {
		fmt.Fprintf(a.out, "%s expired, %s (%s) removed\n", plural(r.Expired, "backup", "backups"), plural(r.Removed, "pack", "packs"), size(r.RemovedBytes))
	}
	for _, d := range r.Damaged {
		fmt.Fprintln(a.out, a.ink().red("not backed up: "+line(d.Reason)))
	}
	for _, p := range r.Lost {
		fmt.Fprintln(a.out, a.ink().red(missingPack+line(p.Name)))
	}
	fmt.Fprintf(a.out, "%s in %s\n", plural(r.Snapshots, "backup", "backups"), line(a.shown(b.Dir())))
}

func newBackupListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list DIR", Short: "List the backups in a directory", Args: takes(1, 1),
		Example: "  txarchive backup list /mnt/backup/transcripts",
		RunE: func(_ *cobra.Command, v []string) error {
			b, err := backup.Open(v[0], a.backupOptions())
			if err != nil {
				return err
			}
			all, err := b.Snapshots()
			l := a.listing(column{head: "snapshot"}, column{head: "taken"}, column{head: "unchanged until", spare: 1},
				column{head: "packs", right: true, spare: 3}, column{head: "size", right: true, spare: 2})
			for _, s := range all {
				packs := int64(len(s.Packs))
				if err := l.row(backupSnapshot{s.ID, instant{s.Time}, instant{s.Until}, packs, s.Bytes},
					s.ID, a.minute(s.Time), a.minute(s.Until), number(packs), size(s.Bytes)); err != nil {
					return err
				}
			}
			l.end("")
			return err
		},
	}
}

// backupSnapshot is a line of backup list.
type backupSnapshot struct {
	Snapshot string  `json:"snapshot"`
	Time     instant `json:"time"`
	Until    instant `json:"until"`
	Packs    int64   `json:"packs"`
	Bytes    int64   `json:"bytes"`
}
