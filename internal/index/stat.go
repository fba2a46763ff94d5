package index

import (
	"cmp"
	"context"
	"slices"
)

// ScanMemory is what a machine keeps from one scan to the next. All of it may be lost at any time, with the index.
type ScanMemory interface {
	// Recall returns the value that Remember stored under a key, "" when there is none or it was lost.
	Recall(ctx context.Context, key string) (string, error)
	Remember(ctx context.Context, key, value string) error
	// Stats returns what the last scans saw of a source, by a hash of the path. SaveStats replaces entries and
	// deletes those in gone.
	Stats(ctx context.Context, source string) (*StatCache, error)
	SaveStats(ctx context.Context, source string, stats map[uint64]Stat, gone []uint64) error
}

// Stat is what a scan remembers of a file. ModTime is in nanoseconds; -1 means that the file must be read again
// whatever its stat.
type Stat struct {
	Size    int64
	ModTime int64
	Inode   uint64
	Ignored bool // belongs to no known root and was not archived
}

// StatCache has what the last scans saw of the files of a source, by the hashes of their paths. An entry takes forty
// bytes, for there may be millions. A nil StatCache is empty.
type StatCache struct{ entries []pathStat }

type pathStat struct {
	path uint64
	stat Stat
}

// NewStatCache returns an empty cache with capacity for n files.
func NewStatCache(n int) *StatCache { return &StatCache{make([]pathStat, 0, n)} }

// Add adds a file. Sort must be called after the last Add and before the first Find.
func (s *StatCache) Add(path uint64, stat Stat) { s.entries = append(s.entries, pathStat{path, stat}) }

// Sort prepares the cache for Find.
func (s *StatCache) Sort() {
	slices.SortFunc(s.entries, func(a, b pathStat) int { return cmp.Compare(a.path, b.path) })
}

// Len returns the number of files.
func (s *StatCache) Len() int {
	if s == nil {
		return 0
	}
	return len(s.entries)
}

// At returns the i-th file, in an arbitrary order.
func (s *StatCache) At(i int) (path uint64, stat Stat) { return s.entries[i].path, s.entries[i].stat }

// Find returns what was seen of a file, and its position as At takes it.
func (s *StatCache) Find(path uint64) (stat Stat, position int, ok bool) {
	if s == nil {
		return stat, 0, false
	}
	position, ok = slices.BinarySearchFunc(s.entries, path, func(x pathStat, path uint64) int { return cmp.Compare(x.path, path) })
	if ok {
		stat = s.entries[position].stat
	}
	return stat, position, ok
}
