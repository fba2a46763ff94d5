package sqlite

import (
	"hash/maphash"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/transcript"
)

// seenFilters say which events, usage records, files, run names and runs the index may have. In a first load most are new: what
// no filter has seen needs no lookup, and lookups are most of what resolving costs. A filter is nil, which contains everything,
// for a table that had rows when this connection first wrote to the index, and after another connection has written. What a
// failed transaction has added stays in it.
type seenFilters struct{ events, usage, files, names, runs index.BloomFilter }

// addKey is Add for keys of any type.
func addKey[K comparable](h index.BloomFilter, key K) bool {
	return h.Add(int64(maphash.Comparable(filterSeed, key)))
}

var filterSeed = maphash.MakeSeed()

// Sizes of the filters, in bits: 4 MiB in all, once they are full. With a million rows one lookup in sixteen is made for nothing.
const (
	eventBits = 1 << 24
	otherBits = 1 << 22
)

// loadFilters returns the filters of this connection.
func (t *tx) loadFilters() (*seenFilters, error) {
	fresh := false
	m, err := engine.ConnMemory(t.unending, t.Tx, t.conn, func() any { fresh = true; return &seenFilters{} })
	if err != nil {
		return nil, engine.Damage(err)
	}
	known := m.(*seenFilters)
	if !fresh {
		return known, nil
	}
	for _, table := range []struct {
		name   string
		hashes *index.BloomFilter
		size   int
	}{
		{"events", &known.events, eventBits}, {"usage", &known.usage, otherBits},
		{"files", &known.files, otherBits}, {"run_names", &known.names, otherBits}, {"runs", &known.runs, otherBits},
	} {
		some, err := t.exists("SELECT 1 FROM " + table.name + " LIMIT 1")
		if err != nil {
			return nil, err
		}
		if !some {
			*table.hashes = index.NewBloomFilter(table.size)
		}
	}
	return known, nil
}

// seeEvent marks the event of a row to be judged, unless nothing but other parts of the same event has had its id before.
func (c *commit) seeEvent(row int) {
	r := &c.rows[row]
	alone := r.Verdict == transcript.CopiedHistory || r.Verdict == transcript.DuplicateOf
	part := false
	if row > 0 {
		last := &c.rows[row-1]
		part = last.EID == r.EID && last.transcript == r.transcript && last.Seq == r.Seq
	}
	if part || !c.seen.events.Add(r.EID) {
		if alone {
			c.eids[r.EID] = true
		}
		return
	}
	c.eids[r.EID] = c.eids[r.EID] || alone || r.Verdict == transcript.Uncounted
}

// seeUsage marks the number of a usage_id to be judged, unless no row has had it before. A row has its own usage_id, and may
// have an alias, for which it speaks.
func (c *commit) seeUsage(number int64, speaks bool) {
	if !c.seen.usage.Add(number) {
		return
	}
	c.keys[number] = c.keys[number] || speaks
}
