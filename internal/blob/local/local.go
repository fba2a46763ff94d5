// Package local keeps packs as files of a directory: "2026/11/<name>" is 2026/11/<name>.tar.gz below it.
//
// It promises what blob.Store does: a pack is there whole or not at all, durable once Commit returned, and never
// overwritten. It knows nothing of what is inside a pack, and takes no lock: who may write is the caller's matter.
package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
)

// Ext is the extension of pack files; names in the Store go without it.
const Ext = ".tar.gz"

// Store is a directory of packs.
type Store struct {
	fs  *disk.FS
	dir string
}

var _ blob.Store = (*Store)(nil)

// New returns the store in dir, which the first Create makes where it lacks. A nil fsys is the plain one.
func New(fsys *disk.FS, dir string) *Store {
	if fsys == nil {
		fsys = &disk.FS{}
	}
	return &Store{fs: fsys, dir: dir}
}

func (s *Store) path(name string) (string, error) {
	if !blob.ValidName(name) {
		return "", fmt.Errorf("%q is no name of a pack", name)
	}
	return filepath.Join(s.dir, filepath.FromSlash(name)) + Ext, nil
}

// Create begins a pack in a temporary file beside the packs.
func (s *Store) Create(ctx context.Context) (blob.Upload, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.fs.MkdirAll(s.dir); err != nil {
		return nil, fmt.Errorf("create pack: %w", err)
	}
	file, err := s.fs.CreateTemp(s.dir, disk.TempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("create pack: %w", err)
	}
	return &upload{store: s, file: file}, nil
}

// Open opens a pack for reading.
func (s *Store) Open(ctx context.Context, name string) (blob.Pack, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := s.path(name)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w: %w", err, blob.ErrNotFound)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open pack %s: %w", name, notFound(err))
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open pack %s: %w", name, err), file.Close())
	}
	return &openPack{File: file, size: info.Size()}, nil
}

type openPack struct {
	*os.File
	size int64
}

func (p *openPack) Size() int64 { return p.size }

// Remove deletes a pack. Its directory stays, another pack may just be moving in.
func (s *Store) Remove(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path, err := s.path(name)
	if err != nil {
		return fmt.Errorf("remove pack: %w: %w", err, blob.ErrNotFound)
	}
	if err := s.fs.Remove(path); err != nil {
		return fmt.Errorf("remove pack %s: %w", name, notFound(err))
	}
	if err := s.fs.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("remove pack %s: %w", name, err)
	}
	return nil
}

// RemoveLeftovers deletes what writers that died have left of their uploads, and says how many there were. Only
// who holds the archive's lock may call it: it cannot tell a leftover from an upload under way.
func (s *Store) RemoveLeftovers(ctx context.Context) (int, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("remove leftovers: %w", err)
	}
	n := 0
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), disk.TempPrefix) || !entry.Type().IsRegular() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if err := s.fs.Remove(filepath.Join(s.dir, entry.Name())); err != nil {
			return n, fmt.Errorf("remove leftovers: %w", err)
		}
		n++
	}
	return n, nil
}

// notFound turns the system's error into the contract's.
func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", blob.ErrNotFound, err)
	}
	return err
}
