package ingest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/layer"
)

// TestLoad has several workers send rows to a writer: the rows in flight never exceed the budget, except for a single delivery that is larger,
// and all arrive.
func TestLoad(t *testing.T) {
	l, sent := newRowBudget(), make(chan delivery, 100)
	var onTheWay atomic.Int64
	var readers sync.WaitGroup
	for seed := range uint64(4) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 500 {
				d := rowsOf(r.IntN(maxRowBytes * 5 / 4))
				if err := l.acquire(t.Context(), &d); err != nil {
					t.Error(err)
				}
				n := int64(rowMemory(d.pieces))
				if all := onTheWay.Add(n); all > maxRowBytes && all != n {
					t.Errorf("%d bytes are on their way", all)
				}
				sent <- d
			}
		})
	}
	go func() { readers.Wait(); close(sent) }()
	taken := 0
	for d := range sent {
		onTheWay.Add(-int64(rowMemory(d.pieces)))
		l.release(d.budget)
		taken++
	}
	if taken != 2000 || !l.sem.TryAcquire(maxRowBytes) {
		t.Errorf("%d of 2000 came through, or not all room is free", taken)
	}
}

func rowsOf(n int) delivery {
	return delivery{pieces: []*piece{{rows: &index.Parsed{Held: n}}}}
}

// TestLoadEnds expects no worker to wait for the budget after the scan was cancelled.
func TestLoadEnds(t *testing.T) {
	l := newRowBudget()
	all, more := rowsOf(maxRowBytes), rowsOf(1)
	if err := l.acquire(t.Context(), &all); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := l.acquire(ctx, &more); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("there was room: %v", err)
	}
}

// TestDenseExtents expects extents to become smaller after rows that take much memory, and large again after others.
func TestDenseExtents(t *testing.T) {
	vw := &versionWriter{}
	const extentSize = pack.ExtentSize
	for _, c := range []struct {
		size int64
		rows int
		want int64
	}{{extentSize, 0, extentSize}, {extentSize, extentRowBytes, extentSize}, {extentSize, 4 * extentRowBytes, extentSize / 4},
		{extentSize / 4, extentRowBytes, extentSize / 4}, {extentSize / 4, extentRowBytes / 8, extentSize}, {extentSize / 4, math.MaxInt32, minExtentLen}} {
		if vw.adaptExtentLen(c.size, c.rows); vw.extentLen != c.want {
			t.Errorf("after %d bytes with %d of rows: %d, want %d", c.size, c.rows, vw.extentLen, c.want)
		}
	}
}

// TestWholes expects a document larger than the budget to wait until it is alone, small ones never to wait, and the rest to share the budget.
func TestWholes(t *testing.T) {
	w := newDocumentBudget()
	release, err := w.acquire(t.Context(), 10*maxDocumentBytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.acquire(t.Context(), maxDocumentBytes/16-1); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := w.acquire(ctx, maxDocumentBytes/16); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second one was let in: %v", err)
	}
	release()
	for range 16 {
		if _, err := w.acquire(t.Context(), maxDocumentBytes/16); err != nil {
			t.Error(err)
		}
	}
	in := inputOf(&blob.Version{Size: format.DocumentLimit + 1}, "", iotest.ErrReader(errors.New("it was begun")))
	if _, err := format.ReadAll(in.Reader, format.DocumentLimit); !errors.Is(err, layer.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}
