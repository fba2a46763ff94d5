package index

import (
	"cmp"
	"slices"
)

// StatCache is what the last scans saw of the files of a source, by the hashes of their paths: forty bytes of each, since there
// may be millions. Nil has none.
type StatCache struct{ all []pathStat }

type pathStat struct {
	path uint64
	stat Stat
}

// NewStatCache makes room for n files.
func NewStatCache(n int) *StatCache { return &StatCache{make([]pathStat, 0, n)} }

// Add takes in a file. All are there before Find is asked.
func (s *StatCache) Add(path uint64, stat Stat) { s.all = append(s.all, pathStat{path, stat}) }

// Sort must be called when all were added.
func (s *StatCache) Sort() {
	slices.SortFunc(s.all, func(a, b pathStat) int { return cmp.Compare(a.path, b.path) })
}

// Len is the number of files.
func (s *StatCache) Len() int {
	if s == nil {
		return 0
	}
	return len(s.all)
}

// At is the i-th file, in no order that means anything.
func (s *StatCache) At(i int) (path uint64, stat Stat) { return s.all[i].path, s.all[i].stat }

// Find is what was seen of a file, and its place among all.
func (s *StatCache) Find(path uint64) (stat Stat, at int, ok bool) {
	if s == nil {
		return stat, 0, false
	}
	at, ok = slices.BinarySearchFunc(s.all, path, func(x pathStat, path uint64) int { return cmp.Compare(x.path, path) })
	if ok {
		stat = s.all[at].stat
	}
	return stat, at, ok
}
