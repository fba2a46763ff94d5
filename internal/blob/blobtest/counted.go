package blobtest

import (
	"context"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/blob"
)

// Counted is a Store for one goroutine that counts its open packs: Now is the current number, Most the highest.
type Counted struct {
	blob.Store
	Now, Most int
}

// Open implements blob.Store.
func (c *Counted) Open(ctx context.Context, name string) (blob.Pack, error) {
	p, err := c.Store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	c.Now++
	c.Most = max(c.Most, c.Now)
	return &countedPack{p, c}, nil
}

type countedPack struct {
	blob.Pack
	in *Counted
}

func (p *countedPack) Close() error {
	p.in.Now--
	return p.Pack.Close()
}

// ReadCounter is a Store that counts the bytes that are read of its packs.
type ReadCounter struct {
	blob.Store
	Bytes atomic.Int64
}

// Open implements blob.Store.
func (c *ReadCounter) Open(ctx context.Context, name string) (blob.Pack, error) {
	p, err := c.Store.Open(ctx, name)
	return &readPack{p, c}, err
}

type readPack struct {
	blob.Pack
	in *ReadCounter
}

func (p *readPack) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.Pack.ReadAt(b, off)
	p.in.Bytes.Add(int64(n))
	return n, err
}
