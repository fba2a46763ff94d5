package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// inTx runs f in a committed transaction.
func inTx(t testing.TB, db *DB, f func(*tx) error) {
	t.Helper()
	x, err := db.begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Rollback()
	if err := f(x); err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(); err != nil {
		t.Fatal(err)
	}
}

func writeNative(x *tx, rows []pendingRow) error { return (&commit{tx: x, rows: rows}).writeWords() }

func writeBulk(x *tx, rows []pendingRow, memory int) error {
	b := startBulk(nil)
	defer b.close()
	<-b.filled
	b.rows, b.memory = rows, memory
	b.fill()
	return b.each(x.addSegment)
}

// dump gives the rows of a query, one string each.
func dump(t testing.TB, db *sqlx.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.Queryx(query, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", query, args, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		values, err := rows.SliceScan()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%x", values))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s %q: %v", query, args, err)
	}
	return out
}

func mustExec(t testing.TB, db *DB, query string, args ...any) {
	t.Helper()
	if _, err := db.w.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s differs at %d of %d, %d:\ngot  %.400s\nwant %.400s", what, i, len(got), len(want), got[i], want[i])
		}
	}
	t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
}

// TestSegmentBytes compares segments with those that FTS5 makes of the same rows: they are the same to the byte.
func TestSegmentBytes(t *testing.T) {
	for name, rows := range map[string][]pendingRow{
		"mixed": newCorpus(1, 4000).rows(4000),
		"few":   newCorpus(2, 50).rows(3000),
		"one":   newCorpus(3, 10).rows(1),
		"long":  longDoclists(),
	} {
		t.Run(name, func(t *testing.T) {
			native, segments := newDB(t), newDB(t)
			inTx(t, native, func(x *tx) error { return writeNative(x, rows) })
			inTx(t, segments, func(x *tx) error { return writeBulk(x, rows, bulkMemory) })
			for _, q := range []string{
				"SELECT id, block FROM fts_data WHERE id <> 10 ORDER BY id",
				"SELECT * FROM fts_idx ORDER BY segid, term",
				"SELECT * FROM fts_docsize ORDER BY id",
			} {
				same(t, q, dump(t, segments.w, q), dump(t, native.w, q))
			}
			same(t, "structure", structureOf(t, segments), structureOf(t, native))
			mustExec(t, segments, "INSERT INTO fts (fts) VALUES ('integrity-check')")
		})
	}
}

// TestColumns compares the pages of a table of two columns, in either of which a row or a term may be missing.
func TestColumns(t *testing.T) {
	db, c, b := newDB(t), newCorpus(5, 300), fts5.NewBuilder(2)
	mustExec(t, db, `CREATE VIRTUAL TABLE two USING fts5 (a, b, content='', contentless_delete=1, tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_{|}~'")`)
	mustExec(t, db, "INSERT INTO two (two, rank) VALUES ('hashsize', 67108864)")
	inTx(t, db, func(x *tx) error {
		words := c.terms[0]
		for id := range int64(2000) {
			texts := [2]string{c.text(c.IntN(3) * c.IntN(40)), c.text(c.IntN(3) * c.IntN(40))}
			if err := b.Add(id, words.Words(), words.Add(nil, []byte(texts[0])), words.Add(nil, []byte(texts[1]))); err != nil {
				return err
			}
			if _, err := x.put("INSERT INTO two (rowid, a, b) VALUES (?, ?, ?)", id, texts[0], texts[1]); err != nil {
				return err
			}
		}
		return nil
	})
	var pages blocks
	if _, err := b.Write(&pages); err != nil {
		t.Fatal(err)
	}
	same(t, "pages", pages, dump(t, db.w, "SELECT id, block FROM two_data WHERE id > 10 ORDER BY id"))
}

// blocks are the pages of a first segment, as dump gives them.
type blocks []string

func (b *blocks) Page(id int64, data []byte) error {
	*b = append(*b, fmt.Sprintf("[%x %x]", fts5.PageID(1, id), data))
	return nil
}

func (b *blocks) Separator([]byte, int64) error { return nil }

