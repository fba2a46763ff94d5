// Package listing holds the files that a scan finds, of which there may be millions, in little memory: as a list, and as a queue of those to
// read.
package listing

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"path"
	"strings"
	"sync"
)

// Entry is a file in a List.
type Entry struct {
	Size, ModTime int64 // bytes, and nanoseconds since 1970
	Inode         uint64
	dir           uint32
	name          uint32 // offset in the names of its piece
	Class         uint32 // the caller's number for files that are alike in what matters
	Known         bool   // its metadata is unchanged since the last scan
	Ignored       bool   // and the last scan ignored it
	PathFormat    byte   // the caller's
}

// List is all files that a scan found, numbered in that order. There may be millions: a file takes forty bytes and its name, and
// a directory is stored once.
type List struct {
	pieces []piece
	dirs   []string
	count  uint32
}

// Count returns the number of files.
func (l *List) Count() int { return int(l.count) }

// piece is a number of entries and their names, each prefixed with its length in two bytes. A full piece is followed by another and never copied.
type piece struct {
	entries []Entry
	names   []byte
}

const entriesPerPiece = 1 << 12 // entries

// Add appends a file and returns its entry for the caller to fill.
func (l *List) Add(p string) *Entry {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if n := len(l.dirs); n == 0 || l.dirs[n-1] != dir {
		l.dirs = append(l.dirs, strings.Clone(dir))
	}
	if l.count%entriesPerPiece == 0 {
		l.pieces = append(l.pieces, piece{entries: make([]Entry, 0, entriesPerPiece)})
	}
	piece := &l.pieces[len(l.pieces)-1]
	piece.entries = append(piece.entries, Entry{dir: uint32(len(l.dirs) - 1), name: uint32(len(piece.names))})
	piece.names = append(binary.LittleEndian.AppendUint16(piece.names, uint16(len(name))), name...)
	l.count++
	return &piece.entries[len(piece.entries)-1]
}

// At returns a file by its number.
func (l *List) At(i uint32) *Entry { return &l.pieces[i/entriesPerPiece].entries[i%entriesPerPiece] }

// Name returns the name of a file. It must not be changed.
func (l *List) Name(i uint32) []byte {
	rest := l.pieces[i/entriesPerPiece].names[l.At(i).name:]
	return rest[2:][:binary.LittleEndian.Uint16(rest)]
}

// Path returns the path of a file, below the source's root, with slashes.
func (l *List) Path(i uint32) string { return joined(l.dirs[l.At(i).dir], l.Name(i)) }

// joined returns the path of a file in a directory; dir is "" for the root of the source.
func joined(dir string, name []byte) string {
	if dir == "" {
		return string(name)
	}
	return dir + "/" + string(name)
}

// All yields all files with their numbers.
func (l *List) All(yield func(uint32, *Entry) bool) {
	for i := range l.count {
		if !yield(i, l.At(i)) {
			return
		}
	}
}

// Compare orders files by modification time, then by path.
func (l *List) Compare(i, j uint32) int {
	a, b := l.At(i), l.At(j)
	switch {
	case a.ModTime != b.ModTime:
		return cmp.Compare(a.ModTime, b.ModTime)
	case a.dir == b.dir:
		return bytes.Compare(l.Name(i), l.Name(j))
	}
	return cmp.Compare(l.Path(i), l.Path(j))
}

// File is a file from a Queue.
type File struct {
	Path          string
	Size, ModTime int64 // bytes, and nanoseconds since 1970
	Class         uint32
}

// Queue is the files to read, in order. It releases the memory of those that were popped, so a long scan holds less and less.
// A file is encoded as varints (size, time since the previous file, directory, class, length of the name) and its name.
type Queue struct {
	Count int64 // of all files, popped or not
	Bytes int64 // likewise

	mu     sync.Mutex
	pieces [][]byte
	dirs   []string
	last   int64 // modification time of the file that was pushed, or popped, last
}

// Queue returns a queue of the given files.
func (l *List) Queue(files []uint32) *Queue {
	q := &Queue{dirs: l.dirs, Count: int64(len(files))}
	for _, i := range files {
		q.push(l.At(i), l.Name(i))
	}
	q.last = 0
	return q
}

func (q *Queue) push(e *Entry, name []byte) {
	const piece = 64 << 10
	n, need := len(q.pieces), 5*binary.MaxVarintLen64+len(name)
	if n == 0 || cap(q.pieces[n-1])-len(q.pieces[n-1]) < need {
		q.pieces = append(q.pieces, make([]byte, 0, max(piece, need)))
		n++
	}
	b := binary.AppendVarint(q.pieces[n-1], e.Size)
	b = binary.AppendVarint(b, e.ModTime-q.last)
	b = binary.AppendUvarint(b, uint64(e.dir))
	b = binary.AppendUvarint(b, uint64(e.Class))
	b = binary.AppendUvarint(b, uint64(len(name)))
	q.pieces[n-1] = append(b, name...)
	q.last, q.Bytes = e.ModTime, q.Bytes+e.Size
}

// Pop removes and returns the next file, false at the end. It may be called from several goroutines.
func (q *Queue) Pop() (File, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pieces) > 0 && len(q.pieces[0]) == 0 {
		q.pieces[0], q.pieces = nil, q.pieces[1:]
	}
	if len(q.pieces) == 0 {
		return File{}, false
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
	f := File{Path: joined(q.dirs[dir], b[:nameLen]), Size: size, ModTime: q.last, Class: uint32(class)}
	q.pieces[0] = b[nameLen:]
	return f, true
}

// Drain pops and yields the remaining files.
func (q *Queue) Drain(yield func(File) bool) {
	for f, ok := q.Pop(); ok && yield(f); f, ok = q.Pop() {
	}
}
