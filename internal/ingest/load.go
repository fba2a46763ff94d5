package ingest

import (
	"context"
	"sync"
)

// loadBytes is how much memory rows may take from when they are made until they are in the index. A batch that has half of it is
// sealed at once, and one that has less after a while, so whoever waits for room gets it.
const loadBytes = 2 * batchHeld

// load is the rows that are on their way, with their words.
type load struct {
	mu   sync.Mutex
	room *sync.Cond // for less
	held int
}

func newLoad() *load {
	l := &load{}
	l.room = sync.NewCond(&l.mu)
	return l
}

// take waits until there is room for rows of so many bytes, or nothing else on its way. It says whether the context was still good.
func (l *load) take(ctx context.Context, bytes int) bool {
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.room.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held > 0 && l.held+bytes > loadBytes && ctx.Err() == nil {
		l.room.Wait()
	}
	l.held += bytes
	return ctx.Err() == nil
}

// give says that rows are in the index.
func (l *load) give(bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= bytes
	l.room.Broadcast()
}

// held is what pieces with content of their own take. Copies wait for content that is still on its way, so that waits for none of them.
func held(pieces []*piece) (n int) {
	for _, p := range pieces {
		if p.rows != nil && !p.copy {
			n += p.rows.Held
		}
	}
	return n
}