func structureOf(t *testing.T, db *DB) (all []string) {
	t.Helper()
	inTx(t, db, func(x *tx) error {
		s, err := x.structure()
		if err == nil {
			for _, g := range s.All() {
				all = append(all, fmt.Sprintf("%+v", g))
			}
		}
		return err
	})
	return all
}

// longDoclists gives one term whose doclist index has several levels, and position lists longer than a page.
func longDoclists() []pendingRow {
	c := newCorpus(4, 5)
	var rows []pendingRow
	for i := range 1500 {
		long := strings.Repeat("a ", 2050+120000/(i+1)) + strings.Repeat("b ", i%500)
		rows = append(rows, c.row(int64(i)<<40, strings.TrimSuffix(long, " "), ":kind:message"))
	}
	for i := range 20000 {
		short := "d"
		if i%7 == 0 {
			short = "d d " + strings.Repeat("f", 1+i%30)
		}
		rows = append(rows, c.row(1500<<40+int64(i)<<24, short, "e"))
	}
	return rows
}

// TestTerms asks FTS5 of every byte whether it leaves a term alone that has it; the builder takes those and no others.
func TestTerms(t *testing.T) {
	db, b := newDB(t), fts5.NewBuilder(1)
	mustExec(t, db, "CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'fts', 'row')")
	for i := range 256 {
		term := string([]byte{'a', byte(i), 'z'})
		mustExec(t, db, "DELETE FROM fts WHERE rowid = 1")
		mustExec(t, db, "INSERT INTO fts (rowid, t) VALUES (1, ?)", term)
		kept := slices.Equal(dump(t, db.w, "SELECT CAST(term AS BLOB) FROM temp.v"), []string{fmt.Sprintf("[%x]", term)})
		if err := arrange(b, term); (err == nil) != kept {
			t.Errorf("byte %#x: FTS5 keeps the term: %v; builder: %v", i, kept, err)
		}
	}
	for _, bad := range []string{"", strings.Repeat("a", 32769)} {
		if err := arrange(b, bad); !errors.Is(err, fts5.ErrTerm) {
			t.Errorf("term of %d bytes: %v", len(bad), err)
		}
	}
}

// arrange makes a segment of one term.
func arrange(b *fts5.Builder, term string) error {
	b.Reset()
	if err := b.Add(1, oneWord(term), []uint32{0}); err != nil {
		return err
	}
	return b.Arrange()
}

type oneWord string

func (w oneWord) Len() int         { return 1 }
func (w oneWord) At(uint32) []byte { return []byte(w) }

// TestSegmentModel runs random sequences of commits, deletes and merges on an index that FTS5 makes alone and on one
// that also gets segments, and compares what they answer.
func TestSegmentModel(t *testing.T) {
	for range 2 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &model{T: t, corpus: newCorpus(seed, 600), native: newDB(t), mixed: newDB(t)}
			m.vocabulary()
			for range 35 {
				m.step()
			}
			m.compare()
			m.reopen()
			m.compare()
			m.both("INSERT INTO fts (fts) VALUES ('optimize')")
			m.compare()
		})
	}
}

