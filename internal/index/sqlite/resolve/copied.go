package resolve

import (
	"database/sql"
	"maps"

	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// What follows for links from events that were found to be copied. Where very many are at the same place they are scanned once,
// not once for each.

// judgeLinks decides whether links count whose events are judged: a link that a copied event states does not. The event is that
// of the link's own run, because the rows of an original may be those of another with the same bytes. What a ledger says of a
// link holds.
func (c *Changes) judgeLinks() error {
	return c.Exec(`WITH stating AS MATERIALIZED (SELECT DISTINCT l.event AS eid, l.event_native AS native FROM (SELECT DISTINCT eid FROM temp.twice) x CROSS JOIN links l ON l.event = x.eid),
		spoken AS MATERIALIZED (SELECT s.eid, s.native, t.run_name, min(e.verdict) = 2 AS copied FROM stating s CROSS JOIN events e ON e.eid = s.eid AND e.native = s.native
			CROSS JOIN transcripts t ON t.id = e.transcript WHERE e.verdict IN (0, 2) GROUP BY s.eid, s.native, t.run_name)
		UPDATE links SET uncounted = (uncounted & 2) | coalesce((SELECT min(k.copied) FROM transcripts t CROSS JOIN spoken k ON k.eid = links.event AND k.native = links.event_native AND k.run_name = t.run_name
			WHERE t.version = links.version), 0)
		WHERE event IN (SELECT eid FROM temp.twice) AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.id = links.version AND v.grave IS NOT NULL)`)
}

// copied says that a run has events of another run.
type copied struct {
	version, format, at                int64 // which original has them, the first of them at which offset
	name, fromScope, from, toScope, to string
	fromRun, toRun                     int64
}

// stated is a condition on the ids of two runs: links that originals state tell already how the events of one came into the
// other. Either the two are linked; or the copy is a fork of another run, from which both have them; or the copy is what the other
// was forked from, over several forks perhaps. A run that many are copied from has as many links, so those of the copy are looked up.
func stated(from, to, format string) string {
	const counts = " AND l.derived = 0 AND l.uncounted = 0 AND l.format = "
	return "EXISTS (SELECT 1 FROM links l WHERE l.to_id = " + to + " AND (+l.from_id = " + from + " OR l.kind = 'fork')" + counts + format + `)
		OR EXISTS (SELECT 1 FROM links l WHERE l.from_id = ` + to + " AND +l.to_id = " + from + counts + format + `)
		OR ` + to + " IN (WITH RECURSIVE up(id) AS (SELECT " + from + " UNION SELECT l.from_id FROM up CROSS JOIN links l ON l.to_id = up.id AND l.kind = 'fork'" + counts + format + `)
			SELECT id FROM up)`
}

// copyLinks links transcripts with copied events to the run that they come from, unless stated links do. Where two runs have
// events of each other, one of them is the copy: they get one link.
func (c *Changes) copyLinks(transcripts map[int64]bool) error {
	if len(transcripts) == 0 {
		return nil
	}
	transcripts, err := c.besides(transcripts)
	if err != nil {
		return err
	}
	all, err := c.copiedIn(write.Sorted(transcripts))
	if err != nil {
		return err
	}
	others, err := c.otherEnds(all)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		maps.Copy(others, transcripts)
		if all, err = c.copiedIn(write.Sorted(others)); err != nil {
			return err
		}
	}
	if err := c.Exec("DELETE FROM links WHERE id IN (SELECT l.id " + derivedLinks + ")"); err != nil {
		return err
	}
	mutual, err := c.mutual(all)
	if err != nil {
		return err
	}
	for _, k := range all {
		if k.from > k.to && mutual[[2]int64{k.toRun, k.fromRun}] {
			continue
		}
		edge := edgeOf(k.name, "fork", []string{"run", k.fromScope, k.from, ""}, []string{"run", k.toScope, k.to, ""})
		if err := c.Exec(`INSERT INTO links (version, edge, kind, from_type, from_scope, from_id, from_conversation, to_type, to_scope, to_id,
			to_conversation, format, statement, uncounted, derived, line, offset, length) SELECT ?1, ?2, 'fork', 'run', ?3, ?4, '', 'run', ?5, ?6, '', ?7, ?2, 0, 1, 0, ?8, 0
			WHERE NOT (`+stated("?4", "?6", "?7")+`)`,
			k.version, edge, k.fromScope, k.from, k.toScope, k.to, k.format, k.at); err != nil {
			return err
		}
	}
	return nil
}

