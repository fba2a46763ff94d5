package words

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

func writeBulk(x *write.Tx, rows []write.Row, memory int) error {
	b := Start(nil)
	defer b.Close()
	<-b.filled
	b.rest, b.memory = rows, memory
	b.fill()
	return b.each(segments{x}.add)
}

// TestSegmentBytes compares segments with those that FTS5 makes of the same rows: they are the same to the byte.
func TestSegmentBytes(t *testing.T) {
	for name, rows := range map[string][]write.Row{
		"mixed": newCorpus(1, 4000).rows(4000),
		"few":   newCorpus(2, 50).rows(3000),
		"one":   newCorpus(3, 10).rows(1),
		"long":  longDoclists(),
	} {
		t.Run(name, func(t *testing.T) {
			native, segments := newIndex(t), newIndex(t)
			writetest.In(t, native.w, func(x *write.Tx) error { return writeNative(x, rows) })
			writetest.In(t, segments.w, func(x *write.Tx) error { return writeBulk(x, rows, bulkMemory) })
			for _, q := range []string{
				"SELECT id, block FROM fts_data WHERE id <> 10 ORDER BY id",
				"SELECT * FROM fts_idx ORDER BY segid, term",
				"SELECT * FROM fts_docsize ORDER BY id",
			} {
				writetest.Same(t, q, writetest.Dump(t, segments.w.DB, q), writetest.Dump(t, native.w.DB, q))
			}
			writetest.Same(t, "structure", structureOf(t, segments), structureOf(t, native))
			mustExec(t, segments, "INSERT INTO fts (fts) VALUES ('integrity-check')")
		})
	}
}

// TestColumns compares the pages of a table of two columns, in either of which a row or a term may be missing.
func TestColumns(t *testing.T) {
	db, c, b := newIndex(t), newCorpus(5, 300), fts5.NewBuilder(2)
	mustExec(t, db, `CREATE VIRTUAL TABLE two USING fts5 (a, b, content='', contentless_delete=1, tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_{|}~'")`)
	mustExec(t, db, "INSERT INTO two (two, rank) VALUES ('hashsize', 67108864)")
	writetest.In(t, db.w, func(x *write.Tx) error {
		words := c.terms[0]
		for id := range int64(2000) {
			texts := [2]string{c.text(c.IntN(3) * c.IntN(40)), c.text(c.IntN(3) * c.IntN(40))}
			if err := b.Add(id, words.Words(), words.Append(nil, []byte(texts[0])), words.Append(nil, []byte(texts[1]))); err != nil {
				return err
			}
			if err := x.ExecDirect("INSERT INTO two (rowid, a, b) VALUES (?, ?, ?)", id, texts[0], texts[1]); err != nil {
				return err
			}
		}
		return nil
	})
	var pages blocks
	if _, err := b.Write(&pages); err != nil {
		t.Fatal(err)
	}
	writetest.Same(t, "pages", pages, writetest.Dump(t, db.w.DB, "SELECT id, block FROM two_data WHERE id > 10 ORDER BY id"))
}

// blocks are the pages of a first segment, as dump gives them.
type blocks []string

func (b *blocks) Page(id int64, data []byte) error {
	*b = append(*b, fmt.Sprintf("[%x %x]", fts5.PageID(1, id), data))
	return nil
}

func (b *blocks) Separator([]byte, int64) error { return nil }

func structureOf(t *testing.T, db *testIndex) (all []string) {
	t.Helper()
	writetest.In(t, db.w, func(x *write.Tx) error {
		s, err := segments{x}.structure()
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
func longDoclists() []write.Row {
	c := newCorpus(4, 5)
	var rows []write.Row
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
	db, b := newIndex(t), fts5.NewBuilder(1)
	mustExec(t, db, "CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'fts', 'row')")
	for i := range 256 {
		term := string([]byte{'a', byte(i), 'z'})
		mustExec(t, db, "DELETE FROM fts WHERE rowid = 1")
		mustExec(t, db, "INSERT INTO fts (rowid, t) VALUES (1, ?)", term)
		kept := slices.Equal(writetest.Dump(t, db.w.DB, "SELECT CAST(term AS BLOB) FROM temp.v"), []string{fmt.Sprintf("[%x]", term)})
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

// TestSegmentBesideMerge adds and deletes while FTS5 is in the middle of a merge, and tidies up after that: also when
// FTS5 itself would not go on, because another level has as many segments, but not enough to be merged.
func TestSegmentBesideMerge(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		seed := seedtest.Seed(t)
		m := &model{T: t, corpus: newCorpus(seed, 2000), native: newIndex(t), mixed: newIndex(t), steps: []string{fmt.Sprint(seed)}}
		m.vocabulary()
		for range 3 {
			m.commit("bulk", 100+m.IntN(100))
		}
		mustExec(t, m.mixed, "INSERT INTO fts (fts, rank) VALUES ('usermerge', 2)")
		mustExec(t, m.mixed, "INSERT INTO fts (fts, rank) VALUES ('merge', 1)")
		mustExec(t, m.mixed, "INSERT INTO fts (fts, rank) VALUES ('usermerge', 4)")
		m.merging(true)
		if stuck {
			writetest.In(t, m.mixed.w, func(x *write.Tx) error {
				s, err := segments{x}.structure()
				if err != nil {
					return err
				}
				s.Levels = slices.Insert(s.Levels, 0, fts5.Level{})
				if err := (segments{x}).putRecord(fts5.StructureID, s.Encode()); err != nil {
					return err
				}
				return segments{x}.forget()
			})
		}
		for _, n := range []int{20, 15, 10} {
			m.commit("bulk", n)
			if !stuck { // FTS5 takes up a level again of which much is deleted
				m.delete()
			}
		}
		m.compare()
		if err := m.mixed.tidy(); err != nil {
			t.Fatal(err)
		}
		m.compare()
		m.merging(false)
	}
}

// TestTidy keeps adding, and looks how many segments there are and what is written for that.
func TestTidy(t *testing.T) {
	m := &model{T: t, corpus: newCorpus(7, 300), native: newIndex(t), mixed: newIndex(t)}
	m.vocabulary()
	for range 40 {
		m.commit("bulk", 1+m.IntN(40))
		if err := m.mixed.tidy(); err != nil {
			t.Fatal(err)
		}
		if all := structureOf(t, m.mixed); len(all) > Kept+2 {
			t.Fatalf("%d segments: %q", len(all), all)
		}
	}
	m.compare()
	for _, id := range m.ids {
		m.both("DELETE FROM fts WHERE rowid = ?", id)
	}
	if err := m.mixed.tidy(); err != nil {
		t.Fatal(err)
	}
	if all := structureOf(t, m.mixed); len(all) > 0 {
		t.Errorf("segments of rows that are gone: %q", all)
	}
	m.compare()
}

// TestMergeTakesItsRoom: what a merge writes stands where its inputs stood, so the file does not grow by it.
func TestMergeTakesItsRoom(t *testing.T) {
	m := &model{T: t, corpus: newCorpus(8, 3000), native: newIndex(t), mixed: newIndex(t)}
	m.vocabulary()
	for range Kept + 1 {
		m.commit("bulk", 150)
	}
	pages := func() (n int) {
		if err := m.mixed.w.Get(&n, "PRAGMA page_count"); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before, segments := pages(), len(structureOf(t, m.mixed))
	if err := m.mixed.tidy(); err != nil {
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
		got := fragmented(all)
		if len(got) != c.upTo-c.from || len(got) > 0 && got[0].ID != c.from {
			t.Errorf("%v: %v", c.pages, got)
		}
	}
}
