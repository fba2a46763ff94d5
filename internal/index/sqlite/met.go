package sqlite

import (
	"hash/maphash"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/transcript"
)

// met is which hashes of events, numbers of usage, files, names of runs and runs the index may have. Most of a first load is said once:
// what nobody has said before needs no look into the index, which is most of what judging costs. It knows nothing of tables
// that had rows when this connection first wrote to the index, nor when somebody else has written since.
type met struct{ events, usage, files, names, runs hashes }

// hashes are some hashes and those that cannot be told from them, a bit for each of some; nil are all. One that is added by a
// transaction that fails stays.
type hashes []uint64

// add says whether the hash may have been there before.
func (h hashes) add(hash int64) bool {
	if len(h) == 0 {
		return true
	}
	at := uint64(hash) % uint64(64*len(h))
	bit := uint64(1) << (at % 64)
	before := h[at/64]&bit != 0
	h[at/64] |= bit
	return before
}

// meets is add for what is known by more than a number.
func meets[K comparable](h hashes, key K) bool { return h.add(int64(maphash.Comparable(metSeed, key))) }

var metSeed = maphash.MakeSeed()

// How many hashes are told apart: 16 million of events and 4 of usage and of each of the others, 4 MiB. At a million of rows each
// sixteenth is asked for.
const (
	metEvents = 1 << 24
	metOthers = 1 << 22
)

// whatIsMet returns what this connection knows of the index.
func (t *tx) whatIsMet() (*met, error) {
	fresh := false
	m, err := engine.Remembered(t.calm, t.Tx, t.conn, func() any { fresh = true; return &met{} })
	if err != nil {
		return nil, engine.Damage(err)
	}
	known := m.(*met)
	if !fresh {
		return known, nil
	}
	for _, table := range []struct {
		name   string
		hashes *hashes
		size   int
	}{
		{"events", &known.events, metEvents}, {"usage", &known.usage, metOthers},
		{"files", &known.files, metOthers}, {"run_names", &known.names, metOthers}, {"runs", &known.runs, metOthers},
	} {
		var empty bool
		if _, err := t.get("SELECT NOT EXISTS (SELECT 1 FROM "+table.name+")", nil, &empty); err != nil {
			return nil, err
		}
		if empty {
			*table.hashes = make(hashes, table.size/64)
		}
	}
	return known, nil
}

// meetEvent notes the event of a row as one to judge, unless nobody has said its id before but other parts of it.
func (c *commit) meetEvent(row int) {
	r := &c.rows[row]
	alone := r.Verdict == transcript.CopiedHistory || r.Verdict == transcript.DuplicateOf
	part := false
	if row > 0 {
		last := &c.rows[row-1]
		part = last.EID == r.EID && last.transcript == r.transcript && last.Seq == r.Seq
	}
	if part || !c.met.events.add(r.EID) {
		if alone {
			c.eids[r.EID] = true
		}
		return
	}
	c.eids[r.EID] = c.eids[r.EID] || alone
}

// meetUsage notes the number of a usage_id as one to judge, unless no row has said it before. Rows say their own, and one for which
// they speak.
func (c *commit) meetUsage(number int64, speaks bool) {
	if !c.met.usage.add(number) {
		return
	}
	_, again := c.keys[number]
	c.keys[number] = again || speaks || c.met.usage != nil
}