// besides returns transcripts with the others of their versions in the same run, which have the same links.
func (c *Changes) besides(transcripts map[int64]bool) (all map[int64]bool, err error) {
	if err := c.FillTemp("copying", write.Sorted(transcripts)); err != nil {
		return nil, err
	}
	all = map[int64]bool{}
	return all, c.Each("SELECT u.id FROM temp.copying x CROSS JOIN transcripts t ON t.id = x.id CROSS JOIN transcripts u ON u.version = t.version AND u.run_name = t.run_name", write.IntoSet(all))
}

// derivedLinks are the links (l) of the transcripts (t) in temp.copying, of runs called n, to what they are copied from.
const derivedLinks = `FROM temp.copying x CROSS JOIN transcripts t ON t.id = x.id CROSS JOIN run_names n ON n.id = t.run_name
	CROSS JOIN links l ON l.to_id = n.native_id AND l.to_scope = n.scope AND +l.version = t.version AND l.derived = 1`

// otherEnds returns the transcripts of runs from which those in temp.copying are copied and were not, or the other way round: if
// those runs have events of these as well, which of two links there is follows from both.
func (c *Changes) otherEnds(all []copied) (transcripts map[int64]bool, err error) {
	pairs := map[[2]int64]bool{}
	for _, k := range all {
		pairs[[2]int64{k.fromRun, k.toRun}] = true
	}
	runs := map[int64]bool{}
	if err := c.Each("SELECT DISTINCT o.run, n.run "+derivedLinks+" CROSS JOIN run_names o ON o.format = n.format AND o.native_id = l.from_id AND o.scope = l.from_scope", func(r *sql.Rows) error {
		var pair [2]int64
		err := r.Scan(&pair[0], &pair[1])
		if !pairs[pair] {
			runs[pair[0]] = true
		}
		delete(pairs, pair)
		return err
	}); err != nil {
		return nil, err
	}
	for pair := range pairs {
		runs[pair[0]] = true
	}
	return c.transcriptsOf(runs)
}

func (c *Changes) transcriptsOf(runs map[int64]bool) (transcripts map[int64]bool, err error) {
	transcripts = map[int64]bool{}
	if len(runs) == 0 {
		return transcripts, nil
	}
	if err := c.FillTemp("copying_runs", write.Sorted(runs)); err != nil {
		return nil, err
	}
	return transcripts, c.Each("SELECT t.id FROM temp.copying_runs x CROSS JOIN run_names n ON n.run = x.id CROSS JOIN transcripts t ON t.run_name = n.id", write.IntoSet(transcripts))
}

// mutual returns the pairs of runs, from and to, that may have events of each other.
func (c *Changes) mutual(all []copied) (map[[2]int64]bool, error) {
	runs := map[int64]bool{}
	for _, k := range all {
		if k.from > k.to {
			runs[k.fromRun] = true
		}
	}
	pairs := map[[2]int64]bool{}
	transcripts, err := c.transcriptsOf(runs)
	if err != nil || len(transcripts) == 0 {
		return pairs, err
	}
	back, err := c.copiedIn(write.Sorted(transcripts))
	for _, k := range back {
		pairs[[2]int64{k.fromRun, k.toRun}] = true
	}
	return pairs, err
}

// copiedIn returns the runs that the copied events of transcripts come from.
func (c *Changes) copiedIn(transcripts []int64) (all []copied, err error) {
	if err := c.FillTemp("copying", transcripts); err != nil {
		return nil, err
	}
	err = c.Each(`WITH ids AS MATERIALIZED (SELECT DISTINCT e.eid, e.native FROM temp.copying x CROSS JOIN events e ON e.transcript = x.id AND e.verdict = 2 AND e.global > 0),
		first AS MATERIALIZED (SELECT DISTINCT w.eid, w.native, o.scope, o.native_id, o.run, o.id FROM ids i CROSS JOIN events w ON w.eid = i.eid AND w.native = i.native AND w.verdict = 0
			CROSS JOIN transcripts x ON x.id = w.transcript CROSS JOIN run_names o ON o.id = x.run_name)
		SELECT t.version, n.format, f.name, o.scope, o.native_id, n.scope, n.native_id, min(e.offset), o.run, n.run
		FROM temp.copying x CROSS JOIN transcripts t ON t.id = x.id CROSS JOIN run_names n ON n.id = t.run_name CROSS JOIN names f ON f.id = n.format
		CROSS JOIN events e ON e.transcript = t.id AND e.verdict = 2 AND e.global > 0 CROSS JOIN first o ON o.eid = e.eid AND o.native = e.native
		WHERE o.run <> n.run GROUP BY t.id, o.id ORDER BY t.id, o.native_id`, func(r *sql.Rows) error {
		var k copied
		err := r.Scan(&k.version, &k.format, &k.name, &k.fromScope, &k.from, &k.toScope, &k.to, &k.at, &k.fromRun, &k.toRun)
		all = append(all, k)
		return err
	})
	return all, err
}
