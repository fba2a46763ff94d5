package sourcefs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Found is a file with its metadata, or the error of reading that.
type Found struct {
	Name string // below the root, with slashes
	Info Info
	Err  error
}

// Walker lists a tree on all cores. It stats every file, which is nearly all the work of a scan that finds nothing new. It follows no symbolic
// link, so it neither loops nor leaves the root.
type Walker struct {
	Root    string                             // a directory
	Skip    func(name string, isDir bool) bool // leaves out a file, or a directory with all that is in it. Several goroutines call it at once
	Files   func([]Found)                      // takes files, in no particular order. It and Problem are called by one goroutine at a time
	Problem func(dir string, err error)        // says that a directory could not be read, or only in part

	mu   sync.Mutex // guards the fields below
	more sync.Cond
	todo []string // directories, a stack
	busy int      // directories being read
}

// Walk lists what is below a directory; "." is the root.
func (w *Walker) Walk(ctx context.Context, from string) {
	w.more.L = &w.mu
	w.todo = []string{from}
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { w.work(ctx) })
	}
	all.Wait()
}

// work reads directories until none is left. All goroutines of the walk run it.
func (w *Walker) work(ctx context.Context) {
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
			w.Problem(dir, err)
		}
		slices.Reverse(below)
		w.todo = append(w.todo, below...)
		if len(below) > 1 || len(w.todo) == 0 && w.busy == 0 || ctx.Err() != nil {
			w.more.Broadcast()
		}
	}
}

// readDirBatch is how many entries are read of a directory at a time. A directory may have a million.
const readDirBatch = 1024

// readDir gives the files of a directory to Files and returns the directories in it. With an error it may have done part of both.
func (w *Walker) readDir(rel string) (below []string, err error) {
	dir, err := OpenDir(filepath.Join(w.Root, filepath.FromSlash(rel)))
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

// visitEntries gives the files among the entries of a directory to Files, and appends the directories to below.
func (w *Walker) visitEntries(dir *os.File, rel string, entries []fs.DirEntry, below []string) []string {
	files := make([]Found, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if rel != "." {
			name = rel + "/" + name
		}
		switch {
		case w.Skip(name, e.IsDir()):
		case e.IsDir():
			below = append(below, name)
		default:
			info, err := Stat(dir, e)
			if !errors.Is(err, fs.ErrNotExist) { // else it was removed after it was listed: nothing to archive
				files = append(files, Found{name, info, err})
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Files(files)
	return below
}
