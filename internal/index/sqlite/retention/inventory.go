// Package retention reads what a prune is planned from (index.Retention): the inventory of runs and versions, what packs consist of,
// an estimate of the space that an index gives back, and the ledgers that remain of what goes. It changes nothing.
package retention

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

var (
	_ index.Retention       = (*Reader)(nil)
	_ index.DisplacedReader = (*Reader)(nil)
	_ index.Inventory       = (*inventory)(nil)
)

// inventory is an index.Inventory in one read transaction. It holds in memory what is not in the row of a run or version, some
// sixty bytes for both.
type inventory struct {
	snapshot
	runs       []held           // by number
	number     []int32          // by row of runs, -1 for those that do not count
	forest     []int32          // union-find forest by number: another run of the family, or itself
	parents    map[int32]string // ids of those that are parents, by number
	names      []int32          // by row of run_names, the number of the run or -1
	holders    holders
	chains     []int64         // by row of versions
	tombstoned []bool          // by row of versions
	stays      map[int64]bool  // versions, by row
	superseded map[int64]int64 // rows in the index, by row of versions
	sources    []string        // sorted
	formats    map[int64]string
}

// held is what the versions of a run say of it. Times are microseconds.
type held struct {
	active, bytes, cost, rows int64
	earlier, earlierBytes     int64
	parent                    int32 // -1 for none
	row                       int32
	source                    uint16 // place in sources, counted from 1
	thinned                   uint8  // place in tiers
	costKnown                 bool
}

// Reader answers over connections that read. It is safe for use by several goroutines.
type Reader struct{ pool *sqlx.DB }

// New returns a reader over a pool of connections, which stays the caller's.
func New(pool *sqlx.DB) *Reader { return &Reader{pool} }

// Inventory returns all runs that count and all versions. It reads every table once.
func (r *Reader) Inventory(ctx context.Context, o index.InventoryOptions) (index.Inventory, error) {
	tx, err := r.pool.BeginTxx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", engine.Damage(err))
	}
	e := &inventory{snapshot: snapshot{ctx, tx}}
	steps := []func() error{e.numberRuns, e.readNames, e.readSources, e.readVersions, e.readClaims, e.readTranscripts, e.readOthers, e.readStays}
	if o.Superseded {
		steps = append(steps, e.readSuperseded)
	}
	steps = append(steps, e.readStored, e.readParents, e.readThinned)
	if o.Costs {
		steps = append(steps, e.readCosts)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			_ = tx.Rollback() // it has only read
			return nil, fmt.Errorf("read runs: %w", engine.Damage(err))
		}
	}
	return e, nil
}

func (e *inventory) Close() error { return e.tx.Rollback() }

func (e *inventory) Len() int { return len(e.runs) }

// snapshot is a transaction that reads.
type snapshot struct {
	ctx context.Context
	tx  *sqlx.Tx
}

