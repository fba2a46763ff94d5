// Package lru holds the values that were used most recently.
package lru

import "container/list"

// Map holds values up to a total size, and drops those that were not used for longest. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	limit int64
	size  int64
	order list.List // of entry[K, V], the most recently used first
	items map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// New returns a map of values of up to limit in all, in the unit in which Put is told their sizes.
func New[K comparable, V any](limit int64) *Map[K, V] {
	return &Map[K, V]{limit: limit, items: map[K]*list.Element{}}
}

// Get returns the value of a key, and whether there is one. It counts as a use.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	item, ok := m.items[key]
	if !ok {
		return value, false
	}
	m.order.MoveToFront(item)
	return item.Value.(entry[K, V]).value, true
}

// Put sets the value of a key, and returns the values that are no longer held: the one that it replaces and those that are
// above the limit, of which value may be one.
func (m *Map[K, V]) Put(key K, value V, size int64) (dropped []V) {
	if item, ok := m.items[key]; ok {
		dropped = append(dropped, m.remove(item))
	}
	if size > m.limit {
		return append(dropped, value) // without dropping all others first
	}
	m.items[key] = m.order.PushFront(entry[K, V]{key, value, size})
	m.size += size
	for m.size > m.limit {
		dropped = append(dropped, m.remove(m.order.Back()))
	}
	return dropped
}

// Clear empties the map, and returns the values that it held.
func (m *Map[K, V]) Clear() (dropped []V) {
	for m.order.Len() > 0 {
		dropped = append(dropped, m.remove(m.order.Back()))
	}
	return dropped
}

// Size returns the total size of the values.
func (m *Map[K, V]) Size() int64 { return m.size }

func (m *Map[K, V]) remove(item *list.Element) V {
	old := m.order.Remove(item).(entry[K, V])
	delete(m.items, old.key)
	m.size -= old.size
	return old.value
}
