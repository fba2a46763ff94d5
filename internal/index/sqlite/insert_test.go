package sqlite

import (
	"context"
	"errors"
	"testing"
)

// TestInsertCancelled ends the context between rows: nothing of the transaction stays, and the next one goes on.
func TestInsertCancelled(t *testing.T) {
	db := newDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x, err := db.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b := inserter{t: x, into: "OR FAIL INTO names", columns: columnList("id, name")}
	for i := range 3 * insertRows {
		if i == 2*insertRows+7 {
			cancel()
		}
		if err = b.add(1000+i, string(rune(0x4e00+i))); err != nil {
			break
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a row after the end: %v", err)
	}
	if err := x.Rollback(); err != nil {
		t.Error(err)
	}
	if err := x.Rollback(); err == nil {
		t.Error("a transaction ended twice")
	}
	inTx(t, db, func(x *tx) error {
		b := inserter{t: x, into: "OR FAIL INTO names", columns: columnList("id, name")}
		if err := b.add(1, struct{}{}); err == nil {
			t.Error("a value that is none")
		}
		return errors.Join(b.add(5000, "one"), b.flush())
	})
	same(t, "names", dump(t, db.r, "SELECT id FROM names WHERE id >= 1000"), []string{"[1388]"})
}

// TestUsualValues compares what inserters leave out with the defaults of the schema.
func TestUsualValues(t *testing.T) {
	db := newDB(t)
	for table, list := range map[string]string{"events": eventColumns, "calls": callColumns, "results": resultColumns, "usage": usageFields} {
		c := columnList(list)
		for i, name := range c.names {
			var defaults *int64
			if err := db.r.Get(&defaults, "SELECT CAST(dflt_value AS INTEGER) FROM pragma_table_info(?) WHERE name = ?", table, name); err != nil {
				t.Fatalf("%s.%s: %v", table, name, err)
			}
			if n, ok := c.defaults[i].(int64); ok != (defaults != nil) || ok && n != *defaults {
				t.Errorf("%s.%s: left out for %v, the default is %v", table, name, c.defaults[i], defaults)
			}
		}
	}
}