type model struct {
	*testing.T
	*corpus
	native, mixed *DB
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
		if err := m.mixed.Tidy(m.Context()); err != nil {
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
		m.ids = append(m.ids, r.id)
	}
	inTx(m.T, m.native, func(x *tx) error { return writeNative(x, rows) })
	inTx(m.T, m.mixed, func(x *tx) error {
		switch kind {
		case "native":
			return writeNative(x, rows)
		case "bulk":
			return writeBulk(x, rows, 60000+m.IntN(400000))
		}
		for len(rows) > 0 { // in turns, with a delete between
			some := rows[:1+m.IntN(len(rows))]
			rows = rows[len(some):]
			write := writeNative
			if m.IntN(2) == 0 {
				write = func(x *tx, rows []pendingRow) error { return writeBulk(x, rows, bulkMemory) }
			}
			if err := write(x, some); err != nil {
				return err
			}
			if m.IntN(3) == 0 {
				id := some[0].id
				if _, err := x.exec("DELETE FROM fts WHERE rowid = ?", id); err != nil {
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

func words(r pendingRow, numbers []uint32) string { return string(r.words.Append(nil, numbers)) }

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
	inTx(m.T, m.mixed, func(x *tx) error {
		s, err := x.structure()
		all := s.All()
		if err != nil || s.Merging() || len(all) == 0 {
			return err
		}
		i := m.IntN(len(all))
		n := 1 + m.IntN(len(all)-i)
		m.steps = append(m.steps, fmt.Sprintf("merge %+v of %d", all[i:i+n], len(all)))
		return x.mergeSegments(s, all[i:i+n])
	})
}

// rollback leaves half a segment behind, which must leave no trace, not even in what FTS5 remembers.
func (m *model) rollback() {
	m.steps = append(m.steps, "rollback")
	x, err := m.mixed.begin(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	rows := newCorpus(m.Uint64(), 100).rows(50)
	for i := range rows {
		rows[i].id += 1 << 60
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
	for _, db := range []**DB{&m.native, &m.mixed} {
		again, err := Open(m.Context(), (*db).path, Options{})
		if err != nil {
			m.Fatal(err)
		}
		m.Cleanup(func() { again.Close() })
		*db = again
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
		same(m.T, q, dump(m.T, m.mixed.w, q), dump(m.T, m.native.w, q))
	}
	for range 15 {
		q := m.query()
		for _, sql := range []string{"SELECT rowid, bm25(fts) FROM fts WHERE fts MATCH ? ORDER BY rowid",
			"SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC LIMIT 20"} {
			want := dump(m.T, m.native.w, sql, q)
			same(m.T, q, dump(m.T, m.mixed.w, sql, q), want)
			same(m.T, q+" read elsewhere", dump(m.T, m.mixed.r, sql, q), want)
		}
	}
	m.sound()
}

// sound checks what FTS5 relies on without checking it itself.
func (m *model) sound() {
	m.Helper()
	inTx(m.T, m.mixed, func(x *tx) error {
		s, err := x.structure()
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
		_, err = x.get("SELECT count(*) FROM fts_data WHERE id > 10 AND id < 1 << 53 AND (id >> 31) & 63 = 0", nil, &stored)
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

// TestSegmentBesideMerge adds and deletes while FTS5 is in the middle of a merge, and tidies up after that: also when
// FTS5 itself would not go on, because another level has as many segments, but not enough to be merged.
func TestSegmentBesideMerge(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		seed := rand.Uint64()
		m := &model{T: t, corpus: newCorpus(seed, 2000), native: newDB(t), mixed: newDB(t), steps: []string{fmt.Sprint(seed)}}
		m.vocabulary()
		for range 3 {
			m.commit("bulk", 100+m.IntN(100))
		}
		mustExec(t, m.mixed, "INSERT INTO fts (fts, rank) VALUES ('usermerge', 2)")
		mustExec(t, m.mixed, "INSERT INTO fts (fts, rank) VALUES ('merge', 1)")
		mustExec(t, m.mixed, "INSERT INTO fts (fts, rank) VALUES ('usermerge', 4)")
		m.merging(true)
		if stuck {
			inTx(t, m.mixed, func(x *tx) error {
				s, err := x.structure()
				if err != nil {
					return err
				}
				s.Levels = slices.Insert(s.Levels, 0, fts5.Level{})
				if err := x.putRecord(fts5.StructureID, s.Encode()); err != nil {
					return err
				}
				return x.forgetFTS()
			})
		}
		for _, n := range []int{20, 15, 10} {
			m.commit("bulk", n)
			if !stuck { // FTS5 takes up a level again of which much is deleted
				m.delete()
			}
		}
		m.compare()
		if err := m.mixed.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.compare()
		m.merging(false)
	}
}

func (m *model) merging(want bool) {
	m.Helper()
	inTx(m.T, m.mixed, func(x *tx) error {
		s, err := x.structure()
		if err == nil && s.Merging() != want {
			m.Fatalf("merging is %v: %+v", !want, s)
		}
		return err
	})
}

// TestTidy keeps adding, and looks how many segments there are and what is written for that.
func TestTidy(t *testing.T) {
	m := &model{T: t, corpus: newCorpus(7, 300), native: newDB(t), mixed: newDB(t)}
	m.vocabulary()
	for range 40 {
		m.commit("bulk", 1+m.IntN(40))
		if err := m.mixed.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all := structureOf(t, m.mixed); len(all) > segmentsKept+2 {
			t.Fatalf("%d segments: %q", len(all), all)
		}
	}
	m.compare()
	for _, id := range m.ids {
		m.both("DELETE FROM fts WHERE rowid = ?", id)
	}
	if err := m.mixed.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := structureOf(t, m.mixed); len(all) > 0 {
		t.Errorf("segments of rows that are gone: %q", all)
	}
	m.compare()
}

// TestMergeTakesItsRoom: what a merge writes stands where its inputs stood, so the file does not grow by it.
func TestMergeTakesItsRoom(t *testing.T) {
	m := &model{T: t, corpus: newCorpus(8, 3000), native: newDB(t), mixed: newDB(t)}
	m.vocabulary()
	for range segmentsKept + 1 {
		m.commit("bulk", 150)
	}
	pages := func() (n int) {
		if err := m.mixed.w.Get(&n, "PRAGMA page_count"); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before, segments := pages(), len(structureOf(t, m.mixed))
	if err := m.mixed.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(structureOf(t, m.mixed)); n >= segments {
		t.Fatalf("%d segments of %d: nothing was merged", n, segments)
	}
	if after := pages(); after > before+before/20 {
		t.Errorf("%d pages, %d before the merge", after, before)
	}
	m.compare()
}

func TestDueMerge(t *testing.T) {
	for _, c := range []struct {
		pages      []int
		from, upTo int
	}{
		{[]int{1, 1, 1, 1, 1, 1, 1, 1}, 0, 0},
		{[]int{9, 1, 1, 1, 1, 1, 1, 1, 1}, 1, 9},
		{[]int{9000, 9000, 9000, 9000, 800, 700, 600, 500, 1}, 5, 9},
		{[]int{9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 1}, 5, 9},
		{[]int{256, 128, 64, 32, 16, 8, 4, 2, 1}, 0, 0},
		{[]int{17000, 17000, 17000, 17000, 17000, 17000, 17000, 17000, 1, 1}, 0, 0},
	} {
		var all []fts5.Segment
		for i, n := range c.pages {
			all = append(all, fts5.Segment{ID: i, First: 1, Last: n, TotalRow: 10, TombstoneRows: 4})
		}
		got := dueMerge(all, 8)
		if c.upTo == 0 && got != nil || len(got) != c.upTo-c.from || len(got) > 0 && got[0].ID != c.from {
			t.Errorf("%v: %v", c.pages, got)
		}
	}
	if got := dueMerge([]fts5.Segment{{First: 1, Last: 1}, {ID: 7, First: 1, Last: 1, TotalRow: 10, TombstoneRows: 5}}, 8); len(got) != 1 || got[0].ID != 7 {
		t.Errorf("of half deleted: %v", got)
	}
}

// TestSpoilt: pages of segments, those with deleted rows negative.
func TestSpoilt(t *testing.T) {
	for _, c := range []struct {
		pages      []int
		from, upTo int
	}{
		{[]int{5, 5}, 0, 0},
		{[]int{5, -5, -5, 5, -5}, 1, 3},
		{[]int{-mergePages * 2, -1}, 0, 1},
		{[]int{mergePages, -mergePages, -1}, 1, 2},
		{[]int{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, 0, mergeRun},
	} {
		var all []fts5.Segment
		for i, n := range c.pages {
			g := fts5.Segment{ID: i, First: 1, Last: max(n, -n)}
			if n < 0 {
				g.TombstoneRows = 1
			}
			all = append(all, g)
		}
		got := spoilt(all)
		if len(got) != c.upTo-c.from || len(got) > 0 && got[0].ID != c.from {
			t.Errorf("%v: %v", c.pages, got)
		}
	}
}
