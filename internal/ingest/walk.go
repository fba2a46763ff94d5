package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/txarchive/txarchive/internal/disk"
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
		return nil
	}
	if info.Mode().IsRegular() {
		if err := s.waitLoaded(); err != nil {
			return err
		}
		s.visit(s.root.Below, sourcefs.InfoOf(info))
		return nil
	}
	w := walker{scan: s, todo: []string{path.Clean(s.root.Below)}, archiveDir: s.archivePath()}
	w.more.L = &w.mu
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { w.work(ctx) })
	}
	all.Wait()
	if err := s.waitLoaded(); err != nil {
		return err
	}
	w.give()
	return ctx.Err()
}

// walker reads directories on all cores. It stats every file, which is nearly all the work of a scan that finds nothing new.
type walker struct {
	scan       *scan
	mu         sync.Mutex // guards the fields below, and the scan's files and problems
	more       sync.Cond
	todo       []string      // directories, a stack
	busy       int           // directories being read
	archiveDir string        // see archivePath
	pending    []visitedFile // files not given to the scan yet, see deliver
}

// visitedFile is a file with its metadata, or the error of reading that.
type visitedFile struct {
	name string
	meta sourcefs.Info
	err  error
}

// maxPendingFiles is how many files are listed before the scan's data from the index is loaded: a pending file takes more memory than one in a listing.
const maxPendingFiles = 1 << 16

// deliver gives the pending files to the scan if the scan's data is loaded, or waits for that if too many are pending. It needs w.mu.
func (w *walker) deliver() {
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
func (w *walker) give() {
	failed := w.scan.waitLoaded() != nil // then there is nothing to compare with; walk returns the error
	for _, f := range w.pending {
		switch {
		case failed:
		case f.err != nil:
			w.scan.problem(f.name, "scan", f.err)
		default:
			w.scan.visit(f.name, f.meta)
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

// readDirBatch is how many entries are read of a directory at a time. A directory may have a million.
const readDirBatch = 1024

// work reads directories until none is left. All goroutines of the walk run it.
func (w *walker) work(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.todo) == 0 && w.busy > 0 {
			w.more.Wait()
		}
		if len(w.todo) == 0 || ctx.Err() != nil {
			return
		}
		last := len(w.todo) - 1
		dir := w.todo[last]
		w.todo = w.todo[:last]
		w.busy++
		w.mu.Unlock()
		below, err := w.readDir(dir)
		w.mu.Lock()
		w.busy--
		if err != nil {
			w.scan.problem(dir, "scan", err)
		}
		slices.Reverse(below)
		w.todo = append(w.todo, below...)
		if len(below) > 1 || len(w.todo) == 0 && w.busy == 0 || ctx.Err() != nil {
			w.more.Broadcast()
		}
	}
}

// readDir delivers the files of a directory and returns the directories in it. With an error it may have done part of both.
func (w *walker) readDir(rel string) (below []string, err error) {
	dir, err := sourcefs.OpenDir(filepath.Join(w.scan.root.Dir, filepath.FromSlash(rel)))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(readDirBatch) // in no particular order
		below = w.visitEntries(dir, rel, entries, below)
		if errors.Is(err, io.EOF) {
			return below, nil
		}
		if err != nil {
			return below, err
		}
	}
}

// visitEntries delivers the files among the entries of a directory, and appends the directories to below.
func (w *walker) visitEntries(dir *os.File, rel string, entries []fs.DirEntry, below []string) []string {
	files := make([]visitedFile, 0, len(entries))
	exclude, excluded := excludePatterns(w.scan.root.Exclude), int64(0)
	for _, e := range entries {
		name := e.Name()
		if rel != "." {
			name = rel + "/" + name
		}
		if exclude.matchOne(name, e.IsDir()) != "" {
			excluded++
			continue
		}
		if e.IsDir() {
			if name != w.archiveDir {
				below = append(below, name)
			}
			continue
		}
		info, err := sourcefs.Stat(dir, e)
		if !errors.Is(err, fs.ErrNotExist) { // else it was removed after it was listed: nothing to archive
			files = append(files, visitedFile{name, info, err})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scan.report.Excluded += excluded
	w.pending = append(w.pending, files...)
	w.deliver()
	return below
}
