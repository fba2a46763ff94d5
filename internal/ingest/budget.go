package ingest

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// maxRowBytes is the memory that rows and their terms may take between parsing and commit. A batch that holds half of it is sealed at
// once, and any other after batchMaxAge, so a worker that waits for memory always gets it.
const maxRowBytes = 2 * batchHeldBytes

// maxDocumentBytes is the total size of documents, which parsers read as a whole, that may be in memory at a time. A larger one is
// read while there is no other.
const maxDocumentBytes = 64 << 20

// documentBudget bounds the memory of originals that are read as a whole.
type documentBudget struct{ sem *semaphore.Weighted }

func newDocumentBudget() documentBudget {
	return documentBudget{semaphore.NewWeighted(maxDocumentBytes)}
}

// acquire waits until an original of size bytes fits into the budget, and returns the function that releases it. Small originals are not
// counted.
func (b documentBudget) acquire(ctx context.Context, size int64) (release func(), err error) {
	if size < maxDocumentBytes/16 {
		return func() {}, nil
	}
	n := min(size, maxDocumentBytes)
	return func() { b.sem.Release(n) }, b.sem.Acquire(ctx, n)
}

// rowBudget bounds the memory of rows between parsing and commit.
type rowBudget struct{ sem *semaphore.Weighted }

func newRowBudget() rowBudget { return rowBudget{semaphore.NewWeighted(maxRowBytes)} }

// acquire waits until the rows of a delivery fit into the budget. A delivery larger than the budget takes all of it, and so goes alone.
func (b rowBudget) acquire(ctx context.Context, d *delivery) error {
	n := min(int64(rowMemory(d.pieces)), maxRowBytes)
	if err := b.sem.Acquire(ctx, n); err != nil {
		return err
	}
	d.budget = n
	return nil
}

// release returns the budget of deliveries whose rows are in the index.
func (b rowBudget) release(n int64) { b.sem.Release(n) }

// rowMemory returns the memory of the rows of pieces that bring content. Copies are not counted: they wait for content that is in flight, which
// therefore must not wait for them.
func rowMemory(pieces []*piece) (n int) {
	for _, p := range pieces {
		if p.rows != nil && !p.copy {
			n += p.rows.Held
		}
	}
	return n
}
