package pack

import (
	"context"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/lru"
)

// cache is an LRU cache of inflated members, limited in bytes. It is safe for concurrent use, and
// a nil cache caches nothing.
type cache struct {
	mu        sync.Mutex
	items     *lru.Map[cacheKey, []byte]
	inflating map[cacheKey]chan struct{} // members that are being inflated; closed when that is done
}

type cacheKey struct {
	pack   string
	offset int64
}

// newCache returns a cache of up to limit bytes.
func newCache(limit int64) *cache {
	return &cache{items: lru.New[cacheKey, []byte](limit), inflating: map[cacheKey]chan struct{}{}}
}

// member returns a member from the cache, or calls inflate and caches its result. If several goroutines ask for the same
// member, one inflates it and the others wait.
func (c *cache) member(ctx context.Context, pack string, m blob.Member, inflate func() ([]byte, error)) ([]byte, error) {
	if c == nil || pack == "" {
		return inflate()
	}
	key := cacheKey{pack, m.Offset}
	for {
		data, done, mine := c.take(key, m)
		switch {
		case data != nil:
			return data, nil
		case mine:
			data, err := inflate()
			c.mu.Lock()
			if err == nil {
				c.items.Put(key, data, int64(len(data)))
			}
			delete(c.inflating, key)
			c.mu.Unlock()
			close(done)
			return data, err
		}
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns a cached member, or a channel that is closed when the member has been inflated: by the caller if mine is
// set, else by another goroutine.
func (c *cache) take(key cacheKey, m blob.Member) (data []byte, done chan struct{}, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data, ok := c.items.Get(key); ok && int64(len(data)) == m.RawSize { // else from another member table; reading will report what is wrong
		return data, nil, false
	}
	if done, ok := c.inflating[key]; ok {
		return nil, done, false
	}
	done = make(chan struct{})
	c.inflating[key] = done
	return nil, done, true
}
