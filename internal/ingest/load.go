package ingest

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// loadBytes is how much memory rows may take, with their words, from when they are made until they are in the index. A batch that has
// half of it is sealed at once, and one that has less after a while, so whoever waits for room gets it.
const loadBytes = 2 * batchHeld

// wholeBytes is how much of originals that are read as a whole may be in memory at a time. A larger one is read while there is no other.
const wholeBytes = 64 << 20

// wholes are the originals that are being read as a whole.
type wholes struct{ room *semaphore.Weighted }

func newWholes() wholes { return wholes{semaphore.NewWeighted(wholeBytes)} }

// hold waits until there is room for an original of so many bytes, and returns what makes room again. Small ones do not count.
func (w wholes) hold(ctx context.Context, size int64) (release func(), err error) {
	if size < wholeBytes/16 {
		return func() {}, nil
	}
	n := min(size, wholeBytes)
	return func() { w.room.Release(n) }, w.room.Acquire(ctx, n)
}

// load is the rows that are on their way.
type load struct{ room *semaphore.Weighted }

func newLoad() load { return load{semaphore.NewWeighted(loadBytes)} }

// take waits until there is room for a delivery. One that is more than there ever is takes all of it: it goes alone.
func (l load) take(ctx context.Context, d *delivery) error {
	n := min(int64(held(d.pieces)), loadBytes)
	if err := l.room.Acquire(ctx, n); err != nil {
		return err
	}
	d.room = n
	return nil
}

// give says that the rows of deliveries that took so much room are in the index.
func (l load) give(room int64) { l.room.Release(room) }

// held is what pieces with content of their own take. Copies wait for content that is still on its way, so that waits for none of them.
func held(pieces []*piece) (n int) {
	for _, p := range pieces {
		if p.rows != nil && !p.copy {
			n += p.rows.Held
		}
	}
	return n
}
