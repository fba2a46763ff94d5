package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
)

// List yields all packs in name order, one directory at a time. It leaves out packs that are removed meanwhile, and files
// that are no packs: unfinished uploads, leftovers, foreign files.
func (s *Store) List(ctx context.Context) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		s.list(ctx, "", yield)
	}
}

// list yields the packs of the directory that prefix names ("" or "2026/11/"), and reports whether to continue.
func (s *Store) list(ctx context.Context, prefix string, yield func(blob.Info, error) bool) bool {
	dir := filepath.Join(s.dir, filepath.FromSlash(prefix))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		yield(blob.Info{}, fmt.Errorf("list packs: %w", err))
		return false
	}
	for _, key := range keys(entries, prefix) {
		if strings.HasSuffix(key, "/") {
			if !s.list(ctx, key, yield) {
				return false
			}
			continue
		}
		info, err := os.Lstat(filepath.Join(s.dir, filepath.FromSlash(key)) + Ext)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			yield(blob.Info{}, fmt.Errorf("list packs: %w", err))
			return false
		}
		if !yield(blob.Info{Name: key, Size: info.Size()}, nil) {
			return false
		}
	}
	return true
}

// keys returns the packs and directories among entries in the order of pack names: a directory is sorted by its name
// with a slash, which the names of all packs in it contain, and a pack by its name without extension.
func keys(entries []os.DirEntry, prefix string) []string {
	var keys []string
	for _, entry := range entries {
		key := prefix + entry.Name()
		pack, isPack := strings.CutSuffix(key, Ext)
		switch {
		case entry.IsDir() && blob.ValidName(key):
			keys = append(keys, key+"/")
		case entry.Type().IsRegular() && isPack && blob.ValidName(pack):
			keys = append(keys, pack)
		}
	}
	slices.Sort(keys)
	return keys
}
