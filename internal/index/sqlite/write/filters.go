package write

import (
	"hash/maphash"

	"github.com/txarchive/txarchive/internal/index"
)

// Seen say which events, usage records, files, run names and runs the index may have. In a first load most are new: what
// no filter has seen needs no lookup, and lookups are most of what resolving costs. A filter is nil, which contains everything,
// for a table that had rows when this connection first wrote to the index, and after another connection has written. What a
// failed transaction has added stays in it.
type Seen struct{ Events, Usage, Files, Names, Runs index.BloomFilter }

// AddKey is Add for keys of any type.
func AddKey[K comparable](h index.BloomFilter, key K) bool {
	return h.Add(int64(maphash.Comparable(filterSeed, key)))
}

var filterSeed = maphash.MakeSeed()

// Sizes of the filters, in bits: 4 MiB in all, once they are full. With a million rows one lookup in sixteen is made for nothing.
const (
	eventBits = 1 << 24
	otherBits = 1 << 22
)

// Seen returns the filters of this connection.
func (t *Tx) Seen() (*Seen, error) {
	fresh := false
	m, err := t.memory(func() any { fresh = true; return &Seen{} })
	if err != nil {
		return nil, err
	}
	known := m.(*Seen)
	if !fresh {
		return known, nil
	}
	for _, table := range []struct {
		name   string
		hashes *index.BloomFilter
		size   int
	}{
		{"events", &known.Events, eventBits}, {"usage", &known.Usage, otherBits},
		{"files", &known.Files, otherBits}, {"run_names", &known.Names, otherBits}, {"runs", &known.Runs, otherBits},
	} {
		some, err := t.Exists("SELECT 1 FROM " + table.name + " LIMIT 1")
		if err != nil {
			return nil, err
		}
		if !some {
			*table.hashes = index.NewBloomFilter(table.size)
		}
	}
	return known, nil
}