// walk calls row for every row of a query, until engine.ErrStop.
func (s snapshot) walk(query string, row func(*sqlx.Rows) error, args ...any) error {
	rows, err := s.tx.QueryxContext(s.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err == engine.ErrStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// byRow returns a list of one value for each row of a table, -1 at first.
func (e *inventory) byRow(table string) ([]int32, error) {
	last := 0
	if err := e.tx.GetContext(e.ctx, &last, "SELECT coalesce(max(id), 0) FROM "+table); err != nil {
		return nil, err
	}
	return slices.Repeat([]int32{-1}, last+1), nil
}

// numberRuns numbers the runs that count in the order of their ids, which it reads from the index of ids alone.
func (e *inventory) numberRuns() (err error) {
	if e.number, err = e.byRow("runs"); err != nil {
		return err
	}
	const counts = -2
	n := 0
	if err := e.walk("SELECT id FROM runs WHERE counted = 1", func(r *sqlx.Rows) error {
		var row int64
		err := r.Scan(&row)
		e.number[row], n = counts, n+1
		return err
	}); err != nil {
		return err
	}
	e.runs, e.forest = make([]held, 0, n), make([]int32, n)
	return e.walk("SELECT id FROM runs ORDER BY run_id", func(r *sqlx.Rows) error {
		var row int64
		if err := r.Scan(&row); err != nil || e.number[row] != counts {
			return err
		}
		e.number[row] = int32(len(e.runs))
		e.runs = append(e.runs, held{parent: -1, row: int32(row)})
		return nil
	})
}

func (e *inventory) readNames() (err error) {
	if e.names, err = e.byRow("run_names"); err != nil {
		return err
	}
	e.formats = map[int64]string{}
	if err := e.walk("SELECT id, name FROM names WHERE id IN (SELECT DISTINCT format FROM runs)", func(r *sqlx.Rows) error {
		var id int64
		var name string
		err := r.Scan(&id, &name)
		e.formats[id] = name
		return err
	}); err != nil {
		return err
	}
	return e.walk("SELECT id, run FROM run_names WHERE run IS NOT NULL", func(r *sqlx.Rows) error {
		var id, run int64
		err := r.Scan(&id, &run)
		e.names[id] = e.number[run]
		return err
	})
}

func (e *inventory) readSources() error {
	return e.tx.SelectContext(e.ctx, &e.sources, "SELECT name FROM sources ORDER BY name")
}

func (e *inventory) readVersions() error {
	first, err := e.byRow("versions")
	if err != nil {
		return err
	}
	e.holders = holders{first: first}
	e.chains, e.tombstoned = make([]int64, len(first)), make([]bool, len(first))
	var id, chain int64
	var tombstoned bool
	return e.walk("SELECT id, chain, grave IS NOT NULL FROM versions", func(r *sqlx.Rows) error {
		err := r.Scan(&id, &chain, &tombstoned)
		e.chains[id], e.tombstoned[id] = chain, tombstoned
		return err
	})
}

// readClaims reads claims that state something of a run before those that only name one. A version with a tombstone went with
// the runs that held it, which may not exist any more, and is not given to runs that it only names.
func (e *inventory) readClaims() error {
	return e.walk("SELECT version, run_name, named FROM run_claims", func(r *sqlx.Rows) error {
		var version, name int64
		var named bool
		err := r.Scan(&version, &name, &named)
		if !named || !e.tombstoned[version] {
			e.holders.add(version, e.names[name], named)
		}
		return err
	})
}

func (e *inventory) readTranscripts() error {
	return e.walk("SELECT version, run_name, coalesce(last_time, 0), CASE indexed WHEN 1 THEN rows ELSE 0 END FROM transcripts", func(r *sqlx.Rows) error {
		var version, name, last, n int64
		if err := r.Scan(&version, &name, &last, &n); err != nil {
			return err
		}
		e.holders.add(version, e.names[name], false)
		if run := e.names[name]; run >= 0 {
			x := &e.runs[run]
			x.active, x.rows = max(x.active, last), x.rows+n
		}
		return nil
	})
}

// readOthers reads usage, receipts and steps of versions whose other statements may not name the runs that these are of, and
// what was pruned in versions. A ledger names other runs only if its version did. A version that went as an earlier one of a run
// that stays is no longer held by it.
func (e *inventory) readOthers() error {
	const some = 1 << 13
	var open []int64
	ask := func() error {
		ids, err := json.Marshal(open)
		if err != nil {
			return err
		}
		open = open[:0]
		return e.walk(`SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN usage u ON u.version = j.value
			UNION SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN receipts u ON u.version = j.value
			UNION SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN steps u ON u.version = j.value
			UNION SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN graves u ON u.version = j.value AND u.tier NOT IN ('named', 'versions')`, func(r *sqlx.Rows) error {
			var version, name int64
			err := r.Scan(&version, &name)
			e.holders.add(version, e.names[name], false)
			return err
		}, string(ids))
	}
	for version := range e.chains {
		if e.chains[version] == 0 || !e.holders.uncertain(int64(version)) {
			continue
		}
		if open = append(open, int64(version)); len(open) == some {
			if err := ask(); err != nil {
				return err
			}
		}
	}
	if len(open) > 0 {
		if err := ask(); err != nil {
			return err
		}
	}
	e.holders.settle()
	return nil
}

// readStays finds the versions that only hold runs which other versions are about, as a history of prompts does, and that have
// rows of a run of which there is nothing else.
func (e *inventory) readStays() error {
	e.stays = map[int64]bool{}
	return e.walk(`WITH v AS (SELECT DISTINCT t.version FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN transcripts t ON t.run_name = n.id
			WHERE r.counted = 0 AND r.pruned = 0 AND t.indexed = 1 AND t.rows > 0)
		SELECT version FROM v WHERE `+schema.IsSecondHand("v.version"), func(r *sqlx.Rows) error {
		var version int64
		err := r.Scan(&version)
		e.stays[version] = true
		return err
	})
}

// tiers in the order in which they lose more.
var tiers = []string{"", "search", "payloads", "ledger"}

// readThinned finds the tier that every version of a run has reached. Versions with tombstones only matter where there is no
// other.
func (e *inventory) readThinned() error {
	type reached struct {
		alive, thinned int32 // versions that are there
		least          uint8
		tombstoned     bool
	}
	all := map[int32]*reached{}
	last, seen := int64(0), map[int32]bool{} // runs of one version
	if err := e.walk("SELECT version, run_name, tier FROM graves WHERE action = 'thin' ORDER BY version, run_name DESC", func(r *sqlx.Rows) error {
		var version, name int64
		var tier string
		if err := r.Scan(&version, &name, &tier); err != nil {
			return err
		}
		if version != last {
			clear(seen)
			last = version
		}
		run := e.names[name]
		if run < 0 || seen[run] || !slices.Contains(e.holders.of(version), run) {
			return nil
		}
		seen[run] = true
		x := all[run]
		if x == nil {
			x = &reached{least: uint8(len(tiers) - 1)}
			all[run] = x
		}
		n := uint8(max(0, slices.Index(tiers, tier)))
		if e.tombstoned[version] {
			x.tombstoned = x.tombstoned || n > 0
			return nil
		}
		x.thinned, x.least = x.thinned+1, min(x.least, n)
		return nil
	}); err != nil || len(all) == 0 {
		return err
	}
	for version := range e.chains {
		if e.chains[version] == 0 || e.tombstoned[version] {
			continue
		}
		for _, run := range e.holders.of(int64(version)) {
			if x := all[run]; x != nil {
				x.alive++
			}
		}
	}
	for run, x := range all {
		switch {
		case x.alive > 0 && x.alive == x.thinned:
			e.runs[run].thinned = x.least
		case x.alive == 0 && x.tombstoned:
			e.runs[run].thinned = uint8(len(tiers) - 1)
		}
	}
	return nil
}
