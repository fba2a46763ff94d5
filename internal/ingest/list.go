package ingest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"path"
	"strings"
	"sync"
)

// file is a regular file of a source.
type file struct {
	path  string // below the source's root, with slashes
	size  int64
	mtime int64 // nanoseconds
}

// entry is a file in a listing.
type entry struct {
	size, mtime int64
	inode       uint64
	dir         uint32
	name        uint32 // offset in the names of its piece
	class       uint32 // in the classTable, once detect has run
	known       bool   // its metadata is unchanged since the last scan
	ignored     bool   // and the last scan ignored it
	pathFormat  byte   // set by surveyFiles: see classifyByPath
}

// listing is all files that a scan found, numbered in that order. There may be millions: a file takes forty bytes and its name, and
// a directory is stored once.
type listing struct {
	pieces []listingPiece
	dirs   []string
	count  uint32
}

// listingPiece is a number of entries and their names, each prefixed with its length in two bytes. A full piece is followed by another and never copied.
type listingPiece struct {
	entries []entry
	names   []byte
}

const entriesPerPiece = 1 << 12 // entries

// add appends a file and returns its entry for the caller to fill.
func (l *listing) add(p string) *entry {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if n := len(l.dirs); n == 0 || l.dirs[n-1] != dir {
		l.dirs = append(l.dirs, strings.Clone(dir))
	}
	if l.count%entriesPerPiece == 0 {
		l.pieces = append(l.pieces, listingPiece{entries: make([]entry, 0, entriesPerPiece)})
	}
	piece := &l.pieces[len(l.pieces)-1]
	piece.entries = append(piece.entries, entry{dir: uint32(len(l.dirs) - 1), name: uint32(len(piece.names))})
	piece.names = append(binary.LittleEndian.AppendUint16(piece.names, uint16(len(name))), name...)
	l.count++
	return &piece.entries[len(piece.entries)-1]
}

func (l *listing) at(i uint32) *entry { return &l.pieces[i/entriesPerPiece].entries[i%entriesPerPiece] }

func (l *listing) name(i uint32) []byte {
	rest := l.pieces[i/entriesPerPiece].names[l.at(i).name:]
	return rest[2:][:binary.LittleEndian.Uint16(rest)]
}

func (l *listing) path(i uint32) string { return joined(l.dirs[l.at(i).dir], l.name(i)) }

// joined returns the path of a file in a directory; dir is "" for the root of the source.
func joined(dir string, name []byte) string {
	if dir == "" {
		return string(name)
	}
	return dir + "/" + string(name)
}

func (l *listing) file(i uint32) *file {
	e := l.at(i)
	return &file{path: l.path(i), size: e.size, mtime: e.mtime}
}

// all yields all files with their numbers.
func (l *listing) all(yield func(uint32, *entry) bool) {
	for i := range l.count {
		if !yield(i, l.at(i)) {
			return
		}
	}
}

// compare orders files by modification time, then by path.
func (l *listing) compare(i, j uint32) int {
	a, b := l.at(i), l.at(j)
	switch {
	case a.mtime != b.mtime:
		return cmp.Compare(a.mtime, b.mtime)
	case a.dir == b.dir:
		return bytes.Compare(l.name(i), l.name(j))
	}
	return cmp.Compare(l.path(i), l.path(j))
}

// queue is the files to read, in order. It releases the memory of those that were popped, so a long scan holds less and less.
// A file is encoded as varints (size, time since the previous file, directory, class, length of the name) and its name.
type queue struct {
	mu      sync.Mutex
	pieces  [][]byte
	dirs    []string
	classes *classTable
	count   int64
	bytes   int64 // of all files
	last    int64 // modification time of the file that was pushed, or popped, last
}

// queue returns a queue of the given files of a listing.
func (l *listing) queue(files []uint32, classes *classTable) *queue {
	q := &queue{dirs: l.dirs, classes: classes, count: int64(len(files))}
	for _, i := range files {
		q.push(l.at(i), l.name(i))
	}
	q.last = 0
	return q
}

func (q *queue) push(e *entry, name []byte) {
	const piece = 64 << 10
	n, need := len(q.pieces), 5*binary.MaxVarintLen64+len(name)
	if n == 0 || cap(q.pieces[n-1])-len(q.pieces[n-1]) < need {
		q.pieces = append(q.pieces, make([]byte, 0, max(piece, need)))
		n++
	}
	b := binary.AppendVarint(q.pieces[n-1], e.size)
	b = binary.AppendVarint(b, e.mtime-q.last)
	b = binary.AppendUvarint(b, uint64(e.dir))
	b = binary.AppendUvarint(b, uint64(e.class))
	b = binary.AppendUvarint(b, uint64(len(name)))
	q.pieces[n-1] = append(b, name...)
	q.last, q.bytes = e.mtime, q.bytes+e.size
}

// pop removes and returns the next file, nil at the end. It may be called from several goroutines.
func (q *queue) pop() *claimed {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pieces) > 0 && len(q.pieces[0]) == 0 {
		q.pieces[0], q.pieces = nil, q.pieces[1:]
	}
	if len(q.pieces) == 0 {
		return nil
	}
	b := q.pieces[0]
	size, n := binary.Varint(b)
	b = b[n:]
	since, n := binary.Varint(b)
	b = b[n:]
	dir, n := binary.Uvarint(b)
	b = b[n:]
	class, n := binary.Uvarint(b)
	b = b[n:]
	nameLen, n := binary.Uvarint(b)
	b = b[n:]
	q.last += since
	f := &file{path: joined(q.dirs[dir], b[:nameLen]), size: size, mtime: q.last}
	q.pieces[0] = b[nameLen:]
	return &claimed{f, q.classes.get(uint32(class))}
}

// drain pops and yields the remaining files.
func (q *queue) drain(yield func(*claimed) bool) {
	for c := q.pop(); c != nil && yield(c); c = q.pop() {
	}
}
