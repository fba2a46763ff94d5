package ingest

import (
	"context"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// scan is one walk over a source.
type scan struct {
	g       *Ingester
	root    Root
	dir     *os.Root
	around  []Named // the sources of the archive, and what is scanned now
	before  *index.StatCache
	seen    []bool // of before
	files   listing
	total   int64
	report  *Report
	stances stances
	skipped []FileError // devices, what could not be listed
	links   []string    // symbolic ones
	ignored []ignored   // files that belong to nothing known
	keeper  *keeper
	load    load
	wholes  wholes
	first   bool // the index has no version of a file of this source
	empty   bool // nor of any other
	graves  tombstones
	learned []string        // roots below which not all files were looked at since they are known
	news    bool            // learned holds some that are not remembered yet
	host    string          // that runs are given which name none
	relearn bool            // the formats are not those of the last scan: look at what belonged to none
	other   map[uint64]bool // then, what was archived all the same, by the hashes of their paths

	prepared   chan struct{} // closed when the index has told what it knows of the source; nil when nobody asks it
	unprepared error         // that it could not, once prepared is closed
}

// begin asks the index beside the walk.
func (s *scan) begin(ctx context.Context) {
	s.prepared = make(chan struct{})
	go func() {
		defer close(s.prepared)
		s.unprepared = s.prepare(ctx)
	}()
}

// wait ends when the index has told what it knows.
func (s *scan) wait() error {
	if s.prepared != nil {
		<-s.prepared
	}
	return s.unprepared
}

// pathHash is the key of a file in the scan cache.
func pathHash(p string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()
}

// metadata is what a scan asks of a file before it opens any.
type metadata struct {
	mode        fs.FileMode // only the type of what is no regular file
	size, mtime int64
	inode       uint64
}

func metadataOf(info fs.FileInfo) metadata {
	return metadata{mode: info.Mode().Type(), size: info.Size(), mtime: blob.Nano(info.ModTime()), inode: inode(info)}
}

func (s *scan) meet(rel string, is metadata) {
	if !is.mode.IsRegular() {
		s.special(rel, is.mode)
		return
	}
	s.total++
	f := s.files.add(rel)
	f.size, f.mtime, f.inode = is.size, is.mtime, is.inode
	was, at, ok := s.before.Find(pathHash(rel))
	if ok {
		s.seen[at] = true
	}
	if ok && !(was.Ignored && s.relearn) && was.Size == f.size && was.ModTime == f.mtime && was.Inode == f.inode {
		f.known, f.alone = !s.g.Pruned || was.Ignored, was.Ignored
	}
	if s.total%1000 == 0 {
		s.g.progress(Progress{Stage: "scan", Path: rel, TotalFiles: s.total})
	}
}

func (s *scan) special(rel string, mode fs.FileMode) {
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

func (s *scan) problem(rel, stage string, err error) {
	s.skipped = append(s.skipped, fileError(s.root.Source, rel, stage, err))
}

// fileError says what is wrong with a file, without the paths and names of calls that the system's errors repeat.
func fileError(source, rel, stage string, err error) FileError {
	reason := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		reason = pe.Err.Error()
	}
	return FileError{Source: source, Path: rel, Stage: stage, Reason: reason, Err: err}
}

// within says whether a path lies below a root of a format ("." is the source itself).
func within(p, root string) bool {
	return root == "." || strings.HasPrefix(p, root) && len(p) > len(root) && p[len(root)] == '/'
}

// deepest returns the root that a path lies directly below, "" for none. roots are sorted.
func deepest(p string, roots []string) string {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if _, ok := slices.BinarySearch(roots, dir); ok {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}
