package backup

import (
	"context"
	"errors"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// expire makes lists of snapshots that do not stay void, and removes the packs that only void lists name. A pack
// that no list names at all is none of ours and stays.
func (b *Backup) expire(ctx context.Context, keep Keep, now time.Time, report *Report) error {
	all, err := b.Snapshots()
	if err != nil {
		return err // what cannot be read may name packs that are needed
	}
	gone := keep.expired(all, now)
	for _, s := range gone {
		if err := b.opts.FS.Rename(b.path(s.ID, counts), b.path(s.ID, void)); err != nil {
			return err
		}
		report.Expired++
	}
	if err := b.opts.FS.SyncDir(b.path("", "")); err != nil {
		return err
	}
	needed, n, err := b.needed()
	if err != nil {
		return err
	}
	report.Snapshots = n
	return b.sweep(ctx, needed, report)
}

func (b *Backup) needed() (map[string]bool, int64, error) {
	all, err := b.Snapshots()
	needed := map[string]bool{}
	for _, s := range all {
		for _, p := range s.Packs {
			needed[p.Name] = true
		}
	}
	return needed, int64(len(all)), err
}

// sweep removes what only void lists name, and then the lists.
func (b *Backup) sweep(ctx context.Context, needed map[string]bool, report *Report) error {
	lists, err := b.lists(void)
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
		if err := b.opts.FS.Remove(b.path(s.ID, void)); err != nil {
			return err
		}
	}
	return nil
}
