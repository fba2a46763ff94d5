package resolve

import (
	"database/sql"

	"github.com/txarchive/txarchive/internal/index/sqlite/catalog"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// rowsDiffer asks whether a version w with the same bytes as v would have other rows than v has: those of v are at the time of
// its file, and that of w differs; they are of v as it was before; or one of the two was thinned, and the other has more words.
const rowsDiffer = `SELECT 1 FROM versions v JOIN versions w ON w.id = ?2
	WHERE v.id = ?1 AND (v.parser < 1 OR v.mtime / 1000 <> w.mtime / 1000 AND ` + catalog.AtFile + ` OR EXISTS (SELECT 1 FROM graves g WHERE g.version IN (?1, ?2)))`

// hasStrayResults asks whether a transcript has results of calls that are elsewhere: their identity cannot be made from its rows for
// another scope.
const hasStrayResults = `SELECT 1 FROM events e CROSS JOIN results x ON x.event = e.id WHERE e.transcript = ?1
	AND NOT EXISTS (SELECT 1 FROM calls k WHERE k.call = x.call AND k.transcript = ?1)`

// takeOver moves the rows of a transcript with the same bytes to t, unless they must be made again for it.
func (c *Changes) takeOver(t *candidate, from []*candidate) error {
	for _, o := range from {
		if o.indexed != 1 || o.bytes() != t.bytes() {
			continue
		}
		was, is, err := c.scopesOf(o, t)
		if err != nil {
			return err
		}
		again, err := c.Exists(rowsDiffer, o.version, t.version)
		if err == nil && !again && was != is {
			again, err = c.Exists(hasStrayResults, o.id)
		}
		if err != nil {
			return err
		}
		if again {
			break
		}
		for _, query := range []string{
			"UPDATE calls SET transcript = ?1 WHERE event IN (SELECT id FROM events WHERE transcript = ?2)",
			"UPDATE results SET transcript = ?1 WHERE event IN (SELECT id FROM events WHERE transcript = ?2)",
			"UPDATE events SET transcript = ?1 WHERE transcript = ?2",
		} {
			if err := c.Exec(query, t.id, o.id); err != nil {
				return err
			}
		}
		if err := c.Exec(`UPDATE transcripts SET (events, messages, calls, results, first_time, last_time, first_row, last_row) =
			(SELECT o.events, o.messages, o.calls, o.results, o.first_time, o.last_time, o.first_row, o.last_row FROM transcripts o WHERE o.id = ?2) WHERE id = ?1`, t.id, o.id); err != nil {
			return err
		}
		if err := c.ownCalls(t, o, was, is); err != nil {
			return err
		}
		// They are elsewhere now, and of several copies of an event the place decides.
		if err := c.Each("SELECT eid FROM events WHERE transcript = ? AND eid IS NOT NULL", write.IntoSet(c.eids), t.id); err != nil {
			return err
		}
		if err := c.relink(o, t); err != nil {
			return err
		}
		t.indexed, t.first, t.last = 1, o.first, o.last
		return c.release(o)
	}
	if t.rows > 0 {
		t.indexed = Wanted
	}
	return nil
}

// release deletes the rows of a transcript that a copy has.
func (c *Changes) release(t *candidate) error {
	if t.indexed == 0 {
		return nil
	}
	t.indexed = 0
	if err := c.relink(t, t); err != nil {
		return err
	}
	return c.DeleteRows(t.id)
}

// hasCopies asks whether links follow from copied events of a version in a run, by its name.
const hasCopies = `SELECT 1 FROM links WHERE version = ?1 AND derived = 1 AND (+to_id, to_scope) = (SELECT native_id, scope FROM run_names WHERE id = ?2)`

// relink has the links made again that follow from copied events of a transcript, and from those of the one that has its rows now.
func (c *Changes) relink(was, is *candidate) error {
	linked, err := c.Exists(hasCopies, was.version, was.runName)
	if linked {
		c.copying[was.id], c.copying[is.id] = true, true
	}
	return err
}

// widenBounds widens the bounds of a version by those of another, whose calls it may have.
const widenBounds = `INSERT INTO bounds (version, astray, duration_most, duration_least) SELECT ?1, astray, duration_most, duration_least FROM bounds WHERE version = ?2
	ON CONFLICT (version) DO UPDATE SET astray = max(astray, excluded.astray),
		duration_least = min(coalesce(duration_least, duration_most, excluded.duration_least, excluded.duration_most),
			coalesce(excluded.duration_least, excluded.duration_most, duration_least, duration_most)),
		duration_most = max(coalesce(duration_most, excluded.duration_most), coalesce(excluded.duration_most, duration_most))`

// ownCalls makes the calls and results that t has taken over from o its own: in its bounds, and in their identity, by which
// calls that its file will grow by are paired with them. The scope of them was that of o, and is that of t.
func (c *Changes) ownCalls(t, o *candidate, was, is CallScope) error {
	if err := c.Exec(widenBounds, t.version, o.version); err != nil {
		return err
	}
	if was == is {
		return nil
	}
	var ids []string
	if err := c.Each("SELECT DISTINCT k.call_id FROM events e CROSS JOIN calls k ON k.event = e.id WHERE e.transcript = ?", func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	}, t.id); err != nil {
		return err
	}
	for _, id := range ids {
		for _, table := range []string{"calls", "results"} {
			if err := c.Exec("UPDATE "+table+" SET call = ?1 WHERE call = ?2 AND transcript = ?3", is.Call(id), was.Call(id), t.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// scopesOf returns the scopes of the calls of two transcripts.
func (c *Changes) scopesOf(a, b *candidate) (CallScope, CallScope, error) {
	var scopes [2]CallScope
	for i, t := range []*candidate{a, b} {
		var n RunName
		if _, err := c.Get("SELECT format, native_id, scope FROM run_names WHERE id = ?", []any{t.runName}, &n.Format, &n.Native, &n.Scope); err != nil {
			return scopes[0], scopes[1], err
		}
		scopes[i] = scopeOf(heldTranscript{t.runName, t.version, t.native, t.shared}, n)
	}
	return scopes[0], scopes[1], nil
}
