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

// ErrNotEmpty says that a directory holds something else and will not become an archive.
var ErrNotEmpty = errors.New("no empty directory")

// Create makes a directory that is missing or empty an archive. Of one that is an archive it changes nothing.
// Errors: ErrNotEmpty, ErrLocked when another is just creating it.
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
			err = firstOpen(ctx, dir, opts)
		}
	}
	if err != nil {
		return fmt.Errorf("create archive %s: %w", dir, err)
	}
	return nil
}

// firstOpen gives a new archive its empty index, so that it can be read at once.
func firstOpen(ctx context.Context, dir string, opts Options) error {
	a, err := Open(ctx, dir, Write, opts)
	if errors.Is(err, ErrLocked) {
		return nil // somebody is at it
	}
	if err != nil {
		return err
	}
	return a.Close()
}

func create(dir string, opts Options) error {
	if err := empty(dir); err != nil {
		return err
	}
	if err := opts.FS.MkdirAll(dir); err != nil {
		return err
	}
	// A directory that was there may be open to others.
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	lock, err := takeLock(dir, opts)
	if err != nil {
		return err
	}
	err = writeReadme(dir, opts.FS)
	if err == nil {
		// Last, because this is what makes it an archive.
		err = opts.FS.MkdirAll(filepath.Join(dir, packsDir))
	}
	return errors.Join(err, lock.Release())
}

// empty says whether a directory is missing, or has nothing in it but what a Create that died has left.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, statErr := os.Stat(dir); err != nil && statErr == nil && !info.IsDir() {
		return fmt.Errorf("it is a file: %w", ErrNotEmpty)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != readmeFile && !strings.HasPrefix(e.Name(), disk.TempPrefix) {
			return fmt.Errorf("it has %q: %w", e.Name(), ErrNotEmpty)
		}
	}
	return nil
}

// writeReadme writes README.txt where it lacks.
func writeReadme(dir string, fsys *disk.FS) error {
	path := filepath.Join(dir, readmeFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.WriteFile(path, []byte(pack.Readme))
}

// removeTemporary removes what a write that died has left beside the index.
func (a *Archive) removeTemporary() error {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), disk.TempPrefix) || e.IsDir() {
			continue
		}
		// Who holds no lock may have been writing it, and have given it its name meanwhile.
		if err := a.opts.FS.Remove(filepath.Join(a.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
