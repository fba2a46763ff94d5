package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/backup"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newBackupVerifyCommand(a *app) *cobra.Command {
	var o backup.VerifyOptions
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Verify the integrity of a backup",
		Long: "Check by size, name and manifest that every pack that the snapshots need is present.\n\n" +
			"With --full, read every byte, then restore the newest snapshot (or that of --snapshot) into a temporary directory,\n" +
			"index it, and compare every row and word of its index with that of the archive, unless the archive has changed since." +
			exitCodes("4 no such backup or snapshot", "5 something is damaged, missing or different", "11 a backup is running"),
		Example: "  txarchive backup verify /mnt/backup/transcripts\n  txarchive backup verify /mnt/backup/transcripts --full",
		Args:    argCount(1, 1),
		RunE:    func(cmd *cobra.Command, v []string) error { return runBackupVerify(cmd.Context(), a, o, v[0]) },
	}
	cmd.Flags().BoolVar(&o.Full, "full", false, "read every byte, and restore into a temporary archive")
	cmd.Flags().StringVar(&o.Snapshot, "snapshot", "", "verify only the snapshot `ID` (see backup list)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"snapshot": a.completeSnapshots})
	return cmd
}

// proof is what backup verify prints.
type proof struct {
	Backup string `json:"backup"`
	OK     bool   `json:"ok"`
	backup.VerifyReport
	Rebuilt *string  `json:"rebuilt"` // the snapshot that was indexed again
	Same    *bool    `json:"same"`    // its rows are those of the archive; null if they were not compared
	Why     *string  `json:"not_compared"`
	Differ  []string `json:"differ"` // rows that differ
}

func runBackupVerify(ctx context.Context, a *app, o backup.VerifyOptions, dir string) error {
	a.beginWork("nothing was changed")
	b, err := backup.Open(dir, a.backupOptions())
	if err != nil {
		return err
	}
	m := a.meter()
	o.Progress = m.ByteFunc("verify")
	p := proof{Backup: b.Dir(), Differ: []string{}}
	p.VerifyReport, err = b.Verify(ctx, o)
	m.Stop()
	if err != nil && !errors.Is(err, blob.ErrCorrupt) {
		return explainSnapshot(b, err)
	}
	if err == nil && o.Full {
		if err := rebuildBackup(ctx, a, b, o.Snapshot, &p); err != nil {
			return err
		}
	}
	p.OK = err == nil && len(p.Differ) == 0
	if a.JSON {
		err = errors.Join(a.PrintJSON(p), err)
	} else {
		a.printProof(&p)
	}
	if err == nil && !p.OK {
		return failure.Corrupt("the backup and the archive's index have different rows: "+strings.Join(p.Differ, "; "), "`txarchive verify --deep` shows which of them is wrong; `txarchive reindex` rebuilds the archive's index")
	}
	return err
}

// explainSnapshot adds to the error of a snapshot that is not there where those are listed that are.
func explainSnapshot(b *backup.Backup, err error) error {
	if errors.Is(err, backup.ErrNoSnapshot) {
		return failure.NotFound(err.Error(), "txarchive backup list "+terminal.ShellPath(b.Dir()))
	}
	return err
}

