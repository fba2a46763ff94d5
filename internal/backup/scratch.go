package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/disk"
)

const scratchPrefix = disk.TempPrefix + "verify-"

// Scratch makes a directory that an archive can be opened in, with the packs of a snapshot, for proving that it gives
// everything back. They are further names of the same files where the disk allows that, so it takes no room; else
// copies in the system's temporary directory. remove takes it away again. It holds the lock of the backup meanwhile.
func (b *Backup) Scratch(ctx context.Context, s Snapshot) (dir string, remove func() error, err error) {
	lock, err := b.lock()
	if err != nil {
		return "", nil, err
	}
	var gone func() error
	if err = b.removeScratch(); err == nil {
		dir, gone, err = b.scratch(ctx, s)
	}
	if err != nil {
		return "", nil, errors.Join(err, lock.Release())
	}
	return dir, func() error { return errors.Join(gone(), lock.Release()) }, nil
}

func (b *Backup) scratch(ctx context.Context, s Snapshot) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp(b.dir, scratchPrefix+"*"); err == nil {
		remove = func() error { return os.RemoveAll(dir) }
		if err = b.link(ctx, s, dir); err == nil {
			return dir, remove, nil
		}
		if rerr := remove(); rerr != nil {
			return "", nil, errors.Join(err, rerr)
		}
	}
	if ctx.Err() != nil {
		return "", nil, ctx.Err()
	}
	if dir, remove, err = disk.Scratch("verify"); err != nil {
		return "", nil, err
	}
	if _, err := b.Fill(ctx, s, local.New(b.opts.FS, filepath.Join(dir, packsDir)), nil); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

func (b *Backup) link(ctx context.Context, s Snapshot, dir string) error {
	for _, p := range s.Packs {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(packsDir, filepath.FromSlash(p.Name)+local.Ext)
		if err := b.opts.FS.MkdirAll(filepath.Dir(filepath.Join(dir, name))); err != nil {
			return err
		}
		if err := os.Link(filepath.Join(b.dir, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return b.opts.FS.MkdirAll(filepath.Join(dir, packsDir))
}

// removeScratch removes what a verify that died has left. It needs the lock.
func (b *Backup) removeScratch() error {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), scratchPrefix) {
			if err := os.RemoveAll(filepath.Join(b.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
