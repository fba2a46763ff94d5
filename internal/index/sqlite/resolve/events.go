package resolve

import (
	"database/sql"
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// judgeEvents makes one of several events with one native id count: inside a conversation, or in the whole format where the id
// is unique there. The last statement counts, in the conversation that wrote the event first. If that is an uncounted row, no
// event of the id counts.
//
// A document that is rewritten every hour, or a hundred backups of one conversation, state each event again. So what counts is
// first compared only with what is new; the other rows were less than what counts, and still are, unless that has changed.
// It returns the transcripts of which events count that did not, or the other way round.
func (c *Changes) judgeEvents() (moved map[int64]bool, err error) {
	if len(c.eids) == 0 {
		return nil, nil
	}
	all := map[int64]bool{}
	for id, whole := range c.eids {
		if whole {
			all[id] = true
		}
	}
	again, stated := c.statedAgain()
	if len(all) == 0 && len(again) == 0 {
		return nil, nil
	}
	if err := c.ExecDirect(`CREATE TEMP TABLE IF NOT EXISTS twice (eid INTEGER, native, conversation INTEGER, rows INTEGER, others INTEGER,
		PRIMARY KEY (eid, native, conversation)) WITHOUT ROWID`); err != nil {
		return nil, err
	}
	if err := c.ExecDirect("DELETE FROM temp.twice"); err != nil {
		return nil, err
	}
	moved = map[int64]bool{}
	if err := c.judgeRows(again, counting, func(rows []duplicate) error {
		return groups(rows, func(group []duplicate) error {
			if !c.settled(group, stated) {
				all[group[0].eid] = true
				return nil
			}
			return c.countFirst(group, moved)
		})
	}); err != nil {
		return nil, err
	}
	if err := c.judgeRows(all, every, func(rows []duplicate) error {
		return groups(rows, func(group []duplicate) error { return c.countFirst(group, moved) })
	}); err != nil {
		return nil, err
	}
	if err := c.recountAll(moved); err != nil {
		return nil, err
	}
	if err := c.judgeLinks(); err != nil {
		return nil, err
	}
	return moved, c.copyLinks(c.copying)
}

// statedAgain returns the ids of new rows that other rows may have, too, and the rows. An id that is unique in its conversation is
// left out if only one line of a new transcript has it, which is the whole conversation.
func (c *Changes) statedAgain() (again, rows map[int64]bool) {
	again, rows = map[int64]bool{}, map[int64]bool{}
	type statement struct{ transcript, eid int64 }
	lines := map[statement]int64{}
	for i := range c.rows {
		r := &c.rows[i]
		if whole, met := c.eids[r.EID]; !met || whole {
			continue
		}
		rows[r.ID] = true
		t := c.changed[r.Transcript]
		if r.Global > 0 || t == nil || t.was.conversation.Valid || t.shared {
			again[r.EID] = true
			continue
		}
		k := statement{r.Transcript, r.EID}
		if seq, met := lines[k]; met && seq != r.Seq {
			again[r.EID] = true
		}
		lines[k] = r.Seq
	}
	return again, rows
}

// settled reports whether the first of some rows with one id counts, whatever other rows have the id: what counted before, one of
// the rows, was preferred to those, and either it is worth what it was, or the next version of its file says the same in its
// place. What counts must stay in its conversation, from which the verdicts of the others follow.
func (c *Changes) settled(group []duplicate, stated map[int64]bool) bool {
	first, known := group[0], false
	for _, j := range group {
		if stated[j.id] {
			if !j.newest && j.others {
				return false // what newer versions of its file say is among the others
			}
			continue
		}
		known = true
		at := j.conversation
		if t := c.changed[j.transcript]; t != nil || !j.newest {
			next, ok := c.successors[j.transcript]
			if !ok || !slices.ContainsFunc(group, func(n duplicate) bool {
				return n.transcript == next && n.newest && n.global == j.global && n.first == j.first
			}) {
				return false
			}
			if t != nil {
				at = t.was.conversation.Int64
			}
		} else if _, parsed := c.held[j.transcript]; parsed {
			return false
		}
		if at != first.conversation {
			return false
		}
	}
	return known || !first.others
}

// Which rows of an id are judged.
const (
	every    = ""
	counting = " AND e.verdict = 0"
)

// duplicateBatch is how many events are judged at a time; more only if as many have one id.
const duplicateBatch = 8192

// judgeRows reads the rows of ids that are to be judged, in lots. Most ids occur once and count: the index alone tells which do not.
func (c *Changes) judgeRows(ids map[int64]bool, which string, judge func(rows []duplicate) error) error {
	if len(ids) == 0 {
		return nil
	}
	if err := c.FillTemp("several_eids", write.Sorted(ids)); err != nil {
		return err
	}
	if which == counting {
		several, err := c.IDs(`SELECT x.id FROM temp.several_eids x WHERE (SELECT count(*) FROM (SELECT 1 FROM events e INDEXED BY events_eid WHERE e.eid = x.id LIMIT 2)) > 1`)
		if err != nil || len(several) == 0 {
			return err
		}
		if err := c.FillTemp("several_eids", several); err != nil {
			return err
		}
	}
	lots, err := c.findTwice(which)
	if err != nil {
		return err
	}
	for _, lot := range lots {
		if err := c.FillTemp("judged_eids", lot); err != nil {
			return err
		}
		rows, err := c.loadTwice(which)
		if err != nil {
			return err
		}
		if err := judge(rows); err != nil {
			return err
		}
	}
	return nil
}

// findTwice adds to temp.twice the ids that occur more than once where they mean the same event, and returns their hashes in
// lots.
func (c *Changes) findTwice(which string) (lots [][]int64, err error) {
	having := "min(e.transcript) <> max(e.transcript) OR max(e.global) = 0 AND min(e.seq) <> max(e.seq) OR max(e.verdict IN (1, 2))"
	if which == counting {
		having = "others OR min(e.transcript) <> max(e.transcript) OR max(e.global) = 0 AND min(e.seq) <> max(e.seq)"
	}
	if err := c.Exec(`INSERT OR REPLACE INTO temp.twice SELECT x.id, e.native, ` + idScope + ` AS meant, count(*), EXISTS (SELECT 1 FROM events o WHERE o.eid = x.id AND o.verdict > 0) AS others
		FROM temp.several_eids x CROSS JOIN events e ON e.eid = x.id` + which + ` CROSS JOIN transcripts t ON t.id = e.transcript GROUP BY x.id, e.native, meant
		HAVING ` + having); err != nil {
		return nil, err
	}
	left := int64(0)
	err = c.Each("SELECT d.eid, sum(d.rows) FROM temp.several_eids x CROSS JOIN temp.twice d ON d.eid = x.id GROUP BY d.eid", func(r *sql.Rows) error {
		var eid, rows int64
		err := r.Scan(&eid, &rows)
		if left < rows {
			lots, left = append(lots, nil), duplicateBatch
		}
		lots[len(lots)-1] = append(lots[len(lots)-1], eid)
		left -= rows
		return err
	})
	return lots, err
}

// idScope is the conversation in which the id of an event is unique, 0 for ids that are unique in the whole format.
const idScope = "CASE e.global WHEN 0 THEN t.conversation ELSE 0 END"

// loadTwice reads the events of a lot.
func (c *Changes) loadTwice(which string) ([]duplicate, error) {
	var rows []duplicate
	err := c.Each(`SELECT e.id, x.id, e.native, e.transcript, e.verdict, e.global, t.conversation, t.verdict, d.others,
		v.number = (SELECT max(w.number) FROM versions w WHERE w.file = v.file), t.rank, v.number, f.id, n.conversation_id, t.ord, s.name || '/' || f.path, e.seq, e.part
		FROM temp.judged_eids x CROSS JOIN events e ON e.eid = x.id`+which+` CROSS JOIN transcripts t ON t.id = e.transcript
		CROSS JOIN temp.twice d ON d.eid = x.id AND d.native = e.native AND d.conversation = `+idScope+`
		CROSS JOIN conversations n ON n.id = t.conversation
		CROSS JOIN versions v ON v.id = t.version CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source
		WHERE e.verdict IN (0, 1) OR e.global > 0 AND e.verdict = 2 OR e.global = 0 AND e.verdict = 6`, func(r *sql.Rows) error {
		var j duplicate
		var global, verdict, rank, seq, part int64
		var native, public, ord, path string
		if err := r.Scan(&j.id, &j.eid, &native, &j.transcript, &j.was, &global, &j.conversation, &verdict, &j.others,
			&j.newest, &rank, &j.number, &j.file, &public, &ord, &path, &seq, &part); err != nil {
			return err
		}
		if j.group = index.Hash(strconv.FormatInt(j.eid, 10), native); global == 0 {
			j.group ^= j.conversation << 20 // such ids are only compared inside a conversation
		}
		j.event, j.global, j.first = seq, global > 0, global == 1
		j.prefer = []int64{write.Flag(verdict == schema.Counted), write.Flag(j.first), write.Flag(j.newest), rank}
		j.place = []any{public, ord, path, -seq, part}
		if j.global {
			j.place = []any{path, ord, public, -seq, part}
		}
		rows = append(rows, j)
		return nil
	})
	return rows, err
}

// countFirst makes the first event of a group count, and sets the verdicts of the others. It collects the transcripts whose
// counts change.
func (c *Changes) countFirst(group []duplicate, moved map[int64]bool) error {
	first, some := group[0], false
	_, fresh := c.changed[first.transcript] // its rows may be new, and count from the start
	for _, j := range group {
		verdict := schema.Duplicate
		switch {
		case j.was == schema.Uncounted: // what is no event, or no longer one
			continue
		case j.transcript == first.transcript && (j.global || j.event == first.event):
			verdict = schema.Counted // another part of the same event, another event of the same entry
		case j.conversation != first.conversation:
			verdict, some = schema.CopiedHistory, some || fresh
		}
		if verdict == j.was {
			continue
		}
		moved[j.transcript], some = true, true
		if err := c.Exec("UPDATE events SET verdict = ? WHERE id = ?", verdict, j.id); err != nil {
			return err
		}
	}
	for _, j := range group {
		if some {
			c.copying[j.transcript] = true
		}
	}
	return nil
}

func (c *Changes) recountAll(transcripts map[int64]bool) error {
	for _, id := range write.Sorted(transcripts) {
		if err := c.recount(id); err != nil {
			return err
		}
	}
	return nil
}

// recount recomputes the counters of a transcript.
func (c *Changes) recount(transcript int64) error {
	return c.Exec(`UPDATE transcripts SET
		events = (SELECT count(*) FROM events WHERE transcript = ?1 AND part = 0 AND verdict = 0),
		messages = (SELECT count(DISTINCT e.seq) FROM events e WHERE transcript = ?1 AND verdict = 0 AND scene IN (SELECT s.id FROM names k CROSS JOIN scenes s ON s.kind = k.id WHERE k.name = 'message')),
		calls = (SELECT count(*) FROM events e CROSS JOIN calls c ON c.event = e.id WHERE e.transcript = ?1 AND c.verdict = 0 AND e.verdict = 0),
		results = (SELECT count(*) FROM events e CROSS JOIN results r ON r.event = e.id WHERE e.transcript = ?1 AND e.verdict = 0)
		WHERE id = ?1`, transcript)
}
