package sqlite

import (
	"database/sql"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// settleFacts does what new facts of tombstones and ledgers say. Tombstones come first: what a ledger keeps of a
// version stands in the place of all that it said.
func (c *commit) settleFacts(fresh []blob.Fact) error {
	for _, f := range fresh {
		if f.Kind == blob.FactTombstone {
			if err := c.tombstone(f); err != nil {
				return err
			}
		}
	}
	for _, f := range fresh {
		if f.Kind == index.FactLedger {
			if err := c.ledger(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func takenBack(f blob.Fact) bool { return len(f.Value) == 0 || string(f.Value) == "null" }

// tombstone buries the versions that it names, or digs them up when it is taken back and their bytes are still there.
func (c *commit) tombstone(f blob.Fact) error {
	if takenBack(f) {
		return c.exhume(f.Key, c.silence)
	}
	t, err := blob.ParseTombstone(f)
	if err != nil {
		return nil // says nothing: verify tells of packs that are wrong
	}
	found := map[int64]bool{}
	if err := c.each(`SELECT v.id FROM sources s CROSS JOIN files f ON f.source = s.id AND f.path = ?2 CROSS JOIN versions v ON v.file = f.id
		JOIN chains c ON c.id = v.chain WHERE s.name = ?1 AND v.grave IS NULL AND (v.sha256 = ?3 OR v.number = ?4 AND c.root = ?5 AND v.size <= ?6)`,
		intoSet(found), t.Source, t.Path, t.SHA256[:], t.Number, t.Root[:], t.Size); err != nil {
		return err
	}
	for _, id := range sorted(found) {
		if err := c.bury(id, f.Key); err != nil {
			return err
		}
	}
	return nil
}

// exhume makes versions that lay under a tombstone to be parsed again; before does what is to be done with what the index has of each.
// Those of which no bytes are left stay.
func (c *commit) exhume(key string, before func(version int64) error) error {
	found := map[int64]bool{}
	if err := c.each(`SELECT v.id FROM versions v WHERE v.grave = ? AND v.size <= (SELECT coalesce(sum(x.size), -1) FROM extents x WHERE x.chain = v.chain)`,
		intoSet(found), key); err != nil {
		return err
	}
	for _, id := range sorted(found) {
		if err := before(id); err != nil {
			return err
		}
		if err := c.exec("UPDATE versions SET grave = NULL, parser = 0, parsed = 0 WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// cameBack digs up a version that lies under a tombstone which was taken back before its bytes came: gc puts them into packs that
// are younger than both. A ledger that is no older than the end of the tombstone says what some runs have lost all the same.
func (c *commit) cameBack(key string, v *blob.Version) error {
	var n int
	stands, err := c.get("SELECT 1 FROM facts WHERE kind = 'tombstone' AND key = ? AND value IS NOT NULL", []any{key}, &n)
	if err != nil || stands {
		return err
	}
	told, err := c.get(`SELECT 1 FROM facts t JOIN facts l ON l.kind = 'ledger' AND l.key = ? AND l.value IS NOT NULL AND l.time >= t.time
		WHERE t.kind = 'tombstone' AND t.key = ?`, []any{index.LedgerKey(v), key}, &n)
	if err != nil {
		return err
	}
	if told {
		return c.exhume(key, c.concerns)
	}
	return c.exhume(key, c.silence)
}

// bury takes everything back that a version says, and marks it.
func (c *commit) bury(version int64, key string) error {
	if err := c.silence(version); err != nil {
		return err
	}
	return c.exec("UPDATE versions SET grave = ?, parser = 0, parsed = 0 WHERE id = ?", key, version)
}

// concerns marks the runs and the usage that a version speaks of as to be judged again.
func (c *commit) concerns(version int64) error {
	const names = `SELECT run_name FROM run_claims WHERE version = ?1 UNION SELECT run_name FROM transcripts WHERE version = ?1
		UNION SELECT run_name FROM usage WHERE version = ?1 UNION SELECT run_name FROM receipts WHERE version = ?1
		UNION SELECT run_name FROM steps WHERE version = ?1 UNION SELECT run_name FROM hints WHERE version = ?1
		UNION SELECT run_name FROM graves WHERE version = ?1 UNION SELECT run_name FROM problems WHERE version = ?1 AND run_name IS NOT NULL`
	c.unsaid = true
	if err := c.each(names, intoSet(c.touched), version); err != nil {
		return err
	}
	if err := c.each("SELECT usage_id FROM usage WHERE version = ?", c.toJudge, version); err != nil {
		return err
	}
	return c.each("SELECT alias FROM usage WHERE version = ? AND alias IS NOT NULL", intoSet(c.keys), version)
}

// silence removes everything that a version, or a ledger in its place, says.
func (c *commit) silence(version int64) error {
	if err := c.concerns(version); err != nil {
		return err
	}
	transcripts := map[int64]bool{}
	if err := c.each("SELECT id FROM transcripts WHERE version = ?", intoSet(transcripts), version); err != nil {
		return err
	}
	for _, id := range sorted(transcripts) {
		if err := c.dropRows(id); err != nil {
			return err
		}
	}
	for _, table := range []string{"run_claims", "transcripts", "usage", "receipts", "steps", "links", "hints", "problems", "graves", "bounds"} {
		if err := c.exec("DELETE FROM "+table+" WHERE version = ?", version); err != nil {
			return err
		}
	}
	return nil
}

// lies says whether a tombstone that is known lies on a content of a file, and gives its key.
func (c *commit) lies(source, path string, sum blob.Ref) (key string, yes bool, err error) {
	if c.graveless == nil {
		var n int
		some, err := c.look("SELECT 1 FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL LIMIT 1", nil, &n)
		if err != nil {
			return "", false, err
		}
		none := !some
		c.graveless = &none
	}
	if *c.graveless {
		return "", false, nil
	}
	key = blob.Tombstone{Source: source, Path: path, SHA256: sum}.Key()
	var n int
	yes, err = c.get("SELECT 1 FROM facts WHERE kind = 'tombstone' AND key = ? AND value IS NOT NULL", []any{key}, &n)
	return key, yes, err
}

// grave is what was pruned of a run in a version.
type grave struct {
	until        int64
	action, tier string
}

// over says whether the grave covers what stands at a place.
func (g *grave) over(inner string, offset int64) bool {
	return g != nil && (g.until == 0 || inner != "" || offset < g.until)
}

func (g *grave) drops() bool {
	r := index.LedgerRun{Action: g.action, Tier: g.tier}
	return r.Drops()
}

// graves reads what was pruned in a version, by the native id of the run. Facts come before what is parsed: none are added
// between two calls.
func (c *commit) graves(version int64) (all map[string]*grave, err error) {
	if c.unburied == nil {
		var n int
		some, err := c.look("SELECT 1 FROM graves LIMIT 1", nil, &n)
		if err != nil {
			return nil, err
		}
		none := !some
		c.unburied = &none
	}
	if *c.unburied {
		return nil, nil
	}
	err = c.each("SELECT n.native_id, g.until, g.action, g.tier FROM graves g JOIN run_names n ON n.id = g.run_name WHERE g.version = ?",
		func(r *sql.Rows) error {
			if all == nil {
				all = map[string]*grave{}
			}
			g, native := &grave{}, ""
			err := r.Scan(&native, &g.until, &g.action, &g.tier)
			all[native] = g
			return err
		}, version)
	return all, err
}
