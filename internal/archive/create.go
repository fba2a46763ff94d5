package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/disk"
)

// ErrNotEmpty says that a directory is not made an archive because it holds something else.
var ErrNotEmpty = errors.New("directory is not empty")

// Create makes an archive of a directory that is missing or empty. It changes nothing if the directory is an archive already.
// Errors: ErrNotEmpty, and ErrLocked if another process is creating it.
func Create(ctx context.Context, dir string, opts Options) error {
	opts = opts.normal()
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = recognise(dir)
	}
	if errors.Is(err, ErrNoArchive) {
		err = create(dir, opts)
		if err == nil {
			err = createIndex(ctx, dir, opts)
		}
	}
	if err != nil {
		return fmt.Errorf("create archive %s: %w", dir, err)
	}
	return nil
}

// createIndex creates the empty index of a new archive, so that it can be read at once.
func createIndex(ctx context.Context, dir string, opts Options) error {
	a, err := Open(ctx, dir, Write, opts)
	if errors.Is(err, ErrLocked) {
		return nil // another process is creating it
	}
	if err != nil {
		return err
	}
	return a.Close()
}

func create(dir string, opts Options) error {
	if err := checkEmpty(dir); err != nil {
		return err
	}
	if err := opts.FS.MkdirAll(dir); err != nil {
		return err
	}
	// A directory that existed before may be accessible to others.
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	lock, err := takeLock(dir, opts)
	if err != nil {
		return err
	}
	err = writeReadme(dir, opts.FS)
	if err == nil {
		// Last, because packs/ makes the directory an archive.
		err = opts.FS.MkdirAll(filepath.Join(dir, packsDir))
	}
	return errors.Join(err, lock.Release())
}

// checkEmpty returns nil if a directory is missing, or contains nothing but what a Create that died has left.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, statErr := os.Stat(dir); err != nil && statErr == nil && !info.IsDir() {
		return fmt.Errorf("not a directory: %w", ErrNotEmpty)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != readmeFile && !strings.HasPrefix(e.Name(), disk.TempPrefix) {
			return fmt.Errorf("contains %q: %w", e.Name(), ErrNotEmpty)
		}
	}
	return nil
}

// writeReadme writes README.txt if it does not exist.
func writeReadme(dir string, fsys *disk.FS) error {
	path := filepath.Join(dir, readmeFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.WriteFile(path, []byte(pack.Readme))
}

// removeTemporary removes the temporary files that a write that died has left beside the index.
func (a *Archive) removeTemporary() error {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), disk.TempPrefix) || e.IsDir() {
			continue
		}
		// A process without the lock may have been writing the file, and have renamed it meanwhile.
		if err := a.opts.FS.Remove(filepath.Join(a.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
