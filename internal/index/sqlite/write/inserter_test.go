package write_test

import (
	"context"
	"errors"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
)

// TestInsertCancelled ends the context between rows: nothing of the transaction stays, and the next one goes on.
func TestInsertCancelled(t *testing.T) {
	w, _ := writetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x, err := w.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b := x.Inserter("OR FAIL INTO names", "id, name")
	for i := range 1000 { // several statements
		if i == 777 {
			cancel()
		}
		if err = b.Add(1000+i, string(rune(0x4e00+i))); err != nil {
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
	writetest.In(t, w, func(x *write.Tx) error {
		b := x.Inserter("OR FAIL INTO names", "id, name")
		if err := b.Add(1, struct{}{}); err == nil {
			t.Error("a value that is none")
		}
		return errors.Join(b.Add(5000, "one"), b.Flush())
	})
	writetest.Same(t, "names", writetest.Dump(t, w.DB, "SELECT id FROM names WHERE id >= 1000"), []string{"[1388]"})
}
