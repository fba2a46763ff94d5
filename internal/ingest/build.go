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

// build begins an index beside the present one, which is empty but for facts, for so many bytes. It need not be able to survive a crash
// before all is in: the packs are durable, and whoever writes next adopts them. What earlier scans remember of files that they left alone
// is not taken over: those are looked at again.
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
	if !errors.Is(err, errFewer) {
		return err
	}
	_, err = g.Price(ctx) // by the facts of the present index
	return err
}

// errFewer says that an index has facts of which the packs do not tell any more.
var errFewer = errors.New("packs of facts are damaged or missing")

// adoptFacts takes in what packs say beside originals: errFewer if that is less than what the index before knows.
func (g *Ingester) adoptFacts(ctx context.Context, before Index) error {
	_, err := g.Adopt(ctx)
	if errors.Is(err, blob.ErrCorrupt) && ctx.Err() == nil {
		return errFewer
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
			return errFewer
		}
	}
	return nil
}

// endBuilding puts the index that was built in the place of the present one, also when the load was interrupted or had to end: what
// is in is in. An index that could not be written itself is dropped: the packs are there, and the next ingest adopts them.
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
	if failed != nil && errors.Is(err, index.ErrTorn) {
		return nil
	}
	return err
}
