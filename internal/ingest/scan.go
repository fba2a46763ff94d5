package ingest

import (
	"context"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/listing"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
)

// scan is a scan of one root of a source.
type scan struct {
	g                   *Ingester
	root                source.Root
	dir                 *os.Root
	sources             []source.Named // of the archive, and those scanned now
	statCache           *index.StatCache
	seen                []bool // which entries of statCache the walk found
	files               listing.List
	total               int64
	report              *Report
	classes             classTable
	skipped             []FileError // special files, and what could not be listed or read
	links               []string    // symbolic links
	ignored             []ignored   // files that belong to no format
	shared              *sharedState
	rowBudget           rowBudget
	documentBudget      documentBudget
	newSource           bool // the index has no version of a file of this source
	emptyIndex          bool // nor of any other
	tombstones          tombstones
	pendingRoots        []string // roots of formats of which no scan has covered everything since they were detected
	pendingRootsChanged bool     // pendingRoots has some that are not saved yet
	host                string   // given to runs that name none
	formatsChanged      bool     // formats differ from those of the last scan: detect ignored files again

	loaded  chan struct{} // closed when loadKnown has finished; nil when it is not called
	loadErr error         // of loadKnown, once loaded is closed
}

// loadInBackground starts loadKnown, which runs while the walk does.
func (s *scan) loadInBackground(ctx context.Context) {
	s.loaded = make(chan struct{})
	go func() {
		defer close(s.loaded)
		s.loadErr = s.loadKnown(ctx)
	}()
}

// waitLoaded waits for loadKnown and returns its error.
func (s *scan) waitLoaded() error {
	if s.loaded != nil {
		<-s.loaded
	}
	return s.loadErr
}

// pathHash is the key of a file in the scan cache.
func pathHash(p string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()
}

// visit takes in a file that the walk has found, and marks it as known if its metadata is what the last scan recorded.
func (s *scan) visit(rel string, info sourcefs.Info) {
	if !info.Type.IsRegular() {
		s.visitSpecial(rel, info.Type)
		return
	}
	s.total++
	f := s.files.Add(rel)
	f.Size, f.ModTime, f.Inode = info.Size, info.ModTime, info.Inode
	last, at, ok := s.statCache.Find(pathHash(rel))
	if ok {
		s.seen[at] = true
	}
	if ok && !(last.Ignored && s.formatsChanged) && last.Size == f.Size && last.ModTime == f.ModTime && last.Inode == f.Inode {
		f.Known, f.Ignored = !s.g.Pruned || last.Ignored, last.Ignored
	}
	if s.total%1000 == 0 {
		s.g.progress(Progress{Stage: "scan", Path: rel, TotalFiles: s.total})
	}
}

// visitSpecial takes in what is not a regular file: a link, or something that is not read.
func (s *scan) visitSpecial(rel string, mode fs.FileMode) {
	reason := "not a regular file"
	switch mode.Type() {
	case fs.ModeSymlink:
		s.links = append(s.links, rel)
		return
	case fs.ModeNamedPipe:
		reason = "named pipe: not read"
	case fs.ModeSocket:
		reason = "socket: not read"
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		reason = "device: not read"
	}
	s.skipped = append(s.skipped, FileError{Source: s.root.Source, Path: rel, Stage: "scan", Reason: reason})
}

// problem records that a file could not be listed, opened or read.
func (s *scan) problem(rel, stage string, err error) {
	s.skipped = append(s.skipped, fileError(s.root.Source, rel, stage, err))
}

// fileError describes an error of a file, without the path and the name of the system call that an fs.PathError repeats.
func fileError(source, rel, stage string, err error) FileError {
	reason := err.Error()
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		reason = pe.Err.Error()
	}
	return FileError{Source: source, Path: rel, Stage: stage, Reason: reason, Err: err}
}

// deepestRoot returns the innermost of the sorted roots that a path lies below, "" for none.
func deepestRoot(p string, roots []string) string {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if _, ok := slices.BinarySearch(roots, dir); ok {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}
