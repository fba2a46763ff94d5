// Package local keeps packs as files of a directory: "2026/11/<name>" is 2026/11/<name>.tar.gz below it.
//
// It keeps the promises of blob.Store: a pack is there whole or not at all, durable once Commit has returned, and never
// overwritten. It does not know what is inside a pack, and takes no lock: the caller decides who may write.
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

// New returns the store in dir. The first Create makes dir if it does not exist. A nil fsys is the real file system.
func New(fsys *disk.FS, dir string) *Store {
	if fsys == nil {
		fsys = &disk.FS{}
	}
	return &Store{fs: fsys, dir: dir}
}

func (s *Store) path(name string) (string, error) {
	if !blob.ValidName(name) {
		return "", fmt.Errorf("%q is not the name of a pack", name)
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
	file, err := s.fs.CreateTemp(s.dir)
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

// Remove deletes a pack. Its directory stays, because another pack may be moving in at the same time.
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

// RemoveLeftovers deletes the temporary files of uploads whose writers died, and returns how many there were. The caller
// must hold the archive's lock, because a leftover cannot be told from an upload in progress.
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

// notFound wraps a "does not exist" error of the file system in blob.ErrNotFound.
func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", blob.ErrNotFound, err)
	}
	return err
}
