package resolve

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// What is stated twice: events with one id in a shared conversation, calls with one key in a run, requests with one key
// anywhere, receipts and steps with one key in a run. In each group exactly one row counts, and which one does not depend on
// the order in which they came.

// duplicate is one row of such a group.
type duplicate struct {
	id, group    int64
	transcript   int64
	conversation int64
	newest       bool // no newer version of its file is there
	global       bool // of an event: all events of a transcript with this id are one entry
	first        bool // it says that the event was first written here
	eid          int64
	event        int64 // seq, which the parts of one event share
	others       bool  // there are rows with the id that do not count
	was          int
	file, number int64   // whose version it stands in, where several may have it
	prefer       []int64 // larger is better, compared in turn
	place        []any   // ties: smaller is better
}

func byPreference(a, b duplicate) int {
	for i := range a.prefer {
		if n := cmp.Compare(b.prefer[i], a.prefer[i]); n != 0 {
			return n
		}
	}
	for i := range a.place {
		switch x := a.place[i].(type) {
		case string:
			if n := cmp.Compare(x, b.place[i].(string)); n != 0 {
				return n
			}
		case int64:
			if n := cmp.Compare(x, b.place[i].(int64)); n != 0 {
				return n
			}
		}
	}
	return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.id, b.id)) // all else is the same only in versions of one file
}

// groups calls judge for every run of rows with one group id, best first. Of versions of one file the last that has a row is
// preferred. Version numbers of different files are not compared: how often a file was archived says nothing about its rows.
func groups(rows []duplicate, judge func([]duplicate) error) error {
	type said struct{ group, file int64 }
	last := map[said]int64{}
	for _, j := range rows {
		last[said{j.group, j.file}] = max(last[said{j.group, j.file}], j.number)
	}
	for i, j := range rows {
		rows[i].prefer = append(j.prefer, write.Flag(j.number == last[said{j.group, j.file}]))
	}
	slices.SortFunc(rows, func(a, b duplicate) int {
		if n := cmp.Compare(a.group, b.group); n != 0 {
			return n
		}
		return byPreference(a, b) // rows of two groups need not have the same to compare
	})
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].group == rows[0].group {
			n++
		}
		if err := judge(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// judgeCalls makes one of several calls with one key count, in each touched run that has any, and those of transcripts whose events
// have moved. Most keys have one call, which is left alone if it counts.
func (c *Changes) judgeCalls() error {
	var rows []duplicate
	err := c.Each(`WITH calling AS MATERIALIZED (SELECT id FROM temp.touched_runs
			UNION SELECT n.run FROM temp.moved x CROSS JOIN transcripts t ON t.id = x.id CROSS JOIN run_names n ON n.id = t.run_name)
		SELECT c.event, c.key, c.transcript, c.verdict, t.verdict = 0 AND e.verdict = 0, c.rank, v.conversation_id, t.seq_base + e.seq, e.part
		FROM calling r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN transcripts t ON t.run_name = n.id
		CROSS JOIN calls c ON c.transcript = t.id CROSS JOIN events e ON e.id = c.event CROSS JOIN conversations v ON v.id = t.conversation
		WHERE c.key IS NOT NULL AND (c.verdict <> 0 OR EXISTS (SELECT 1 FROM calls d WHERE d.key = c.key AND d.event <> c.event))`, func(r *sql.Rows) error {
		var j duplicate
		var live, rank, seq, part int64
		var conversation string
		if err := r.Scan(&j.id, &j.group, &j.transcript, &j.was, &live, &rank, &conversation, &seq, &part); err != nil {
			return err
		}
		j.prefer = []int64{live, rank}
		j.place = []any{conversation, seq, part}
		rows = append(rows, j)
		return nil
	})
	if err != nil {
		return err
	}
	changed := map[int64]bool{}
	err = groups(rows, func(group []duplicate) error {
		for i, j := range group {
			verdict := schema.Counted
			if i > 0 {
				verdict = schema.Duplicate
			}
			if verdict == j.was {
				continue
			}
			changed[j.transcript] = true
			if err := c.Exec("UPDATE calls SET verdict = ? WHERE event = ?", verdict, j.id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.recountAll(changed)
}

// judgeReceipts makes one receipt and one step of each key count in each touched run: the highest rank, then the newest
// version, then one that says when it ended: an older copy of a log may have only its start.
func (c *Changes) judgeReceipts() error {
	// What resolvers are not given is left as it was stated: they may have seen it before, when it counted still.
	const unresolved = ", native_conversation = CASE WHEN ?1 = 0 OR stated IS NULL THEN native_conversation ELSE coalesce(stated ->> 'Conversation', '') END"
	for _, table := range []struct{ name, rank, also string }{{"receipts", "0", unresolved}, {"steps", "x.rank", ""}} {
		var rows []duplicate
		err := c.EachBeside(`SELECT x.id, n.run, x.key, x.verdict, `+table.rank+`, v.number = (SELECT max(w.number) FROM versions w WHERE w.file = v.file),
			x.ended IS NOT NULL, v.number, f.id, s.name || '/' || f.path, x.offset FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id CROSS JOIN `+table.name+` x ON x.run_name = n.id
			CROSS JOIN versions v ON v.id = x.version CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source`, func(r *sql.Rows) error {
			var j duplicate
			var run, rank, newest, ended, offset int64
			var key, path string
			if err := r.Scan(&j.id, &run, &key, &j.was, &rank, &newest, &ended, &j.number, &j.file, &path, &offset); err != nil {
				return err
			}
			j.group = groupOf(run, key)
			j.prefer = []int64{rank, newest, ended}
			j.place = []any{path, offset}
			rows = append(rows, j)
			return nil
		})
		if err != nil {
			return err
		}
		err = groups(rows, func(group []duplicate) error {
			for i, j := range group {
				verdict := schema.Counted
				switch {
				case i > 0 && j.prefer[1] == 0:
					verdict = schema.EarlierVersion
				case i > 0:
					verdict = schema.Duplicate
				}
				if verdict == j.was {
					continue
				}
				if err := c.Exec("UPDATE "+table.name+" SET verdict = ?1"+table.also+" WHERE id = ?2", verdict, j.id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// groupOf returns the group of a row with a textual key inside a run.
func groupOf(run int64, key string) int64 { return index.Hash("group", fmt.Sprint(run), key) }
