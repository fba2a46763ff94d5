package sqlite

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestMet gives an index originals that say the same events and requests, from one connection that has met them, and to another
// index from connections that have not: neither what others have written, nor what they have written before they were closed.
func TestMet(t *testing.T) {
	const families = 6
	var batches []index.Batch
	for part := range 3 { // of a family; each tells again what the others have told
		for n := range families {
			o := workFamily(n, false)[part]
			for i := range 3 { // requests that other ones speak for
				o.Records = append(o.Records, &transcript.Usage{Run: fmt.Sprintf("run-%06d", n), Key: fmt.Sprint("key-", (n+part+i)%5), Alias: fmt.Sprint("key-", (n+2*part+i)%7),
					Time: indextest.At(int64(n)), Model: "m", Input: transcript.Known(10), Origin: indextest.Place(i)})
			}
			batches = append(batches, indextest.Batch(fmt.Sprint("met-", part, "-", n), o))
		}
	}
	one, other := newDB(t), newDB(t)
	second, err := Open(t.Context(), other.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for i, b := range batches {
		if err := one.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := []*DB{other, second}[i%2].Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := one.Differences(t.Context(), other, func(problem string) { t.Error(problem) }); err != nil || rows == 0 {
		t.Error(rows, err)
	}
	twice := writetest.Dump(t, one.r, "SELECT (SELECT count(*) FROM events WHERE verdict = 2) > 0, (SELECT count(*) FROM usage WHERE verdict = 1) > 0")
	writetest.Same(t, "told twice", twice, []string{"[1 1]"})
	knows := func(db *DB) (known bool) {
		inTx(t, db, func(x *write.Tx) error {
			m, err := x.Seen()
			known = err == nil && m.Events != nil && m.Usage != nil
			return err
		})
		return known
	}
	if !knows(one) || knows(other) || knows(second) {
		t.Errorf("alone: %v; beside another one: %v, %v", knows(one), knows(other), knows(second))
	}
}

// TestMetWork asks what a batch costs an index that the connection has met whole, and what another one.
func TestMetWork(t *testing.T) {
	of := func(met bool) work {
		db := newDB(t)
		c := countWrites(t, db)
		if err := db.Commit(t.Context(), workBatch(0, 1, false)); err != nil {
			t.Fatal(err)
		}
		if !met {
			other, err := Open(t.Context(), db.Path(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			if err := other.Commit(t.Context(), workBatch(1, 1, false)); err != nil {
				t.Fatal(err)
			}
		}
		return c.of(t, func() error { return db.Commit(t.Context(), workBatch(2, 60, false)) })
	}
	met, unmet := of(true), of(false)
	t.Logf("%v\n%v", met, unmet)
	// Of nine events in ten and of most requests nobody has spoken: of those the index is asked nothing.
	if met.statements >= unmet.statements || 100*met.steps > 97*unmet.steps || 100*met.touched > 97*unmet.touched {
		t.Errorf("what was met costs %v, and %v without", met, unmet)
	}
}
