package pack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

func TestViewRanges(t *testing.T) {
	ctx := context.Background()
	_, m, data := smallWorld(t)
	v := &View{Name: m.Pack, Pack: blobtest.Bytes(data), Members: m.Members}
	last := m.Members[len(m.Members)-1]
	whole, err := v.ReadRange(ctx, 0, last.Raw+last.RawSize)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(v.Reader(ctx, 0, int64(len(whole))), whole); err != nil {
		t.Error(err)
	}
	part := &View{Pack: v.Pack, Members: m.Members[1:3]}
	from, to := m.Members[1].Raw, m.Members[2].Raw+m.Members[2].RawSize
	if got, err := part.ReadRange(ctx, from, to-from); err != nil || !bytes.Equal(got, whole[from:to]) {
		t.Errorf("by the members that cover it: %v", err)
	}
	for _, bad := range [][2]int64{
		{-1, 1}, {0, -1}, {0, int64(len(whole)) + 1}, {int64(len(whole)), 1}, {1 << 62, 1 << 62}, {1 << 62, 1},
	} {
		if _, err := v.ReadRange(ctx, bad[0], bad[1]); !errors.Is(err, blob.ErrCorrupt) {
			t.Errorf("range %v: %v", bad, err)
		}
	}
	if _, err := part.ReadRange(ctx, from-1, 2); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("members that do not cover: %v", err)
	}
	if got, err := v.ReadRange(ctx, 5, 0); err != nil || len(got) != 0 {
		t.Errorf("an empty range: %v, %v", got, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := v.ReadRange(cancelled, 0, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestWrongTable reads with a member table that does not match the pack.
func TestWrongTable(t *testing.T) {
	_, m, data := smallWorld(t)
	for i, change := range []func(*blob.Member){
		func(m *blob.Member) { m.Offset++ },
		func(m *blob.Member) { m.Offset = -1 },
		func(m *blob.Member) { m.Offset = 1 << 62 },
		func(m *blob.Member) { m.Size-- },
		func(m *blob.Member) { m.Size = 1 << 62 },
		func(m *blob.Member) { m.Size = -1 },
		func(m *blob.Member) { m.RawSize++ },
		func(m *blob.Member) { m.RawSize = 1 << 50 },
	} {
		table := append([]blob.Member{}, m.Members...)
		change(&table[len(table)-1])
		last := table[len(table)-1]
		if _, err := (&View{Pack: blobtest.Bytes(data), Members: table}).ReadRange(context.Background(), last.Raw, 1); !errors.Is(err, blob.ErrCorrupt) {
			t.Errorf("table %d: %v", i, err)
		}
	}
}

// brokenPack fails to read, which is not corruption.
type brokenPack struct{ blob.Pack }

func (brokenPack) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

func TestReadErrorsAreNotCorruption(t *testing.T) {
	ctx := context.Background()
	_, m, data := smallWorld(t)
	p := brokenPack{blobtest.Bytes(data)}
	_, err := (&View{Pack: p, Members: m.Members}).ReadRange(ctx, 0, 10)
	_, err2 := Open(ctx, p, "")
	_, err3 := Salvage(ctx, "", p)
	for _, err := range []error{err, err2, err3, Verify(ctx, m.Pack, p, func(d Damage) { t.Error(d) })} {
		if !errors.Is(err, errBroken) || errors.Is(err, blob.ErrCorrupt) {
			t.Errorf("got %v", err)
		}
	}
}

func TestConcurrentReads(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 9)
	m := w.fill(40)
	p, err := w.store.Open(ctx, m.Pack)
	w.check(err)
	v := &View{Name: m.Pack, Pack: p, Members: m.Members, cache: newCache(40 << 10)}
	last := m.Members[len(m.Members)-1]
	whole, err := io.ReadAll(v.Reader(ctx, 0, last.Raw+last.RawSize))
	w.check(err)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				raw := int64((i*7919 + g*104729) % (len(whole) - 100))
				got, err := v.ReadRange(ctx, raw, 100)
				if err != nil || !bytes.Equal(got, whole[raw:raw+100]) {
					t.Errorf("100 bytes at %d: %v", raw, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestCacheShares asks for one member from several goroutines at once: it is inflated once, and again only if that failed.
func TestCacheShares(t *testing.T) {
	c := newCache(100)
	m := blob.Member{Offset: 7, RawSize: 3}
	var calls atomic.Int32
	started, wrong := make(chan struct{}), errors.New("unreadable")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			data, err := c.member(t.Context(), "p", m, func() ([]byte, error) {
				if calls.Add(1) == 1 {
					<-started
					return nil, wrong
				}
				return []byte("abc"), nil
			})
			if err != nil && err != wrong || err == nil && string(data) != "abc" {
				t.Errorf("%d: %q, %v", i, data, err)
			}
		})
	}
	close(started)
	group.Wait()
	if n := calls.Load(); n != 2 {
		t.Errorf("inflated %d times", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c.inflating[cacheKey{"p", 9}] = make(chan struct{})
	if _, err := c.member(ended, "p", blob.Member{Offset: 9, RawSize: 3}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("waits on: %v", err)
	}
}
