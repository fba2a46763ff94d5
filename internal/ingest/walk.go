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
)

// walk lists the tree. It follows no link, so no loop and nothing outside of the root is met (judgeLinks says what that hides); what else
// is neither a file nor a directory is a problem of the scan.
func (s *scan) walk(ctx context.Context) error {
	start := filepath.Join(s.root.Dir, filepath.FromSlash(s.root.Below))
	info, err := os.Lstat(start)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		if err := s.wait(); err != nil {
			return err
		}
		s.meet(s.root.Below, metadataOf(info))
		return nil
	}
	w := walker{scan: s, todo: []string{path.Clean(s.root.Below)}, own: s.own()}
	w.more.L = &w.mu
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { w.work(ctx) })
	}
	all.Wait()
	if err := s.wait(); err != nil {
		return err
	}
	w.meet()
	return ctx.Err()
}

// walker reads directories on all cores: the system is asked for each file, and of a scan without news that is nearly all.
type walker struct {
	scan *scan
	mu   sync.Mutex // for all below, and for what the scan has met
	more sync.Cond
	todo []string // directories, the next one last
	busy int      // how many are being read
	own  string   // the archive's directory, "" where that lies elsewhere
	met  []seen   // before the index has told what it knows
}

// seen is a file that was looked at.
type seen struct {
	name string
	is   metadata
	err  error
}

// mostEarly is how many files are looked at before the index has told what it knows: they take more memory than those that the scan has met.
const mostEarly = 1 << 16

// meet has the scan meet what was looked at, as soon as the index has told what it knows.
func (w *walker) meet() {
	if w.scan.prepared != nil && len(w.met) < mostEarly {
		select {
		case <-w.scan.prepared:
		default:
			return
		}
	}
	failed := w.scan.wait() != nil // then there is nothing to compare with, and the scan ends
	for _, f := range w.met {
		switch {
		case failed:
		case f.err != nil:
			w.scan.problem(f.name, "scan", f.err)
		default:
			w.scan.meet(f.name, f.is)
		}
	}
	clear(w.met)
	w.met = w.met[:0]
}

// own is the path of the archive's directory below the root, "" when it lies elsewhere.
func (s *scan) own() string {
	dir, err := filepath.Abs(s.g.Own)
	if s.g.Own == "" || err != nil {
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

// walkPiece is how many files of a directory are looked at before the scan meets them. A directory may have a million.
const walkPiece = 1024

// work reads directories until none is left.
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
		below, err := w.read(dir)
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

// read meets the files of a directory, and returns the directories in it. An error may come after some of both.
func (w *walker) read(rel string) (below []string, err error) {
	dir, err := openDir(filepath.Join(w.scan.root.Dir, filepath.FromSlash(rel)))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(walkPiece) // in no particular order
		below = w.look(dir, rel, entries, below)
		if errors.Is(err, io.EOF) {
			return below, nil
		}
		if err != nil {
			return below, err
		}
	}
}

// look meets the files among entries of a directory, and adds the directories to others.
func (w *walker) look(dir *os.File, rel string, entries []fs.DirEntry, below []string) []string {
	files := make([]seen, 0, len(entries))
	exclude, excluded := excluding(w.scan.root.Exclude), int64(0)
	for _, e := range entries {
		name := e.Name()
		if rel != "." {
			name = rel + "/" + name
		}
		if exclude.matching(name, e.IsDir()) != "" {
			excluded++
			continue
		}
		if e.IsDir() {
			if name != w.own {
				below = append(below, name)
			}
			continue
		}
		is, err := lookAt(dir, e)
		if !errors.Is(err, fs.ErrNotExist) { // gone between listing and looking: nothing to archive
			files = append(files, seen{name, is, err})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scan.report.Excluded += excluded
	w.met = append(w.met, files...)
	w.meet()
	return below
}
