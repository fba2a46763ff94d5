package ingest

import (
	"context"
	"errors"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// Building is an index that is filled beside the present one, for a first load.
type Building struct {
	Index   Index
	Publish func() (Index, error) // puts it in the place of the present one
	Abort   func()                // drops it

	before Index
}

// BuildFrom is the size, in bytes, from which a first load is worth the 30 ms that a separate index costs.
const BuildFrom = 16 << 20

// build creates an index beside the present one, which has nothing but facts, if a load of size bytes is worth it. The new index need not
// survive a crash before the load is complete: the packs are durable, and the next writer adopts them. The metadata of ignored
// files is not carried over: they are looked at again.
func (g *Ingester) build(ctx context.Context, size int64) error {
	if g.Build == nil || g.building != nil || size < g.BuildFrom {
		return nil
	}
	b, err := g.Build(ctx)
	if err != nil {
		return err
	}
	b.before, g.Index = g.Index, b.Index
	if err = g.adoptFacts(ctx, b.before); err == nil {
		g.building = b
		return nil
	}
	g.Index = b.before
	b.Abort()
	if !errors.Is(err, errFactsMissing) {
		return err
	}
	_, err = g.Price(ctx) // restores g.book from the facts of the present index
	return err
}

// errFactsMissing is returned when the index has packs of facts that the store no longer has intact.
var errFactsMissing = errors.New("packs of facts are damaged or missing")

// adoptFacts adopts the packs, which hold facts only. It returns errFactsMissing if the index before knows more packs than can be read.
func (g *Ingester) adoptFacts(ctx context.Context, before index.PackLister) error {
	_, err := g.Adopt(ctx)
	if errors.Is(err, blob.ErrCorrupt) && ctx.Err() == nil {
		return errFactsMissing
	}
	if err != nil {
		return err
	}
	adopted := map[string]bool{}
	for name, err := range g.Index.Packs(ctx) {
		if err != nil {
			return err
		}
		adopted[name] = true
	}
	for name, err := range before.Packs(ctx) {
		if err != nil {
			return err
		}
		if !adopted[name] {
			return errFactsMissing
		}
	}
	return nil
}

// endBuilding publishes the index that was built, also if the load was interrupted or failed: what was committed is kept. If the
// index itself could not be written it is dropped: the packs are there, and the next ingest adopts them.
func (g *Ingester) endBuilding(failed error) error {
	b := g.building
	if b == nil {
		return nil
	}
	g.building, g.Index = nil, b.before
	for _, cause := range []error{index.ErrFull, index.ErrDisk, index.ErrDamaged} {
		if errors.Is(failed, cause) {
			b.Abort()
			return nil
		}
	}
	built, err := b.Publish()
	if err == nil {
		g.Index = built
	}
	if failed != nil && errors.Is(err, index.ErrTorn) {
		return nil
	}
	return err
}
