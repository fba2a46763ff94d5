package pack

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

// TestLibraryBounds: a library keeps some packs open, those in use in addition, and after Close none.
func TestLibraryBounds(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 3)
	for range 2 * openVolumes {
		w.fill(9)
	}
	store := &blobtest.Counted{Store: w.store}
	l := NewLibrary(store, 1<<20)
	first, err := l.View(ctx, w.packs[0].Pack)
	w.check(err)
	last := first.Members[len(first.Members)-1]
	for _, m := range w.packs {
		if _, err := l.ReadRange(ctx, m.Pack, m.Members, 0, 512); err != nil {
			t.Error(err)
		}
	}
	if store.Now != openVolumes+1 {
		t.Errorf("%d packs are open, want %d and the one in use", store.Now, openVolumes)
	}
	if _, err := first.ReadRange(ctx, 0, last.Raw+last.RawSize); err != nil {
		t.Errorf("the pack in use: %v", err)
	}
	w.check(errors.Join(first.Pack.Close(), l.Close()))
	if store.Now != 0 {
		t.Errorf("%d packs are open after Close", store.Now)
	}
	m := w.packs[1]
	if got, err := io.ReadAll(io.LimitReader(l.Reader(ctx, []blob.Extent{{Size: 512, CopyOf: &blob.Copy{Pack: m.Pack}}}), 512)); len(got) != 512 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if store.Now != 0 {
		t.Error("a closed library keeps a pack open")
	}
}
