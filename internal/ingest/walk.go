package ingest

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
)

// errOwnArchive is the problem of a root that is the archive or lies in it.
var errOwnArchive = errors.New("it is in the archive, which does not store itself")

// walk lists the tree. It follows no symbolic link, so it neither loops nor leaves the root; reportLinks reports what that hides. Anything
// else that is neither a file nor a directory is a problem of the scan.
func (s *scan) walk(ctx context.Context) error {
	start := filepath.Join(s.root.Dir, filepath.FromSlash(s.root.Below))
	info, err := os.Lstat(start)
	if err != nil {
		return err
	}
	own := false
	if s.g.ArchiveDir != "" {
		if own, err = disk.IsInside(start, s.g.ArchiveDir); err != nil {
			return err
		}
	}
	if own {
		s.problem(s.root.Below, "scan", errOwnArchive)
		return s.waitLoaded()
	}
	if info.Mode().IsRegular() {
		if err := s.waitLoaded(); err != nil {
			return err
		}
		s.visit(s.root.Below, sourcefs.InfoOf(info))
		return nil
	}
	var excluded atomic.Int64
	exclude, archiveDir := source.Patterns(s.root.Exclude), s.archivePath()
	found := foundFiles{scan: s}
	w := sourcefs.Walker{
		Root: s.root.Dir,
		Skip: func(name string, isDir bool) bool {
			if exclude.MatchOne(name, isDir) != "" {
				excluded.Add(1)
				return true
			}
			return isDir && name == archiveDir
		},
		Files:   found.add,
		Problem: func(dir string, err error) { s.problem(dir, "scan", err) },
	}
	w.Walk(ctx, path.Clean(s.root.Below))
	s.report.Excluded += excluded.Load()
	if err := s.waitLoaded(); err != nil {
		return err
	}
	found.give()
	return ctx.Err()
}

// foundFiles are files that the walk has found and the scan does not have yet: it takes them once its data from the index is loaded.
type foundFiles struct {
	scan    *scan
	pending []sourcefs.Found
}

// maxPendingFiles is how many files are listed before the scan's data from the index is loaded: a pending file takes more memory than one in a listing.
const maxPendingFiles = 1 << 16

// add takes files, and gives all that are pending to the scan if its data is loaded; it waits for that if too many are pending.
func (w *foundFiles) add(files []sourcefs.Found) {
	w.pending = append(w.pending, files...)
	if w.scan.loaded != nil && len(w.pending) < maxPendingFiles {
		select {
		case <-w.scan.loaded:
		default:
			return
		}
	}
	w.give()
}

// give gives the pending files to the scan once its data is loaded.
func (w *foundFiles) give() {
	failed := w.scan.waitLoaded() != nil // then there is nothing to compare with; walk returns the error
	for _, f := range w.pending {
		switch {
		case failed:
		case f.Err != nil:
			w.scan.problem(f.Name, "scan", f.Err)
		default:
			w.scan.visit(f.Name, f.Info)
		}
	}
	clear(w.pending)
	w.pending = w.pending[:0]
}

// archivePath returns the path of the archive's directory below the root, "" if it lies elsewhere.
func (s *scan) archivePath() string {
	dir, err := filepath.Abs(s.g.ArchiveDir)
	if s.g.ArchiveDir == "" || err != nil {
		return ""
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return ""
	}
	rel, err := filepath.Rel(s.root.Dir, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}
