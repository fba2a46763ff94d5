package pack

import (
	"container/list"
	"context"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
)

// Cache keeps the inflated members that were used last, up to a number of bytes. It is safe for concurrent use, and
// a nil Cache keeps nothing.
type Cache struct {
	mu    sync.Mutex
	limit int64
	size  int64
	order list.List // of *cached, the last used first
	items map[cacheKey]*list.Element
	made  map[cacheKey]chan struct{} // members that somebody inflates; closed when that is done
}

type cacheKey struct {
	pack   string
	offset int64
}

type cached struct {
	key  cacheKey
	data []byte
}

// NewCache returns a cache of up to limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, items: map[cacheKey]*list.Element{}, made: map[cacheKey]chan struct{}{}}
}

// Size is how many bytes the cache holds.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// member returns a member from the cache, else what inflate gives. Of several that ask at once one inflates it and the others
// wait.
func (c *Cache) member(ctx context.Context, pack string, m blob.Member, inflate func() ([]byte, error)) ([]byte, error) {
	if c == nil || pack == "" {
		return inflate()
	}
	key := cacheKey{pack, m.Offset}
	for {
		data, made, mine := c.take(key, m)
		switch {
		case data != nil:
			return data, nil
		case mine:
			data, err := inflate()
			if err == nil {
				c.put(key, data)
			}
			c.mu.Lock()
			delete(c.made, key)
			c.mu.Unlock()
			close(made)
			return data, err
		}
		select {
		case <-made:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns a member, or when it is made: mine says by the caller.
func (c *Cache) take(key cacheKey, m blob.Member) (data []byte, made chan struct{}, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data := c.find(key, m); data != nil {
		return data, nil, false
	}
	if made, ok := c.made[key]; ok {
		return nil, made, false
	}
	made = make(chan struct{})
	c.made[key] = made
	return nil, made, true
}

func (c *Cache) find(key cacheKey, m blob.Member) []byte {
	item, ok := c.items[key]
	if !ok {
		return nil
	}
	data := item.Value.(*cached).data
	if int64(len(data)) != m.RawSize {
		return nil // another table; reading will say what is wrong
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
		return // under another table
	}
	c.items[key] = c.order.PushFront(&cached{key, data})
	c.size += int64(len(data))
	for c.size > c.limit {
		last := c.order.Back()
		old := c.order.Remove(last).(*cached)
		delete(c.items, old.key)
		c.size -= int64(len(old.data))
	}
}
