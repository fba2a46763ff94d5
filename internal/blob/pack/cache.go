package pack

import (
	"container/list"
	"context"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
)

// Cache is an LRU cache of inflated members, limited in bytes. It is safe for concurrent use, and
// a nil Cache caches nothing.
type Cache struct {
	mu        sync.Mutex
	limit     int64
	size      int64
	order     list.List // of *cached, the most recently used first
	items     map[cacheKey]*list.Element
	inflating map[cacheKey]chan struct{} // members that are being inflated; closed when that is done
}

type cacheKey struct {
	pack   string
	offset int64
}

type cacheEntry struct {
	key  cacheKey
	data []byte
}

// NewCache returns a cache of up to limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, items: map[cacheKey]*list.Element{}, inflating: map[cacheKey]chan struct{}{}}
}

// Size returns how many bytes the cache holds.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// member returns a member from the cache, or calls inflate and caches its result. If several goroutines ask for the same
// member, one inflates it and the others wait.
func (c *Cache) member(ctx context.Context, pack string, m blob.Member, inflate func() ([]byte, error)) ([]byte, error) {
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
			if err == nil {
				c.put(key, data)
			}
			c.mu.Lock()
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
func (c *Cache) take(key cacheKey, m blob.Member) (data []byte, done chan struct{}, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data := c.find(key, m); data != nil {
		return data, nil, false
	}
	if done, ok := c.inflating[key]; ok {
		return nil, done, false
	}
	done = make(chan struct{})
	c.inflating[key] = done
	return nil, done, true
}

func (c *Cache) find(key cacheKey, m blob.Member) []byte {
	item, ok := c.items[key]
	if !ok {
		return nil
	}
	data := item.Value.(*cacheEntry).data
	if int64(len(data)) != m.RawSize {
		return nil // from another member table; reading will report what is wrong
	}
	c.order.MoveToFront(item)
	return data
}

func (c *Cache) put(key cacheKey, data []byte) {
	if int64(len(data)) > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; ok {
		return // from another member table
	}
	c.items[key] = c.order.PushFront(&cacheEntry{key, data})
	c.size += int64(len(data))
	for c.size > c.limit {
		last := c.order.Back()
		old := c.order.Remove(last).(*cacheEntry)
		delete(c.items, old.key)
		c.size -= int64(len(old.data))
	}
}
