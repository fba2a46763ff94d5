package pack

import (
	"container/list"
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
	return &Cache{limit: limit, items: map[cacheKey]*list.Element{}}
}

// Size is how many bytes the cache holds.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

func (c *Cache) get(pack string, m blob.Member) []byte {
	if c == nil || pack == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	item, ok := c.items[cacheKey{pack, m.Offset}]
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

func (c *Cache) put(pack string, m blob.Member, data []byte) {
	if c == nil || pack == "" || int64(len(data)) > c.limit {
		return
	}
	key := cacheKey{pack, m.Offset}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; ok {
		return // two readers met the same miss
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
