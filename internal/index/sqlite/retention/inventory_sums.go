package retention

import (
	"slices"

	"github.com/jmoiron/sqlx"
)

// readStored distributes the size of packs by raw size: exact enough to compare runs. What a plan frees is counted by members.
func (e *inventory) readStored() error {
	ratio := map[int64]float64{}
	if err := e.walk("SELECT m.pack, sum(m.size), sum(m.raw_size) FROM members m GROUP BY m.pack", func(r *sqlx.Rows) error {
		var pack, size, raw int64
		err := r.Scan(&pack, &size, &raw)
		ratio[pack] = float64(size) / float64(max(raw, 1))
		return err
	}); err != nil {
		return err
	}
	stored := make([]float64, slices.Max(append([]int64{0}, e.chains...))+1)
	if err := e.walk("SELECT chain, pack, size FROM extents", func(r *sqlx.Rows) error {
		var chain, pack, size int64
		err := r.Scan(&chain, &pack, &size)
		if chain < int64(len(stored)) { // else of no version
			stored[chain] += float64(size) * ratio[pack]
		}
		return err
	}); err != nil {
		return err
	}
	return e.share(stored)
}

// share gives every run the size of its versions, and the source of the first of these.
func (e *inventory) share(stored []float64) error {
	var id int64
	var name string
	return e.walk("SELECT v.id, s.name FROM versions v CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source", func(r *sqlx.Rows) error {
		if err := r.Scan(&id, &name); err != nil {
			return err
		}
		at, _ := slices.BinarySearch(e.sources, name)
		source, all := uint16(at+1), e.holders.of(id)
		for _, run := range all {
			x := &e.runs[run]
			if x.source == 0 || source < x.source {
				x.source = source
			}
			if e.tombstoned[id] {
				continue
			}
			share := int64(stored[e.chains[id]]+0.5) / int64(len(all))
			x.bytes += share
			if _, yes := e.superseded[id]; yes {
				x.earlier, x.earlierBytes = x.earlier+1, x.earlierBytes+share
			}
		}
		return nil
	})
}

// readCosts sums costs as v_runs does, in nano-USD. Few runs have records of nothing but a cost, so for the others no conversation is
// looked up.
func (e *inventory) readCosts() error {
	return e.walk(`WITH costs (run, conversation) AS MATERIALIZED (SELECT a.run, coalesce(k.native_conversation, a.native_id)
		FROM usage k INDEXED BY usage_cost_only CROSS JOIN run_names a ON a.id = k.run_name WHERE a.run IS NOT NULL AND k.verdict = 0 AND k.reported IS NOT NULL
		AND k.input IS NULL AND k.output IS NULL AND k.cache_read IS NULL AND k.cache_write IS NULL AND k.cache_write_1h IS NULL)
		SELECT n.run, sum(coalesce(u.reported, CASE WHEN n.run NOT IN (SELECT run FROM costs)
			OR (n.run, coalesce(u.native_conversation, n.native_id)) NOT IN costs THEN u.calculated END))
		FROM usage u CROSS JOIN run_names n ON n.id = u.run_name WHERE u.verdict = 0 GROUP BY 1`, func(r *sqlx.Rows) error {
		var run int64
		var cost *int64
		err := r.Scan(&run, &cost)
		if at := e.number[run]; at >= 0 && cost != nil {
			e.runs[at].cost, e.runs[at].costKnown = *cost, true
		}
		return err
	})
}
