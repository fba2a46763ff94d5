package ingest

import (
	"context"
	"errors"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// Building is an index that is filled beside the present one.
type Building struct {
	Index   Index
	Publish func() (Index, error) // makes it the present one
	Abort   func()                // drops it

	before Index
}

// BuildFrom is how much a first load must bring, in bytes, for an index of its own to be worth the making: 30 ms.
const BuildFrom = 16 << 20

// build begins an index beside the present one, which is empty, for so many bytes. It need not be able to survive a crash before
// all is in: the packs are durable, and whoever writes next adopts them.
func (g *Ingester) build(ctx context.Context, size int64) error {
	if g.Build == nil || g.building != nil || size < g.BuildFrom {
		return nil
	}
	b, err := g.Build(ctx)
	if err != nil {
		return err
	}
	b.before = g.Index
	g.building, g.Index = b, b.Index
	if _, err := g.Adopt(ctx); !errors.Is(err, blob.ErrCorrupt) { // packs of facts; of one that is damaged the report tells already
		return err
	}
	return nil
}

// endBuilding puts the index that was built in the place of the present one, also when the load was interrupted or had to end: what
// is in is in. An index that could not be written itself is dropped.
func (g *Ingester) endBuilding(failed error) error {
	b := g.building
	if b == nil {
		return nil
	}
	g.building, g.Index = nil, b.before
	for _, unwritten := range []error{index.ErrFull, index.ErrDisk, index.ErrDamaged} {
		if errors.Is(failed, unwritten) {
			b.Abort()
			return nil
		}
	}
	built, err := b.Publish()
	if err == nil {
		g.Index = built
	}
	return err
}