// rebuildBackup makes an archive of a snapshot in a temporary directory and compares it with the archive.
func rebuildBackup(ctx context.Context, a *app, b *backup.Backup, id string, p *proof) (err error) {
	s, err := b.Snapshot(id)
	if err != nil {
		return err
	}
	dir, remove, err := b.Scratch(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	again, err := a.indexed(ctx, dir)
	if err != nil {
		return fmt.Errorf("index the restored backup: %w", err)
	}
	defer func() { err = errors.Join(err, again.Close()) }()
	p.Rebuilt = &s.ID
	store, why := a.comparable(ctx, b, &s)
	if why != "" {
		p.Why = &why
		return nil
	}
	defer store.Close()
	if _, err := store.Index().Differences(ctx, again.Index(), func(d string) { p.Differ = append(p.Differ, d) }); err != nil {
		return err
	}
	same := len(p.Differ) == 0
	p.Same = &same
	return nil
}

// indexed opens a directory of packs as an archive and indexes them.
func (a *app) indexed(ctx context.Context, dir string) (*archive.Archive, error) {
	store, err := archive.Open(ctx, dir, archive.Write, a.options())
	if err != nil {
		return nil, err
	}
	g := a.ingester(store)
	m := a.meter()
	g.Progress = ingestProgress(m)
	_, err = g.Adopt(ctx)
	m.Stop()
	if err != nil && (!errors.Is(err, blob.ErrCorrupt) || ctx.Err() != nil) {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// comparable opens the archive of a backup if its packs are those of a snapshot and all of them are indexed; else it returns why not.
func (a *app) comparable(ctx context.Context, b *backup.Backup, s *backup.Snapshot) (*archive.Archive, string) {
	store, err := archive.Open(ctx, b.Origin().Archive, archive.Read, a.options())
	if err != nil {
		return nil, err.Error()
	}
	var listed []backup.Pack
	for info, err := range store.Packs().List(ctx) {
		if err != nil {
			return nil, errors.Join(err, store.Close()).Error()
		}
		listed = append(listed, backup.Pack(info))
	}
	unindexed, _, err := status.Unindexed(ctx, store)
	if err == nil && slices.Equal(listed, s.Packs) && len(unindexed) == 0 {
		return store, ""
	}
	if cerr := store.Close(); err != nil || cerr != nil {
		return nil, errors.Join(err, cerr).Error()
	}
	return nil, "the archive has changed since the backup"
}

func (a *app) printProof(p *proof) {
	for _, f := range p.Findings {
		fmt.Fprintln(a.Out, a.Style().Red(terminal.OneLine(f.Kind+": "+f.Pack+": "+f.Reason)))
	}
	if a.Quiet {
		return
	}
	how := "present, contents not read (--full reads them)"
	if p.Full {
		how = "read and checked against their hashes"
	}
	a.Line("%s, %s (%s) %s", terminal.Plural(p.Snapshots, "snapshot", "snapshots"), terminal.Plural(p.Packs, "pack", "packs"), terminal.Bytes(p.Bytes), how)
	if p.Extra > 0 {
		a.Note("%s to no backup: left in place", terminal.Plural(p.Extra, "pack belongs", "packs belong"))
	}
	switch {
	case p.Rebuilt == nil:
	case p.Same == nil:
		a.Line("restored and indexed %s; not compared: %s", *p.Rebuilt, *p.Why)
	case *p.Same:
		a.Line("restored and indexed %s: every row matches the archive's index", *p.Rebuilt)
	}
	if p.OK {
		fmt.Fprintln(a.Out, a.Style().Green("The backup is complete."))
	}
}

func newBackupRestoreCommand(a *app) *cobra.Command {
	var to, snapshot string
	cmd := &cobra.Command{
		Use:   "restore DIR --to NEW",
		Short: "Restore an archive from a backup",
		Long: "Copy the packs of the newest snapshot (or that of --snapshot) to NEW, read each copy back, check it, and index them.\n" +
			"NEW must be missing or empty. If the command is interrupted, run it again to continue." +
			exitCodes("4 no such backup or snapshot", "5 packs of the backup are damaged or missing (all others were restored)", "8 NEW is not empty"),
		Example: "  txarchive backup restore /mnt/backup/transcripts --to ~/.local/share/txarchive\n" +
			"  txarchive backup restore /mnt/backup/transcripts --snapshot 20261121T020000.000000Z --to /tmp/then",
		Args: argCount(1, 1),
		RunE: func(cmd *cobra.Command, v []string) error {
			if to == "" {
				return failure.Usage("no target directory given", "--to DIR")
			}
			return runBackupRestore(cmd.Context(), a, v[0], snapshot, to)
		},
	}
	a.pathVar(cmd.Flags(), &to, "to", "create the archive in the directory `NEW`")
	cmd.Flags().StringVar(&snapshot, "snapshot", "", "restore the snapshot `ID` instead of the newest (see backup list)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"snapshot": a.completeSnapshots})
	return cmd
}

func runBackupRestore(ctx context.Context, a *app, dir, id, to string) error {
	a.beginWork(hintUndone)
	b, err := backup.Open(dir, a.backupOptions())
	if err != nil {
		return err
	}
	s, err := b.Snapshot(id)
	if err != nil {
		return explainSnapshot(b, err)
	}
	if err := archive.Create(ctx, to, a.options()); err != nil {
		return err
	}
	r, err := a.fill(ctx, b, &s, to)
	if err != nil && !errors.Is(err, blob.ErrCorrupt) {
		return err
	}
	store, ierr := a.indexed(ctx, to)
	if ierr == nil {
		ierr = store.Close()
	}
	if ierr != nil {
		return errors.Join(ierr, err)
	}
	if a.JSON {
		return errors.Join(a.PrintJSON(struct {
			Archive string `json:"archive"`
			backup.FillReport
		}{store.Dir(), r}), err)
	}
	for _, d := range r.Damaged {
		fmt.Fprintln(a.Out, a.Style().Red("damaged: "+terminal.OneLine(d.Reason)))
	}
	if !a.Quiet {
		a.Line("%s (%s) restored to %s and indexed", terminal.Plural(r.Copied+r.Present, "pack", "packs"), terminal.Bytes(r.Bytes), a.DisplayPath(store.Dir()))
	}
	return err
}

// fill copies the packs of a snapshot into an archive, which must have no others.
func (a *app) fill(ctx context.Context, b *backup.Backup, s *backup.Snapshot, to string) (r backup.FillReport, err error) {
	store, err := archive.Open(ctx, to, archive.Write, a.options())
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for info, err := range store.Packs().List(ctx) {
		if err != nil {
			return r, err
		}
		if !slices.Contains(s.Packs, backup.Pack(info)) {
			return r, failure.Refused(to+" is an archive with other packs", "name a directory that is missing or empty")
		}
	}
	m := a.meter()
	r, err = b.Fill(ctx, *s, store.Packs(), m.ByteFunc("restore"))
	m.Stop()
	return r, err
}

// completeSnapshots completes ids of the backups in a directory.
func (a *app) completeSnapshots(_ *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) == 0 {
		return nil, noFiles
	}
	b, err := backup.Open(v[0], a.backupOptions())
	if err != nil {
		return nil, noFiles
	}
	all, err := b.Snapshots()
	if err != nil {
		return nil, noFiles
	}
	return distinct(all, func(s backup.Snapshot) string { return s.ID }, typed, nil), noFiles
}
