package words

import (
	"fmt"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestSegmentModel runs random sequences of commits, deletes and merges on an index that FTS5 makes alone and on one
// that also gets segments, and compares what they answer. A soak repeats it.
func TestSegmentModel(t *testing.T) {
	m := &model{T: t, corpus: newCorpus(seedtest.Seed(t), 600), native: newIndex(t), mixed: newIndex(t)}
	m.vocabulary()
	for range 25 {
		m.step()
	}
	m.compare()
	m.reopen()
	m.compare()
	m.both("INSERT INTO fts (fts) VALUES ('optimize')")
	m.compare()
}

type model struct {
	*testing.T
	*corpus
	native, mixed *testIndex
	ids           []int64
	steps         []string
}

func (m *model) step() {
	switch n := m.IntN(22); {
	case n < 4:
		m.commit("native", 1+m.IntN(60))
	case n < 9:
		m.commit("bulk", 1+m.IntN(300))
	case n == 9:
		m.commit("both", 1+m.IntN(100))
	case n < 13:
		m.delete()
	case n == 13:
		m.compare()
	case n == 14:
		m.steps = append(m.steps, "merge")
		mustExec(m.T, m.mixed, "INSERT INTO fts (fts, rank) VALUES ('merge', ?)", 1+m.IntN(200))
	case n == 15:
		if m.IntN(3) == 0 {
			m.steps = append(m.steps, "optimize")
			mustExec(m.T, m.mixed, "INSERT INTO fts (fts) VALUES ('optimize')")
		}
	case n == 16:
		m.steps = append(m.steps, "tidy")
		if err := m.mixed.tidy(); err != nil {
			m.Fatal(m.steps, err)
		}
	case n < 20:
		m.mergeSome()
	default:
		m.rollback()
	}
}

// commit writes rows to both, to mixed as kind says.
func (m *model) commit(kind string, n int) {
	m.steps = append(m.steps, kind)
	rows := m.rows(n)
	for _, r := range rows {
		m.ids = append(m.ids, r.ID)
	}
	writetest.In(m.T, m.native.w, func(x *write.Tx) error { return writeNative(x, rows) })
	writetest.In(m.T, m.mixed.w, func(x *write.Tx) error {
		switch kind {
		case "native":
			return writeNative(x, rows)
		case "bulk":
			return writeBulk(x, rows, 60000+m.IntN(400000))
		}
		for len(rows) > 0 { // in turns, with a delete between
			some := rows[:1+m.IntN(len(rows))]
			rows = rows[len(some):]
			put := writeNative
			if m.IntN(2) == 0 {
				put = func(x *write.Tx, rows []write.Row) error { return writeBulk(x, rows, bulkMemory) }
			}
			if err := put(x, some); err != nil {
				return err
			}
			if m.IntN(3) == 0 {
				id := some[0].ID
				if err := x.Exec("DELETE FROM fts WHERE rowid = ?", id); err != nil {
					return err
				}
				mustExec(m.T, m.native, "DELETE FROM fts WHERE rowid = ?", id)
			}
		}
		return nil
	})
}

func (m *model) both(query string, args ...any) {
	mustExec(m.T, m.native, query, args...)
	mustExec(m.T, m.mixed, query, args...)
}

func words(r write.Row, numbers []uint32) string { return string(r.Words.Append(nil, numbers)) }

func (m *model) delete() {
	m.steps = append(m.steps, "delete")
	for range min(1+m.IntN(100), len(m.ids)) {
		i := m.IntN(len(m.ids))
		m.both("DELETE FROM fts WHERE rowid = ?", m.ids[i])
		if m.IntN(4) == 0 { // the row comes again, as after a rewrite
			r := m.rows(1)[0]
			m.both("INSERT INTO fts (rowid, t) VALUES (?, ?)", m.ids[i], words(r, r.T))
			continue
		}
		m.ids = slices.Delete(m.ids, i, i+1)
	}
}

// mergeSome merges any run of segments.
func (m *model) mergeSome() {
	writetest.In(m.T, m.mixed.w, func(x *write.Tx) error {
		s, err := segments{x}.structure()
		all := s.All()
		if err != nil || s.Merging() || len(all) == 0 {
			return err
		}
		i := m.IntN(len(all))
		n := 1 + m.IntN(len(all)-i)
		m.steps = append(m.steps, fmt.Sprintf("merge %+v of %d", all[i:i+n], len(all)))
		return segments{x}.replace(s, all[i:i+n])
	})
}

// rollback leaves half a segment behind, which must leave no trace, not even in what FTS5 remembers.
func (m *model) rollback() {
	m.steps = append(m.steps, "rollback")
	x, err := m.mixed.w.Begin(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	rows := newCorpus(m.Uint64(), 100).rows(50)
	for i := range rows {
		rows[i].ID += 1 << 60
	}
	if err := writeBulk(x, rows, bulkMemory); err != nil {
		m.Fatal(err)
	}
	if err := x.Rollback(); err != nil {
		m.Fatal(err)
	}
}

func (m *model) vocabulary() {
	for _, kind := range []string{"row", "col", "instance"} {
		m.both("CREATE VIRTUAL TABLE temp.v_" + kind + " USING fts5vocab('main', 'fts', '" + kind + "')")
	}
}

func (m *model) reopen() {
	for _, db := range []**testIndex{&m.native, &m.mixed} {
		w := writetest.Open(m, (*db).path)
		*db = &testIndex{w, writetest.Open(m, (*db).path).DB, (*db).path}
	}
	m.vocabulary()
}

func (m *model) compare() {
	m.Helper()
	defer func() {
		if m.Failed() {
			m.Log(m.steps)
		}
	}()
	mustExec(m.T, m.mixed, "INSERT INTO fts (fts) VALUES ('integrity-check')")
	for _, q := range []string{"SELECT * FROM temp.v_row", "SELECT * FROM temp.v_col", "SELECT * FROM temp.v_instance",
		"SELECT id, sz FROM fts_docsize ORDER BY id", "SELECT block FROM fts_data WHERE id = 1"} {
		writetest.Same(m.T, q, writetest.Dump(m.T, m.mixed.w.DB, q), writetest.Dump(m.T, m.native.w.DB, q))
	}
	for range 15 {
		q := m.query()
		for _, sql := range []string{"SELECT rowid, bm25(fts) FROM fts WHERE fts MATCH ? ORDER BY rowid",
			"SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC LIMIT 20"} {
			want := writetest.Dump(m.T, m.native.w.DB, sql, q)
			writetest.Same(m.T, q, writetest.Dump(m.T, m.mixed.w.DB, sql, q), want)
			writetest.Same(m.T, q+" read elsewhere", writetest.Dump(m.T, m.mixed.r, sql, q), want)
		}
	}
	m.sound()
}

// sound checks what FTS5 relies on without checking it itself.
func (m *model) sound() {
	m.Helper()
	writetest.In(m.T, m.mixed.w, func(x *write.Tx) error {
		s, err := segments{x}.structure()
		if err != nil {
			return err
		}
		last, pages := uint64(0), int64(0)
		for _, g := range s.All() {
			if g.Origin1 <= last && !s.Merging() || g.Origin2 < g.Origin1 {
				m.Errorf("origins do not ascend: %+v", s)
			}
			last = g.Origin2
			pages += int64(g.Pages())
		}
		var stored int64
		_, err = x.Get("SELECT count(*) FROM fts_data WHERE id > 10 AND id < 1 << 53 AND (id >> 31) & 63 = 0", nil, &stored)
		if stored != pages {
			m.Errorf("%d leaves are stored, the structure has %d", stored, pages)
		}
		return err
	})
	var ghosts int
	if err := m.mixed.w.Get(&ghosts, "SELECT count(*) FROM fts_idx WHERE segid NOT IN (SELECT id >> 37 FROM fts_data WHERE id > 10)"); err != nil || ghosts > 0 {
		m.Errorf("%d separators of no segment, %v", ghosts, err)
	}
}

func (m *model) merging(want bool) {
	m.Helper()
	writetest.In(m.T, m.mixed.w, func(x *write.Tx) error {
		s, err := segments{x}.structure()
		if err == nil && s.Merging() != want {
			m.Fatalf("merging is %v: %+v", !want, s)
		}
		return err
	})
}
