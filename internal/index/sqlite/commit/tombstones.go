package commit

import (
	"database/sql"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// settleFacts applies new tombstones and ledgers. Tombstones come first: what a ledger keeps of a version replaces
// everything that the version states.
func (c *commit) settleFacts(fresh []blob.Fact) error {
	for _, f := range fresh {
		if f.Kind == blob.FactTombstone {
			if err := c.applyTombstone(f); err != nil {
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

// applyTombstone hides the versions that a tombstone names, or brings them back when it is retracted and their bytes still exist.
func (c *commit) applyTombstone(f blob.Fact) error {
	if f.IsRetraction() {
		return c.liftTombstone(f.Key, c.deleteStatements)
	}
	t, err := blob.ParseTombstone(f)
	if err != nil {
		return nil // ignored: verify reports packs that are wrong
	}
	found, err := c.IDs(`SELECT v.id FROM sources s CROSS JOIN files f ON f.source = s.id AND f.path = ?2 CROSS JOIN versions v ON v.file = f.id
		JOIN chains c ON c.id = v.chain WHERE s.name = ?1 AND v.grave IS NULL AND (v.sha256 = ?3 AND (?7 = 0 OR v.number < ?7) OR v.number = ?4 AND c.root = ?5 AND v.size <= ?6)`,
		t.Source, t.Path, t.SHA256[:], t.Number, t.Root[:], t.Size, t.Superseded)
	if err != nil {
		return err
	}
	for _, id := range found {
		if err := c.hideVersion(id, f.Key); err != nil {
			return err
		}
	}
	return nil
}

// liftTombstone has the versions under a tombstone parsed again. It calls before for each, to clear what the index has of it.
// Versions of which no bytes are left stay hidden.
func (c *commit) liftTombstone(key string, before func(version int64) error) error {
	found, err := c.IDs(`SELECT v.id FROM versions v WHERE v.grave = ? AND v.size <= (SELECT coalesce(sum(x.size), -1) FROM extents x WHERE x.chain = v.chain)`, key)
	if err != nil {
		return err
	}
	for _, id := range found {
		if err := before(id); err != nil {
			return err
		}
		if err := c.Exec("UPDATE versions SET grave = NULL, parser = 0, parsed = 0 WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// liftRetractedTombstone brings back a version whose tombstone was retracted before its bytes came: gc moves them to packs that are
// younger than both. A ledger that is no older than the retraction still says what some runs have lost.
func (c *commit) liftRetractedTombstone(key string, v *blob.Version) error {
	stands, err := c.tombstoneStands(key, v.Number)
	if err != nil || stands {
		return err
	}
	return c.liftTombstone(key, func(version int64) error { return c.clearBuried(version, key, v) })
}

// clearBuried clears what the index has of a version that lay under a tombstone, but for a ledger that is no older than a retraction of it.
func (c *commit) clearBuried(version int64, key string, v *blob.Version) error {
	kept, err := c.Exists(`SELECT 1 FROM facts t JOIN facts l ON l.kind = 'ledger' AND l.key = ? AND l.value IS NOT NULL AND l.time >= t.time
		WHERE t.kind = 'tombstone' AND t.key = ? AND t.value IS NULL`, index.LedgerKey(v), key)
	if err != nil {
		return err
	}
	if kept {
		return c.changes.TouchVersion(version)
	}
	return c.deleteStatements(version)
}

// hideVersion deletes everything that a version states, and marks it with the key of its tombstone. Its ledger stays until a newer one comes:
// another copy of the archive may have pruned what this one has thinned since.
func (c *commit) hideVersion(version int64, key string) error {
	if err := c.deleteStated(version, true); err != nil {
		return err
	}
	return c.Exec("UPDATE versions SET grave = ?, parser = 0, parsed = 0 WHERE id = ?", key, version)
}

// statementTables have what versions, or ledgers in their place, state.
var statementTables = []string{"run_claims", "transcripts", "usage", "receipts", "steps", "links", "hints", "problems", "graves", "bounds"}

// deleteStatements deletes everything that a version, or a ledger in its place, states.
func (c *commit) deleteStatements(version int64) error { return c.deleteStated(version, false) }

// deleteStated deletes what a version states, and also what its ledger does, unless that is kept.
func (c *commit) deleteStated(version int64, keepLedger bool) error {
	if err := c.changes.TouchVersion(version); err != nil {
		return err
	}
	transcripts, err := c.IDs("SELECT id FROM transcripts WHERE version = ?", version)
	if err != nil {
		return err
	}
	for _, id := range transcripts {
		if err := c.changes.DeleteRows(id); err != nil {
			return err
		}
	}
	for _, table := range statementTables {
		query := "DELETE FROM " + table + " WHERE version = ?"
		switch {
		case keepLedger && table == "graves":
			continue
		case keepLedger && (table == "usage" || table == "run_claims"):
			query += " AND ledger = 0"
		}
		if err := c.Exec(query, version); err != nil {
			return err
		}
	}
	return nil
}

// tombstoneOf reports whether the content of a version has a tombstone, and returns its key.
func (c *commit) tombstoneOf(v *blob.Version) (key string, yes bool, err error) {
	none, err := c.isEmpty(&c.noTombstones, "SELECT 1 FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL LIMIT 1")
	if none || err != nil {
		return "", false, err
	}
	key = blob.NewTombstone(v, "").Key()
	yes, err = c.tombstoneStands(key, v.Number)
	return key, yes, err
}

// tombstoneStands reports whether the tombstone of a key stands, for the version of the file with a number.
func (c *commit) tombstoneStands(key string, number int) (bool, error) {
	return c.Exists(`SELECT 1 FROM facts WHERE kind = 'tombstone' AND key = ? AND value IS NOT NULL
		AND (value ->> '$.superseded' IS NULL OR value ->> '$.superseded' > ?)`, key, number)
}

// isEmpty reports whether a query has no rows, and asks only once.
func (c *commit) isEmpty(answer **bool, query string) (bool, error) {
	if *answer == nil {
		var n int
		some, err := c.GetDirect(query, nil, &n)
		if err != nil {
			return false, err
		}
		*answer = new(!some)
	}
	return **answer, nil
}

// prunedRun is what was pruned of a run in a version.
type prunedRun struct {
	until        int64
	action, tier string
}

// covers reports whether what is at a place was pruned.
func (g *prunedRun) covers(inner string, offset int64) bool {
	return g != nil && (g.until == 0 || inner != "" || offset < g.until)
}

func (g *prunedRun) drops() bool {
	r := index.LedgerRun{Action: g.action, Tier: g.tier}
	return r.Drops()
}

// isRepeated reports whether an entry of the next ledger says the same of the run, and whether it takes away as much of it. nil takes nothing.
func (g *prunedRun) isRepeated(r *index.LedgerRun) (same, asMuch bool) {
	if r == nil {
		return false, false
	}
	same = r.Until == g.until && r.Drops() == g.drops()
	return same, same || (r.Drops() || !g.drops()) && (r.Until == 0 || g.until > 0 && r.Until >= g.until)
}

// prunedRuns returns what was pruned in a version, by the native id of the run. Facts are applied before anything is parsed, so
// none are added between two calls.
func (c *commit) prunedRuns(version int64) (all map[string]*prunedRun, err error) {
	none, err := c.isEmpty(&c.nothingPruned, "SELECT 1 FROM graves LIMIT 1")
	if none || err != nil {
		return nil, err
	}
	err = c.Each("SELECT n.native_id, g.until, g.action, g.tier FROM graves g JOIN run_names n ON n.id = g.run_name WHERE g.version = ?",
		func(r *sql.Rows) error {
			if all == nil {
				all = map[string]*prunedRun{}
			}
			g, native := &prunedRun{}, ""
			err := r.Scan(&native, &g.until, &g.action, &g.tier)
			all[native] = g
			return err
		}, version)
	return all, err
}
