package backup

import (
	"context"
	"errors"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// expire turns the lists of expired snapshots into void lists, and removes the packs that only void lists name. A pack
// that no list names was not put there by a backup, and stays.
func (b *Backup) expire(ctx context.Context, keep Keep, now time.Time, report *Report) error {
	all, err := b.Snapshots()
	if err != nil {
		return err // an unreadable list may name packs that are needed
	}
	gone := keep.expired(all, now)
	for _, s := range gone {
		if err := b.opts.FS.Rename(b.path(s.ID, snapshotSuffix), b.path(s.ID, voidSuffix)); err != nil {
			return err
		}
		report.Expired++
	}
	if err := b.opts.FS.SyncDir(b.path("", "")); err != nil {
		return err
	}
	needed, n, err := b.neededPacks()
	if err != nil {
		return err
	}
	report.Snapshots = n
	return b.sweep(ctx, needed, report)
}

func (b *Backup) neededPacks() (map[string]bool, int64, error) {
	all, err := b.Snapshots()
	needed := map[string]bool{}
	for _, s := range all {
		for _, p := range s.Packs {
			needed[p.Name] = true
		}
	}
	return needed, int64(len(all)), err
}

// sweep removes the packs that only void lists name, and then these lists.
func (b *Backup) sweep(ctx context.Context, needed map[string]bool, report *Report) error {
	lists, err := b.lists(voidSuffix)
	if err != nil {
		return err
	}
	swept := map[string]bool{}
	for _, s := range lists {
		for _, p := range s.Packs {
			if needed[p.Name] || swept[p.Name] {
				continue
			}
			swept[p.Name] = true
			err := b.packs.Remove(ctx, p.Name)
			if errors.Is(err, blob.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			report.Removed++
			report.RemovedBytes += p.Size
		}
	}
	for _, s := range lists {
		if err := b.opts.FS.Remove(b.path(s.ID, voidSuffix)); err != nil {
			return err
		}
	}
	return nil
}
