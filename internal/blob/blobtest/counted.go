package blobtest

import (
	"context"

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
