package ingest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"path"
	"strings"
	"sync"
)

// file is a regular file that a scan met.
type file struct {
	path  string // below the source's root, with slashes
	size  int64
	mtime int64 // nanoseconds
}

// entry is what a listing keeps of a file.
type entry struct {
	size, mtime int64
	inode       uint64
	dir         uint32
	name        uint32 // where it begins
	stance      uint32 // once its format was asked
	known       bool   // metadata as last time
	alone       bool   // and left alone then
	named       byte   // of an outlook: what the path alone says, see byPath
}

// listing is all files that a scan met. There may be millions, of which each takes forty bytes and its name; a directory
// is kept once. Files are called by their numbers.
type listing struct {
	pieces []listed
	dirs   []string
	count  uint32
}

// listed is some entries and their names, each of which stands behind its length in two bytes. Pieces are never copied to grow.
type listed struct {
	entries []entry
	names   []byte
}

const listPiece = 1 << 12 // entries

// add takes in a file; what it returns is to be filled.
func (l *listing) add(p string) *entry {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if n := len(l.dirs); n == 0 || l.dirs[n-1] != dir {
		l.dirs = append(l.dirs, strings.Clone(dir))
	}
	if l.count%listPiece == 0 {
		l.pieces = append(l.pieces, listed{entries: make([]entry, 0, listPiece)})
	}
	piece := &l.pieces[len(l.pieces)-1]
	piece.entries = append(piece.entries, entry{dir: uint32(len(l.dirs) - 1), name: uint32(len(piece.names))})
	piece.names = append(binary.LittleEndian.AppendUint16(piece.names, uint16(len(name))), name...)
	l.count++
	return &piece.entries[len(piece.entries)-1]
}

func (l *listing) at(i uint32) *entry { return &l.pieces[i/listPiece].entries[i%listPiece] }

func (l *listing) name(i uint32) []byte {
	rest := l.pieces[i/listPiece].names[l.at(i).name:]
	return rest[2:][:binary.LittleEndian.Uint16(rest)]
}

func (l *listing) path(i uint32) string { return joined(l.dirs[l.at(i).dir], l.name(i)) }

// joined is the path of a file in a directory, "" for the root of the source.
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

// all yields the numbers of all files, in the order in which they were met.
func (l *listing) all(yield func(uint32, *entry) bool) {
	for i := range l.count {
		if !yield(i, l.at(i)) {
			return
		}
	}
}

// compare sorts files by their times, and then by their paths.
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

// queue is the files that are to be read, in order. It forgets those that were taken: a long scan holds less and less.
// Of each it has: size, time since the one before, directory, stance, length of the name, all as varints, and the name.
type queue struct {
	mu      sync.Mutex
	pieces  [][]byte
	dirs    []string
	stances *stances
	count   int64
	bytes   int64 // of all files
	last    int64 // time of the one that was put in, or taken out, last
}

// queue makes what is to be read of a listing.
func (l *listing) queue(files []uint32, stances *stances) *queue {
	q := &queue{dirs: l.dirs, stances: stances, count: int64(len(files))}
	for _, i := range files {
		q.put(l.at(i), l.name(i))
	}
	q.last = 0
	return q
}

func (q *queue) put(e *entry, name []byte) {
	const piece = 64 << 10
	n, need := len(q.pieces), 5*binary.MaxVarintLen64+len(name)
	if n == 0 || cap(q.pieces[n-1])-len(q.pieces[n-1]) < need {
		q.pieces = append(q.pieces, make([]byte, 0, max(piece, need)))
		n++
	}
	b := binary.AppendVarint(q.pieces[n-1], e.size)
	b = binary.AppendVarint(b, e.mtime-q.last)
	b = binary.AppendUvarint(b, uint64(e.dir))
	b = binary.AppendUvarint(b, uint64(e.stance))
	b = binary.AppendUvarint(b, uint64(len(name)))
	q.pieces[n-1] = append(b, name...)
	q.last, q.bytes = e.mtime, q.bytes+e.size
}

// take gives the next file, nil when all were taken. Several may ask at a time.
func (q *queue) take() *claimed {
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
	stance, n := binary.Uvarint(b)
	b = b[n:]
	long, n := binary.Uvarint(b)
	b = b[n:]
	q.last += since
	f := &file{path: joined(q.dirs[dir], b[:long]), size: size, mtime: q.last}
	q.pieces[0] = b[long:]
	return &claimed{f, q.stances.at(uint32(stance))}
}

// left yields all files that were not taken yet, and takes them.
func (q *queue) left(yield func(*claimed) bool) {
	for c := q.take(); c != nil && yield(c); c = q.take() {
	}
}
