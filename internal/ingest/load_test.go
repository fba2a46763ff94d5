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
)

// TestLoad has several readers send rows, and a writer take them in: never more is on its way than may be, but for what is more by itself,
// and all come through.
func TestLoad(t *testing.T) {
	l, sent := newLoad(), make(chan delivery, 100)
	var onTheWay atomic.Int64
	var readers sync.WaitGroup
	for seed := range uint64(4) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 500 {
				d := rowsOf(r.IntN(loadBytes * 5 / 4))
				if err := l.take(t.Context(), &d); err != nil {
					t.Error(err)
				}
				n := int64(held(d.pieces))
				if all := onTheWay.Add(n); all > loadBytes && all != n {
					t.Errorf("%d bytes are on their way", all)
				}
				sent <- d
			}
		})
	}
	go func() { readers.Wait(); close(sent) }()
	taken := 0
	for d := range sent {
		onTheWay.Add(-int64(held(d.pieces)))
		l.give(d.room)
		taken++
	}
	if taken != 2000 || !l.room.TryAcquire(loadBytes) {
		t.Errorf("%d of 2000 came through, or not all room is free", taken)
	}
}

func rowsOf(n int) delivery {
	return delivery{pieces: []*piece{{rows: &index.Parsed{Held: n}}}}
}

// TestLoadEnds wants nobody to wait for room in a scan that has ended.
func TestLoadEnds(t *testing.T) {
	l := newLoad()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	all, more := rowsOf(loadBytes), rowsOf(1)
	if err := l.take(ctx, &all); err != nil {
		t.Error(err)
	}
	if err := l.take(ctx, &more); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("there was room: %v", err)
	}
}

// TestDenseExtents wants extents to become smaller where rows take much memory, and large again where they do not.
func TestDenseExtents(t *testing.T) {
	st := &stored{}
	const extentSize = pack.ExtentSize
	for _, c := range []struct {
		size int64
		rows int
		want int64
	}{{extentSize, 0, extentSize}, {extentSize, extentRows, extentSize}, {extentSize, 4 * extentRows, extentSize / 4},
		{extentSize / 4, extentRows, extentSize / 4}, {extentSize / 4, extentRows / 8, extentSize}, {extentSize / 4, math.MaxInt32, extentLeast}} {
		if st.resize(c.size, c.rows); st.extentLen != c.want {
			t.Errorf("after %d bytes with %d of rows: %d, want %d", c.size, c.rows, st.extentLen, c.want)
		}
	}
}

// TestWholes wants a large original to be read while there is no other, small ones at any time, and one that is too large not at all.
func TestWholes(t *testing.T) {
	w := newWholes()
	release, err := w.hold(t.Context(), 10*wholeBytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.hold(t.Context(), wholeBytes/16-1); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := w.hold(ctx, wholeBytes/16); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second one was let in: %v", err)
	}
	release()
	for range 16 {
		if _, err := w.hold(t.Context(), wholeBytes/16); err != nil {
			t.Error(err)
		}
	}
	in := inputOf(&blob.Version{Size: format.DocumentLimit + 1}, "", iotest.ErrReader(errors.New("it was begun")))
	if _, err := format.ReadAll(in.Reader, format.DocumentLimit); !errors.Is(err, format.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}
