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

// Scratch makes a directory with the packs of a snapshot that can be opened as an archive, to prove that everything can be
// restored from it. The packs are hard links if the file system has them, so they take no space; otherwise they are copies in
// the system's temporary directory. remove deletes the directory. The backup is locked until then.
func (b *Backup) Scratch(ctx context.Context, s Snapshot) (dir string, remove func() error, err error) {
	lock, err := b.lock()
	if err != nil {
		return "", nil, err
	}
	var removeDir func() error
	if err = b.removeScratch(); err == nil {
		dir, removeDir, err = b.scratch(ctx, s)
	}
	if err != nil {
		return "", nil, errors.Join(err, lock.Release())
	}
	return dir, func() error { return errors.Join(removeDir(), lock.Release()) }, nil
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

// removeScratch removes the scratch directories that a verify that died has left. The caller must hold the lock.
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
