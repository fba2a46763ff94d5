package ingest

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestLoad has several readers send rows, and a writer take them in: never more is on its way than may be, but for what is more by itself,
// and all come through.
func TestLoad(t *testing.T) {
	l, sent := newLoad(), make(chan int, 100)
	var readers sync.WaitGroup
	for seed := range uint64(4) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 500 {
				n := r.IntN(loadBytes * 5 / 4)
				if !l.take(t.Context(), n) {
					t.Error("the context was good")
				}
				sent <- n
			}
		})
	}
	go func() { readers.Wait(); close(sent) }()
	taken := 0
	for n := range sent {
		l.mu.Lock()
		if l.held > loadBytes && l.held != n {
			t.Errorf("%d bytes are on their way", l.held)
		}
		l.mu.Unlock()
		l.give(n)
		taken++
	}
	if taken != 2000 || l.held != 0 {
		t.Errorf("%d of 2000 came through, %d bytes are left", taken, l.held)
	}
}

// TestLoadEnds wants nobody to wait for room in a scan that has ended.
func TestLoadEnds(t *testing.T) {
	l := newLoad()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if !l.take(ctx, loadBytes) || l.take(ctx, 1) {
		t.Error("there was room")
	}
}

// TestDenseExtents wants extents to become smaller where rows take much memory, and large again where they do not.
func TestDenseExtents(t *testing.T) {
	st := &stored{}
	for _, c := range []struct {
		size int64
		rows int
		want int64
	}{{extentSize, 0, extentSize}, {extentSize, extentRows, extentSize}, {extentSize, 4 * extentRows, extentSize / 4},
		{extentSize / 4, extentRows, extentSize / 4}, {extentSize / 4, extentRows / 8, extentSize}, {extentSize / 4, 1 << 40, extentLeast}} {
		if st.resize(c.size, c.rows); st.extentLen != c.want {
			t.Errorf("after %d bytes with %d of rows: %d, want %d", c.size, c.rows, st.extentLen, c.want)
		}
	}
}
