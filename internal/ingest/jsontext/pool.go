package jsontext

import (
	"sync"

	"github.com/txarchive/txarchive/internal/poison"
)

// Build returns what fill appends to a pooled buffer, as a string.
func Build(fill func([]byte) []byte) string {
	b := scratchPool.Get().(*[]byte)
	*b = fill((*b)[:0])
	s := string(*b)
	poison.Bytes((*b)[:cap(*b)])
	if cap(*b) <= maxPooled {
		scratchPool.Put(b)
	}
	return s
}

// maxPooled is the largest buffer, in bytes, that goes back to a pool.
const maxPooled = 1 << 20

var scratchPool = sync.Pool{New: func() any { return new([]byte) }}

// size returns the memory of a document's buffers, in bytes.
func (d *document) size() int {
	size := 12*(cap(d.nodes)+cap(d.strings)) + cap(d.innerBytes) + cap(d.decoded)
	for _, inner := range d.inner {
		size += inner.size()
	}
	return size
}

// documentPool has documents for reuse; those that a long line has made large are dropped.
var documentPool = sync.Pool{New: func() any { return new(document) }}

func (d *document) release() {
	if d.bytes = nil; d.size() <= maxPooled {
		documentPool.Put(d)
	}
}

// bufferPool has buffers for reuse; those that a long line has made large are dropped.
var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// poisonDocument makes a document unusable whose values are no longer valid, and returns the one to use from here on.
func poisonDocument(d *document) *document {
	if !poison.On {
		return d
	}
	clear(d.nodes)
	d.bytes = []byte{0xa5}
	return new(document)
}
